//! Under SC the answers are those of a slow reference, which shares no code with the
//! search: it has steps and graph of its own, enumerates simple cycles one by one,
//! and asks the definitions of Wang et al. 2021, section 3, of unions of cycles that touch.
//! What a run does again and again is such a union.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use common::{five, object, seeds, system};
use weir_live::{Options, Progress};
use weir_model::answer::Verdict;
use weir_model::ids::{ProcessId, StateId, ValueId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::system::{Mark, Op, System};

/// A step: from, to, who, and what is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    from: usize,
    to: usize,
    process: usize,
    mark: Option<Mark>,
}

struct Reference {
    steps: Vec<Vec<Step>>,
    /// For each node and process, whether a call is pending.
    pending: Vec<Vec<bool>>,
}

type Config = (Vec<StateId>, Vec<ValueId>, Vec<bool>);

/// The graph, if it has at most so many nodes.
fn reference(system: &System, most: usize) -> Option<Reference> {
    let controls: Vec<StateId> = system.processes.iter().map(|p| p.initial).collect();
    let memory: Vec<ValueId> = system.vars.iter().map(|v| v.initial[0]).collect();
    let first: Config = (controls.clone(), memory, vec![false; controls.len()]);
    let mut numbers = BTreeMap::from([(first.clone(), 0)]);
    let mut nodes = vec![first];
    let mut steps = Vec::new();
    let all = system.expanded(&Budget::new()).unwrap();
    while let Some((controls, memory, pending)) = nodes.get(steps.len()).cloned() {
        let from = steps.len();
        let mut out = Vec::new();
        for p in 0..controls.len() {
            for (_, t) in all.transitions(ProcessId::new(p), controls[p]) {
                let mut next = (controls.clone(), memory.clone(), pending.clone());
                match t.op {
                    Op::Read(x, d) | Op::Arw(x, d, _) if memory[x.index()] != d => continue,
                    Op::Write(x, d) | Op::Arw(x, _, d) => next.1[x.index()] = d,
                    _ => {}
                }
                next.0[p] = t.to;
                match t.mark {
                    Some(Mark::Call(..)) => next.2[p] = true,
                    Some(Mark::Return(..)) => next.2[p] = false,
                    None => {}
                }
                let number = nodes.len();
                let to = *numbers.entry(next.clone()).or_insert(number);
                if to == number {
                    nodes.push(next);
                }
                out.push(Step { from, to, process: p, mark: t.mark });
            }
        }
        steps.push(out);
        if nodes.len() > most {
            return None;
        }
    }
    Some(Reference { steps, pending: nodes.into_iter().map(|n| n.2).collect() })
}

impl Reference {
    /// All simple cycles over some steps, unless there are too many.
    fn cycles(&self, may: &dyn Fn(&Step) -> bool, most: usize) -> Option<Vec<Vec<Step>>> {
        let mut found = Vec::new();
        let mut work = 0_usize;
        for start in 0..self.steps.len() {
            // Depth first; a cycle is found at its smallest node.
            let mut path: Vec<Step> = Vec::new();
            let mut on_path = BTreeSet::from([start]);
            let mut stack = vec![self.steps[start].clone()];
            while let Some(rest) = stack.last_mut() {
                work += 1;
                if work > 40 * most {
                    return None;
                }
                let Some(step) = rest.pop() else {
                    stack.pop();
                    if let Some(step) = path.pop() {
                        on_path.remove(&step.to);
                    }
                    continue;
                };
                if !may(&step) || step.to < start {
                    continue;
                }
                if step.to == start {
                    let mut cycle = path.clone();
                    cycle.push(step);
                    found.push(cycle);
                    if found.len() > most {
                        return None;
                    }
                } else if on_path.insert(step.to) {
                    path.push(step);
                    stack.push(self.steps[step.to].clone());
                }
            }
        }
        Some(found)
    }

