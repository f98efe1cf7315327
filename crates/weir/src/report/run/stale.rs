//! What a run under C11 shows: which steps synchronize, which read may return something old and why, and which accesses
//! race.

use weir_check::Witness;
use weir_model::answer::Run;
use weir_model::ids::{ProcessId, QuestionId, VarId};
use weir_model::program::Order;
use weir_model::semantics::{Rule, Step};
use weir_model::system::{Op, System, Transition};

use super::words;
use crate::load::Loaded;
use crate::report::table;

/// How many pairs of steps that synchronize are named after the first.
const MOST_PAIRS: usize = 8;

/// The sentences, each of which may take several lines.
pub fn lines(loaded: &Loaded, run: &Run, width: usize) -> Vec<String> {
    let system = &loaded.system;
    let mut writes: Vec<Vec<Option<usize>>> = vec![vec![None]; system.vars.len()];
    // Any question will do: only the steps matter.
    let witness = Witness::new(system, run, QuestionId(0), &|_| 0);
    let races = weir_check::race(system, &witness);
    let mut sentences = Vec::new();
    for (number, step) in (1..).zip(&run.steps) {
        let Some(taken) = step.transition.map(|t| system.transition(step.process, t)) else {
            continue;
        };
        match taken.op {
            Op::Nop | Op::Fence(_) => {}
            Op::Read(x, _) => {
                let all = &writes[x.index()];
                let at = all.len() - 1 - step.way as usize;
                let next = all.get(at + 1).copied().flatten();
                let is_race = races.is_some_and(|(_, second)| second == number);
                if step.rule == Rule::ReadOlder
                    && !is_race
                    && let Some(next) = next
                {
                    sentences.push(stale(loaded, run, (number, x), next));
                }
            }
            Op::Write(x, _) => {
                let at = writes[x.index()].len() - step.way as usize;
                writes[x.index()].insert(at, Some(number));
            }
            Op::Arw(x, ..) => {
                let at = writes[x.index()].len() - step.way as usize;
                writes[x.index()].insert(at, Some(number));
            }
        }
    }
    let is_shown = |number: &usize| !words::is_bookkeeping(system, &run.steps[number - 1]);
    let mut pairs = weir_check::synchronizations(system, &witness);
    pairs.retain(|(first, second)| is_shown(first) && is_shown(second));
    if let Some((first, second)) = pairs.first() {
        let more = match pairs.len() {
            1 => String::new(),
            _ => {
                let rest = pairs[1..].iter().take(MOST_PAIRS);
                let rest: Vec<String> = rest.map(|(a, b)| format!("{a} with {b}")).collect();
                let left = pairs.len() - 1 - rest.len();
                let left = if left > 0 { format!(" and {left} more") } else { String::new() };
                format!("; {}{left}", rest.join(", "))
            }
        };
        sentences.insert(0, format!("Step {first} synchronizes with step {second}{more}."));
    }
    if let Some((first, second)) = races {
        sentences.push(race(loaded, run, first, second));
    }
    sentences.iter().flat_map(|sentence| table::wrap(sentence, width)).collect()
}

fn taken<'s>(system: &'s System, run: &Run, number: usize) -> Option<(ProcessId, &'s Transition)> {
    let Step { process, transition, .. } = run.steps.get(number - 1)?;
    transition.map(|t| (*process, system.transition(*process, t)))
}

/// `step 2 in line 7`
fn at(loaded: &Loaded, run: &Run, number: usize) -> String {
    match taken(&loaded.system, run, number) {
        Some((_, t)) => format!("step {number} in line {}", loaded.place(t.span)),
        None => format!("step {number}"),
    }
}

/// Why a read does not return a newer write.
fn stale(loaded: &Loaded, run: &Run, (read, x): (usize, VarId), write: usize) -> String {
    let system = &loaded.system;
    let name = &system.vars[x.index()].name;
    let order = |number: usize| taken(system, run, number).map(|(_, t)| t.order);
    let both = [order(write), order(read)].map(|o| o == Some(Order::SeqCst));
    let missing = match both {
        [true, true] => {
            "the order of all seq_cst operations does not put the write first".to_owned()
        }
        _ => "no release/acquire pair orders the write before the read".to_owned(),
    };
    format!(
        "{} reads an old value of {name}, although {} has written another: {missing}.",
        capital(&at(loaded, run, read)),
        at(loaded, run, write),
    )
}

fn race(loaded: &Loaded, run: &Run, first: usize, second: usize) -> String {
    let system = &loaded.system;
    let what = |number: usize| {
        let Some((_, t)) = taken(system, run, number) else { return String::new() };
        let atomic = if t.order == Order::Plain { "not atomic" } else { "atomic" };
        format!("{}, {atomic}", words::operation(system, t.op))
    };
    format!(
        "{} ({}) and {} ({}) race: no release/acquire pair orders them. What the program does is undefined.",
        capital(&at(loaded, run, first)),
        what(first),
        at(loaded, run, second),
        what(second),
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
