//! Formulas of linear temporal logic, under SC: every run of the explicit graph.
//!
//! At each moment the parts of a formula have truth values. Those of parts with temporal operators
//! are guessed one moment ahead, and a guess has to come true. So a run that does not satisfy the
//! formula is a path through configurations with guesses, from one in which the formula is false,
//! that ends in a cycle on which every `until` that is true is fulfilled, and every `always` that
//! is false is refuted.

use std::collections::HashMap;

use weir_model::program::{Atom, Ltl, Program, Runs};

use super::locals::{self, LocalId, Locals};
use super::orders::as_fences;
use super::{memories, truth as state_truth};

/// The most temporal operators.
const MAX_TEMPORAL: usize = 7;

/// The truth of a formula; for each temporal part its truth, and whether that is settled.
type Truth = (bool, Vec<(bool, bool)>);

/// A configuration of the program.
struct Config {
    /// The truth of each formula about states, from left to right.
    letter: Vec<bool>,
    /// Whether one of them has no value.
    faults: bool,
    /// Whose step, where it leads, and whether that is waiting.
    steps: Vec<(usize, usize, bool)>,
    /// Whether every process can only wait.
    ends: bool,
}

/// What is true of a formula at a moment: the values of its parts, those behind them first.
fn truth(
    formula: &Ltl,
    letter: &mut std::slice::Iter<'_, bool>,
    guess: &mut std::slice::Iter<'_, bool>,
    out: &mut Vec<(bool, bool)>,
) -> bool {
    let parts: Vec<bool> =
        formula.parts().into_iter().map(|part| truth(part, letter, guess, out)).collect();
    let mut ahead = || *guess.next().expect("a guess for each temporal operator");
    // The value; for temporal operators also whether it is fulfilled or refuted here.
    let mut temporal = |value: bool, done: bool| {
        out.push((value, done));
        value
    };
    match (formula, parts.as_slice()) {
        (Ltl::State(_), _) => *letter.next().expect("a value for each formula about states"),
        (Ltl::Not(_), [a]) => !a,
        (Ltl::And(..), [a, b]) => *a && *b,
        (Ltl::Or(..), [a, b]) => *a || *b,
        (Ltl::Implies(..), [a, b]) => !*a || *b,
        (Ltl::Iff(..), [a, b]) => a == b,
        (Ltl::Always(_), [a]) => {
            let next = ahead();
            let value = *a && next;
            temporal(value, value || !*a)
        }
        (Ltl::Eventually(_), [a]) => {
            let next = ahead();
            let value = *a || next;
            temporal(value, !value || *a)
        }
        (Ltl::Until(..), [a, b]) => {
            let next = ahead();
            let value = *b || *a && next;
            temporal(value, !value || *b)
        }
        (Ltl::Unless(..), [a, b]) => {
            let next = ahead();
            let value = *b || *a && next;
            temporal(value, value || !*a && !*b)
        }
        (Ltl::Release(..), [a, b]) => {
            let next = ahead();
            let value = *b && (*a || next);
            temporal(value, value || !*b)
        }
        _ => unreachable!("operators have these parts"),
    }
}

fn count(formula: &Ltl) -> usize {
    let own = matches!(
        formula,
        Ltl::Always(_) | Ltl::Eventually(_) | Ltl::Until(..) | Ltl::Unless(..) | Ltl::Release(..)
    );
    usize::from(own) + formula.parts().into_iter().map(count).sum::<usize>()
}

