//! Vacuous answers: true only because the situation in question never arises.
//!
//! `final never …` holds of a program that never ends, and `never p@here and q@there` of
//! one in which `p` does not reach `here`. Such an answer is correct, but rarely
//! intended. This module checks whether a final state, or the label, is reachable. It
//! reports only what is proved.
//!
//! This is done after the properties are answered, in a separate search, so that no
//! answer and no count depends on it. What is reachable under SC is reachable under every
//! model, so SC is searched first: that is quick, and usually sufficient.

use weir_engine::{Engine, Explicit, SearchOptions, Stats, Task, explicit};
use weir_model::answer::{Answer, Verdict};
use weir_model::ids::SpanId;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, BinOp, Expr, Formula, PropertyKind, Quantifier};
use weir_model::question::{Kind, Question};
use weir_model::system::System;

use crate::engines::ENGINES;

/// A search for vacuous answers may always use so many bytes.
const BYTES: usize = 16 << 20;

/// How many configurations the first search may store.
const GLANCE: usize = 2000;

/// The most names that are listed.
const NAMES: usize = 4;

/// For each answer the reason why it says little, if there is one: that no final state is
/// reachable, that a label is never reached without which the property cannot be violated, or that
/// a process waits for ever for a value that no process writes. `line` says where something stands.
///
/// `task` and `stats` are those of the search that gave the answers. This one has what is
/// left of the time, and stores at most about as much as that search did.
pub fn vacuous(
    task: Task<'_>,
    answers: &[Answer],
    stats: &Stats,
    line: &dyn Fn(SpanId) -> usize,
) -> Vec<Option<String>> {
    let system = task.system;
    let waits = never_passed(system, line);
    let mut doubts: Vec<Doubt> = Vec::new();
    for answer in answers.iter().filter(|a| !a.has_run()) {
        if rests_on_final_states(system, answer) {
            doubts.push(Doubt::Ends);
        }
        if answer.verdict == Verdict::Holds {
            let labels = parts(system, answer).into_iter().flat_map(|part| labels(&part));
            doubts.extend(labels.map(Doubt::Reaches));
        }
    }
    doubts.sort_unstable();
    doubts.dedup();
    let nothing = nothing_happens(task, stats, doubts);
    answers
        .iter()
        .map(|answer| {
            if answer.has_run() {
                return None;
            }
            if rests_on_final_states(system, answer) && nothing.contains(&Doubt::Ends) {
                return Some(no_final_state(system).to_owned());
            }
            if answer.verdict != Verdict::Holds {
                return None;
            }
            let unreached: Vec<Atom> = nothing
                .iter()
                .filter_map(|doubt| match doubt {
                    Doubt::Reaches(label) => Some(*label),
                    Doubt::Ends => None,
                })
                .collect();
            let mut guilty: Vec<Atom> =
                parts(system, answer).iter().flat_map(|part| missing(part, &unreached)).collect();
            guilty.sort_unstable();
            guilty.dedup();
            let names: Vec<String> = guilty.into_iter().map(|a| system.atom_name(a)).collect();
            never_reached(&names).or_else(|| waits.clone())
        })
        .collect()
}

/// That there is no final state, in words.
pub(crate) fn no_final_state(system: &System) -> &'static str {
    match system.program.filter {
        Some(_) => "no final state that passes the filter is reachable",
        None => "no final state is reachable",
    }
}

/// Something that may never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    /// There is a final state.
    Ends,
    /// A label is reached.
    Reaches(Atom),
}

impl Doubt {
    /// The question that is settled by what is in doubt.
    fn question(self, system: &System) -> Question {
        match self {
            Self::Ends => {
                let (quantifier, formula) = (Quantifier::Exists, Expr::Const(1));
                let filter = system.program.filter.clone();
                let kind = Kind::Final { quantifier, formula, filter };
                Question { name: "ends".to_owned(), kind, span: SpanId::NONE }
            }
            Self::Reaches(label) => Question::never("reaches", Expr::Atom(label)),
        }
    }
}

