//! Which reordering did it: the operations of a run that took effect in another
//! order than the program has them.

use weir_model::answer::Run;
use weir_model::ids::{ProcessId, SpanId, VarId};
use weir_model::semantics::Rule;
use weir_model::system::{Op, System};

/// An operation that overtook earlier ones of its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// The process.
    pub process: ProcessId,
    /// The operation, where it stands, and the step at which it took effect.
    pub early: (Op, SpanId, usize),
    /// The operations that it overtook, where they stand, and the step at which
    /// each took effect, if it did.
    pub late: Vec<(Op, SpanId, Option<usize>)>,
}

impl Reordering {
    /// The relaxations that allow it, as the papers name them.
    pub fn relaxations(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self
            .late
            .iter()
            .map(|late| match (late.0, self.early.0) {
                (Op::Write(..), Op::Read(..)) => "w->r",
                (Op::Write(..), Op::Write(..)) => "w->w",
                (Op::Read(..), Op::Read(..)) => "r->r",
                _ => "r->w",
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// An operation that was issued, and when it took effect: the time of a step is
/// twice its number, and a read of the past falls between two steps.
struct Issued {
    op: Op,
    span: SpanId,
    var: VarId,
    effect: Option<usize>,
}

/// The reorderings of a run, one for each operation that overtook others. An
/// operation is said to be overtaken by the first that did.
pub fn reorderings(system: &System, run: &Run) -> Vec<Reordering> {
    let mut found = Vec::new();
    for process in system.process_ids() {
        let issued = issued(system, run, process);
        let first = |late: &Issued, after: usize| {
            let overtook = |e: &Issued| e.effect.is_some_and(|t| late.effect.is_none_or(|l| t < l));
            (after..issued.len()).find(|&j| overtook(&issued[j]))
        };
        for (j, early) in issued.iter().enumerate() {
            let overtaken = (0..j).filter(|&i| first(&issued[i], i + 1) == Some(j));
            let late: Vec<_> = overtaken
                .map(|i| (issued[i].op, issued[i].span, issued[i].effect.map(|t| t / 2)))
                .collect();
            if !late.is_empty() {
                let early = (early.op, early.span, early.effect.unwrap_or(0) / 2);
                found.push(Reordering { process, early, late });
            }
        }
    }
    found
}

fn issued(system: &System, run: &Run, process: ProcessId) -> Vec<Issued> {
    let mut all: Vec<Issued> = Vec::new();
    for (number, (step, _)) in run.steps.iter().enumerate() {
        if step.process != process {
            continue;
        }
        let time = 2 * (number + 1);
        let Some(transition) = step.transition else {
            if let (Rule::Update | Rule::Validate, Some(event)) = (step.rule, step.event) {
                let waiting = all.iter_mut().find(|i| i.effect.is_none() && i.var == event.var);
                if let Some(waiting) = waiting {
                    waiting.effect = Some(time);
                }
            }
            continue;
        };
        let taken = system.transition(process, transition);
        let (Op::Read(var, value) | Op::Write(var, value)) = taken.op else { continue };
        let effect = match step.rule {
            Rule::Write | Rule::Guess => None,
            // Took its value before the write did its work: no order to speak of.
            Rule::ReadOwnWrite | Rule::ReadRemoteWrite => continue,
            Rule::ReadHistory => {
                // The last moment at which memory had the value.
                let had = |s: &weir_model::answer::Snapshot| s.memory[var.index()] == value;
                let last = run.steps[..number].iter().rposition(|(_, s)| had(s));
                Some(last.map_or(1, |i| 2 * (i + 1) + 1))
            }
            _ => Some(time),
        };
        all.push(Issued { op: taken.op, span: taken.span, var, effect });
    }
    all
}