/// Whether every run that counts satisfies a formula. `None` if there are more than `limit`
/// configurations or too many operators.
pub(super) fn ltl(program: &Program, formula: &Ltl, runs: Runs, limit: usize) -> Option<bool> {
    let guesses = count(formula);
    if guesses > MAX_TEMPORAL {
        return None;
    }
    let (graph, initial) = explore(program, formula, limit)?;
    if graph.iter().any(|config| config.faults) {
        return Some(false);
    }
    let bits = |guess: usize| (0..guesses).map(|i| guess >> i & 1 == 1).collect::<Vec<bool>>();
    // For each configuration and guess: the truth of the formula and of its temporal parts.
    let all: Vec<Vec<Truth>> = graph
        .iter()
        .map(|config| {
            (0..1 << guesses)
                .map(|guess| {
                    let mut out = Vec::new();
                    let guess = bits(guess);
                    let value =
                        truth(formula, &mut config.letter.iter(), &mut guess.iter(), &mut out);
                    (value, out)
                })
                .collect()
        })
        .collect();
    // Where a run goes: who moves, if anybody, whether that is waiting, and to what.
    type Way = (Option<usize>, bool, usize);
    let mut ids: HashMap<(usize, usize), usize> = HashMap::new();
    let mut nodes: Vec<(usize, usize)> = Vec::new();
    let mut ways: Vec<Vec<Way>> = Vec::new();
    let mut add = |node: (usize, usize), nodes: &mut Vec<(usize, usize)>| {
        *ids.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() - 1
        })
    };
    for config in initial {
        for guess in (0..1 << guesses).filter(|guess| !all[config][*guess].0) {
            add((config, guess), &mut nodes);
        }
    }
    while let Some(&(config, guess)) = nodes.get(ways.len()) {
        let mut on: Vec<(Option<usize>, bool, usize)> =
            graph[config].steps.iter().map(|(p, to, waits)| (Some(*p), *waits, *to)).collect();
        if runs != Runs::Endless {
            on.extend(graph[config].ends.then_some((None, false, config)));
        }
        let mut here = Vec::new();
        for (who, waits, to) in on {
            for (next, (_, parts)) in all[to].iter().enumerate() {
                let holds = parts.iter().map(|(value, _)| *value);
                if holds.eq(bits(guess)) {
                    here.push((who, waits, add((to, next), &mut nodes)));
                }
            }
        }
        ways.push(here);
    }
    let is_violated = components(&ways).into_iter().any(|part| {
        let inside = |n: usize| ways[n].iter().filter(|(.., to)| part.contains(to));
        let config = |n: usize| &graph[nodes[n].0];
        let done = (0..guesses).all(|i| part.iter().any(|n| all[nodes[*n].0][nodes[*n].1].1[i].1));
        let moves = part.iter().any(|n| inside(*n).any(|(_, waits, _)| !waits));
        let is_fair = |p: usize| {
            part.iter().any(|n| {
                let idle = !config(*n).steps.iter().any(|(q, ..)| *q == p);
                idle || config(*n).ends || inside(*n).any(|(who, ..)| *who == Some(p))
            })
        };
        done && moves && (runs != Runs::Fair || (0..program.processes.len()).all(is_fair))
    });
    Some(!is_violated)
}

/// The configurations, and the initial ones.
fn explore(program: &Program, formula: &Ltl, limit: usize) -> Option<(Vec<Config>, Vec<usize>)> {
    let mut states = Vec::new();
    formula.states(&mut |f| states.push(f));
    let mut atoms: Vec<Atom> = Vec::new();
    states.iter().for_each(|f| f.atoms(&mut |a| atoms.push(*a)));
    let program = &as_fences(program);
    let mut locals = locals::all(program);
    let first: Vec<LocalId> = locals.iter().map(Locals::initial).collect();
    let mut all: Vec<(Vec<LocalId>, Vec<i128>)> =
        memories(program).into_iter().map(|m| (first.clone(), m)).collect();
    let initial = (0..all.len()).collect();
    let mut ids: HashMap<_, usize> = all.iter().cloned().zip(0..).collect();
    let mut graph = Vec::new();
    while let Some((at, memory)) = all.get(graph.len()).cloned() {
        if all.len() > limit {
            return None;
        }
        let values = locals::observe(&atoms, &locals, &at, &memory);
        let truths = states.iter().map(|f| state_truth(f, &atoms, &values));
        // A state in which a part of the formula has no value violates the formula.
        let letter: Option<Vec<bool>> = truths.collect();
        let faults = letter.is_none();
        let letter = letter.unwrap_or_default();
        let stuck = |(l, i): (&mut Locals<'_>, &LocalId)| l.is_stuck(*i, &memory, true);
        let ends = locals.iter_mut().zip(&at).all(stuck);
        let mut steps = Vec::new();
        for (p, local) in locals.iter_mut().enumerate() {
            for (to, after, waits) in local.steps(at[p], &memory)? {
                let mut next = (at.clone(), after);
                next.0[p] = to;
                let fresh = all.len();
                let id = *ids.entry(next.clone()).or_insert(fresh);
                if id == fresh {
                    all.push(next);
                }
                steps.push((p, id, waits));
            }
        }
        graph.push(Config { letter, faults, steps, ends });
    }
    Some((graph, initial))
}

/// The strongly connected components with a cycle, by what each node reaches and is reached from.
fn components(ways: &[Vec<(Option<usize>, bool, usize)>]) -> Vec<Vec<usize>> {
    let count = ways.len();
    let mut back = vec![vec![]; count];
    for (n, on) in ways.iter().enumerate() {
        for (.., to) in on {
            back[*to].push(n);
        }
    }
    let reach = |start: usize, next: &dyn Fn(usize) -> Vec<usize>, left: &[bool]| {
        let mut seen = vec![false; count];
        let mut work = next(start);
        while let Some(n) = work.pop() {
            if !left[n] && !std::mem::replace(&mut seen[n], true) {
                work.extend(next(n));
            }
        }
        seen
    };
    let mut left = vec![false; count];
    let mut found = Vec::new();
    for start in 0..count {
        if left[start] {
            continue;
        }
        let forward = reach(start, &|n| ways[n].iter().map(|(.., to)| *to).collect(), &left);
        let backward = reach(start, &|n| back[n].clone(), &left);
        let part: Vec<usize> = (0..count).filter(|n| forward[*n] && backward[*n]).collect();
        left[start] = true;
        for n in &part {
            left[*n] = true;
        }
        if forward[start] {
            found.push(part);
        }
    }
    found
}