/// What is proved not to happen.
fn nothing_happens(task: Task<'_>, stats: &Stats, doubts: Vec<Doubt>) -> Vec<Doubt> {
    let Task { system, options, .. } = task;
    let bytes = BYTES.max(2 * stats.bytes);
    let bytes = options.budget.store().map_or(bytes, |most| most.min(bytes));
    let budget = options.budget.clone().with_store(bytes);
    let options = SearchOptions { budget, certificate: false, form: None, ..options.clone() };
    let task = task.within(&options);
    let questions: Vec<Question> = doubts.iter().map(|d| d.question(system)).collect();
    let met = explicit::glance(system, &questions, GLANCE, &options.budget);
    let doubts: Vec<Doubt> =
        doubts.into_iter().zip(met).filter(|(_, met)| !met).map(|(doubt, _)| doubt).collect();
    let plain = SearchOptions { guesses: None, ..options.clone() };
    let under_sc = ask(&Explicit, Task { model: MemoryModel::SC, ..task }.within(&plain), &doubts);
    let is_finite = task.model.normal() == MemoryModel::SC;
    let open: Vec<_> = doubts.into_iter().zip(under_sc).filter(|(_, a)| *a != Some(true)).collect();
    let (doubts, mut answers): (Vec<_>, Vec<_>) = open.into_iter().unzip();
    if !is_finite {
        answers = ask(ENGINES[0], task, &doubts);
    }
    let answered = doubts.into_iter().zip(answers);
    answered.filter(|(_, happens)| *happens == Some(false)).map(|(doubt, _)| doubt).collect()
}

/// Asks. Each answer is whether it happens, or `None` if that is unknown.
fn ask(engine: &dyn Engine, task: Task<'_>, doubts: &[Doubt]) -> Vec<Option<bool>> {
    let system = task.system;
    if doubts.is_empty() || task.options.budget.check().is_err() {
        return vec![None; doubts.len()];
    }
    let bounds = system.bounds_question().map(|i| system.questions[i.index()].clone());
    let questions: Vec<Question> =
        doubts.iter().map(|d| d.question(system)).chain(bounds).collect();
    let Ok((answers, _)) = engine.check(Task { questions: &questions, ..task }, &mut |_| {}) else {
        return vec![None; doubts.len()];
    };
    let happens = |(question, answer): (&Question, &Answer)| {
        answer.is_known().then(|| answer.verdict == question.verdict(true))
    };
    questions.iter().zip(&answers).map(happens).take(doubts.len()).collect()
}

/// Whether an answer without a run is one about final states, of which there might be
/// none.
fn rests_on_final_states(system: &System, answer: &Answer) -> bool {
    let question = &system.questions[answer.property.index()];
    matches!(question.kind, Kind::Final { .. }) && answer.verdict == question.verdict(false)
}

/// The forbidden formulas, as written and with the labels that are never reached; one of them is
/// enough to violate the property. A label that is asked for in final states only cannot be asked
/// for in other states, because the system does not record it.
fn parts(system: &System, answer: &Answer) -> Vec<Formula> {
    let mut left = match system.program.properties.get(answer.property.index()).map(|p| &p.kind) {
        Some(PropertyKind::Never(formula)) => vec![formula.clone()],
        _ => Vec::new(),
    };
    let mut parts = Vec::new();
    while let Some(formula) = left.pop() {
        match formula {
            Expr::Binary(BinOp::Or, a, b) => left.extend([*b, *a]),
            part => parts.push(part),
        }
    }
    parts
}

/// The labels of a formula, apart from those whose reaching alone makes it true: the
/// property says of these that they are not reached.
fn labels(part: &Formula) -> Vec<Atom> {
    let mut atoms = Vec::new();
    part.atoms(&mut |a| atoms.push(*a));
    let is_label = |a: &Atom| matches!(a, Atom::At(..));
    let only_labels = atoms.iter().all(is_label);
    let alone = |label: Atom| part.eval(&mut |a| i128::from(*a == label)).is_ok_and(|v| v != 0);
    atoms.retain(|a| is_label(a) && !(only_labels && alone(*a)));
    atoms
}