    /// What a run can do again and again if it may take some steps only: the largest
    /// unions of cycles that touch.
    fn rounds(&self, may: &dyn Fn(&Step) -> bool) -> Option<Vec<BTreeSet<Step>>> {
        let mut rounds: Vec<(BTreeSet<usize>, BTreeSet<Step>)> = Vec::new();
        for cycle in self.cycles(may, 2000)? {
            let mut nodes: BTreeSet<usize> = cycle.iter().map(|s| s.from).collect();
            let mut steps: BTreeSet<Step> = cycle.into_iter().collect();
            rounds.retain(|(n, s)| {
                let apart = n.is_disjoint(&nodes);
                if !apart {
                    nodes.extend(n);
                    steps.extend(s);
                }
                apart
            });
            rounds.push((nodes, steps));
        }
        Some(rounds.into_iter().map(|(_, steps)| steps).collect())
    }

    /// Whether some run violates a property; nothing if that takes too long.
    fn violates(&self, progress: Progress, n: usize) -> Option<bool> {
        let is_return = |s: &Step| matches!(s.mark, Some(Mark::Return(..)));
        let moves = |round: &BTreeSet<Step>, p: usize| round.iter().any(|s| s.process == p);
        let pends =
            |round: &BTreeSet<Step>, p: usize| round.iter().all(|s| self.pending[s.from][p]);
        let fair = |round: &BTreeSet<Step>| (0..n).all(|p| moves(round, p));
        let any = |may: &dyn Fn(&Step) -> bool, bad: &dyn Fn(&BTreeSet<Step>) -> bool| {
            Some(self.rounds(may)?.iter().any(bad))
        };
        // `prog-s` fails: no return and some call is pending for ever.
        let no_return = |s: &Step| !is_return(s);
        // `prog-t` fails: the call of one process is pending for ever.
        let some = |bad: &dyn Fn(&BTreeSet<Step>, usize) -> bool| {
            let one = |p: usize| {
                let may = |s: &Step| self.pending[s.from][p] && self.pending[s.to][p];
                any(&may, &|round| bad(round, p))
            };
            (0..n).map(one).collect::<Option<Vec<bool>>>().map(|all| all.contains(&true))
        };
        match progress {
            Progress::LockFree => {
                any(&no_return, &|round| (0..n).any(|p| pends(round, p) && moves(round, p)))
            }
            Progress::DeadlockFree => {
                any(&no_return, &|round| fair(round) && (0..n).any(|p| pends(round, p)))
            }
            Progress::WaitFree => some(&|round, p| moves(round, p)),
            Progress::StarvationFree => some(&|round, _| fair(round)),
            Progress::ObstructionFree => {
                let one = |p: usize| {
                    let may = |s: &Step| s.process == p && !is_return(s);
                    any(&may, &|round| pends(round, p) && moves(round, p))
                };
                (0..n).map(one).collect::<Option<Vec<bool>>>().map(|all| all.contains(&true))
            }
        }
    }
}

#[test]
fn answers_are_those_of_the_definitions() {
    // For each property how often it was violated and how often it held.
    let mut compared = BTreeMap::from(Progress::ALL.map(|p| (p, [0_usize; 2])));
    for seed in seeds(1500) {
        let object = object(seed);
        for clients in 1..=2 {
            let system = system(&object, clients);
            let Some(reference) = reference(&system, 150) else { continue };
            let answers = five(&system, &Options::new(MemoryModel::SC));
            for (progress, answer) in Progress::ALL.into_iter().zip(answers) {
                let Some(violated) = reference.violates(progress, clients) else { continue };
                let found = answer.verdict == Verdict::Violated;
                let name = progress.name();
                let text = weir_front::weir::print(&object);
                assert_eq!(found, violated, "seed {seed}, {clients} clients, {name}\n{text}");
                compared.entry(progress).or_default()[usize::from(violated)] += 1;
            }
        }
    }
    eprintln!("{compared:?}");
    assert!(
        compared.values().all(|[held, violated]| *held > 100 && *violated > 30),
        "{compared:?}"
    );
}