/// The labels because of which a formula is false in every state, where these are not
/// reached: each that is enough by itself, or else as many as it takes.
fn missing(part: &Formula, unreached: &[Atom]) -> Vec<Atom> {
    let mut all: Vec<Atom> = labels(part).into_iter().filter(|a| unreached.contains(a)).collect();
    let is_false = |without: &[Atom]| part.is_never(without);
    let enough: Vec<Atom> = all.iter().copied().filter(|a| is_false(&[*a])).collect();
    if !enough.is_empty() {
        return enough;
    }
    if !is_false(&all) {
        return Vec::new();
    }
    let mut i = 0;
    while i < all.len() {
        let label = all.remove(i);
        if !is_false(&all) {
            all.insert(i, label);
            i += 1;
        }
    }
    all
}

/// That an `await` can never pass, in words.
fn never_passed(system: &System, line: &dyn Fn(SpanId) -> usize) -> Option<String> {
    let all = system.never_passed();
    let (process, span) = all.first()?;
    let name = &system.processes[process.index()].name;
    let more = match all.len() - 1 {
        0 => String::new(),
        1 => ", and neither can another one".to_owned(),
        n => format!(", and neither can {n} others"),
    };
    Some(format!("the `await` of `{name}` in line {} can never pass{more}", line(*span)))
}

/// That these labels are never reached, in words.
fn never_reached(names: &[String]) -> Option<String> {
    let mut listed: Vec<String> = names.iter().take(NAMES).map(|n| format!("`{n}`")).collect();
    if names.len() > NAMES {
        listed.push(format!("{} more", names.len() - NAMES));
    }
    let last = listed.pop()?;
    Some(match listed.is_empty() {
        true => format!("{last} is never reached"),
        false => format!("{} and {last} are never reached", listed.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use weir_model::limits::Budget;

    use super::*;
    use crate::Loaded;

    /// What is said of the properties of a text under TSO.
    fn said(text: &str) -> Vec<Option<String>> {
        let system = Loaded::from_text("test.weir", text, None).unwrap().system;
        let options = SearchOptions::default();
        let (answers, stats) = crate::solver::check(&system, MemoryModel::TSO, &options).unwrap();
        vacuous(Task::new(&system, MemoryModel::TSO, &options), &answers, &stats, &|_| 1)
    }

    fn one(text: &str) -> String {
        said(text).remove(0).unwrap_or_default()
    }

    const WAITS: &str = "the `await` of `p` in line 1 can never pass";

    const ENDLESS: &str = "var x process p { loop { x = 1 } }";
    /// `p` waits for ever before `cs`.
    const STUCK: &str =
        "var x, y process p { await x == 7; cs: y = 1 } process q { cs: y = 2; end: }";

    #[test]
    fn nothing_is_final_where_nothing_ends() {
        let none = "no final state is reachable";
        assert_eq!(one(&format!("{ENDLESS} final never x == 3")), none);
        assert_eq!(one(&format!("{ENDLESS} final always x == 3")), none);
        assert_eq!(one(&format!("{ENDLESS} final exists x == 1")), none);
        assert_eq!(one(&format!("{STUCK} final never y == 2")), none);
        assert_eq!(
            one("var x process p { x = 1 } filter x == 2 final never x == 2"),
            "no final state that passes the filter is reachable"
        );
        assert_eq!(one("var x process p { x = 1 } final never x == 2"), "");
        assert_eq!(one("var x process p { x = 1 } final exists x == 2"), "");
    }

    #[test]
    fn a_label_is_missed_where_it_matters() {
        let missed = "`p@cs` is never reached";
        assert_eq!(one(&format!("{STUCK} never p@cs and q@cs")), missed);
        assert_eq!(one(&format!("{STUCK} never p@cs and y == 2")), missed);
        assert_eq!(one(&format!("{STUCK} never p@cs == 1 and y == 2 or x == 5")), missed);
        assert_eq!(one(&format!("{STUCK} never not p@cs and x == 5")), WAITS);
        assert_eq!(one(&format!("{STUCK} never q@cs and y == 2")), WAITS);
        // That is what these ask for.
        assert_eq!(one(&format!("{STUCK} never p@cs")), WAITS);
        assert_eq!(one(&format!("{STUCK} never p@cs or p@cs and q@end and x == 5")), missed);
        assert_eq!(one(&format!("{STUCK} never p@cs or x == 5")), WAITS);
    }

    #[test]
    fn a_family_counts_together() {
        let family = |range: &str, last: &str| {
            format!(
                "var x process p[i: {range}] {{ await x == 7 or i == 0; cs: x = 1 }}
                 never count(p@cs) >= {last}"
            )
        };
        // One of three may get there.
        assert_eq!(one(&family("0..1", "2")), "`p[1]@cs` is never reached");
        assert_eq!(one(&family("0..2", "2")), "`p[1]@cs` and `p[2]@cs` are never reached");
        let none = "var x process p[i: 0..1] { await x == 7; cs: x = 1 }";
        let waits = "the `await` of `p[0]` in line 1 can never pass, and neither can another one";
        assert_eq!(one(&format!("{none} never count(p@cs) > 0")), waits);
        assert_eq!(
            one(&format!("{none} never count(p@cs) > 1")),
            "`p[0]@cs` and `p[1]@cs` are never reached"
        );
    }

    #[test]
    fn what_is_shown_or_unknown_is_not_vacuous() {
        let text = format!("{STUCK} never q@cs final exists y == 1");
        let said = said(&text);
        assert_eq!(said[0], None);
        assert_eq!(said[1].as_deref(), Some("no final state is reachable"));
        let system = Loaded::from_text("t.weir", &format!("{STUCK} never p@cs and q@cs"), None);
        let system = system.unwrap().system;
        let budget = Budget::new().with_time(std::time::Duration::ZERO);
        let options = SearchOptions { budget, ..SearchOptions::default() };
        let (answers, stats) =
            crate::solver::check(&system, MemoryModel::TSO, &SearchOptions::default()).unwrap();
        let said =
            vacuous(Task::new(&system, MemoryModel::TSO, &options), &answers, &stats, &|_| 1);
        assert_eq!(said, [Some(WAITS.to_owned())], "there was no time to ask for more");
    }

    #[test]
    fn a_label_that_only_a_weak_model_reaches_is_reached() {
        let text = "var x, y, u, v
            process p { reg r; first: x = 1; r = y; u = 1 - r }
            process q { reg r; y = 1; r = x; v = 1 - r }
            process w { await u == 1; await v == 1; both: await x == 7; there: nop }
            never w@both and p@first
            never w@there and p@first";
        let system = Loaded::from_text("t.weir", text, None).unwrap().system;
        for (model, reached) in
            [(MemoryModel::SC, false), (MemoryModel::TSO, true), (MemoryModel::NSW, true)]
        {
            let options = SearchOptions::default();
            // Its channel machine is too large.
            let engines = ENGINES.into_iter().filter(|e| e.name() != "channels");
            for engine in engines.filter(|e| e.decides(model)) {
                let task = Task::new(&system, model, &options);
                let (answers, stats) = engine.check(task, &mut |_| {}).unwrap();
                let said = vacuous(Task::new(&system, model, &options), &answers, &stats, &|_| 1);
                assert_eq!(answers[0].verdict, Verdict::Holds, "{model}, {engine:?}");
                let missed = said[0].as_deref() == Some("`w@both` is never reached");
                assert_eq!(!missed, reached, "{model}, {engine:?}: {said:?}");
                let never = Some("`w@there` is never reached".to_owned());
                assert_eq!(said[1], never, "{model}, {engine:?}");
            }
        }
    }
}
