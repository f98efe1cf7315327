//! Properties, as kinds of cycles (Wang et al. 2021, section 3, Definition 1).
//!
//! An infinite run through a finite graph violates a property if and only if the graph
//! has a cycle of one of the kinds of [`patterns`]. In the terms of the paper:
//!
//! * `prog-s` fails iff from some moment on there is a pending call and no return:
//!   the cycle has no return, and a call is pending in it;
//! * `prog-t` fails iff some call is pending from some moment on: in the cycle a
//!   process has a pending call and does not return;
//! * `sched` holds, where a call is pending for ever, iff a process with such a call
//!   takes steps for ever: the cycle has a step of it;
//! * `fair` holds iff every process takes steps for ever: the cycle has a step of
//!   each;
//! * `iso` holds iff from some moment on only one process takes steps: all steps of
//!   the cycle are its.
//!
//! A step of a process is any of its actions, also the flush of one of its writes. A
//! process that has no step, because an `assume` does not hold or it has failed, is not
//! scheduled, and no run in which it stays there for ever is fair. The definitions are
//! about infinite runs only.
//!
//! *Flush fairness* is an additional condition on runs: every write reaches memory. So
//! for each process the cycle has a moment at which its buffer is empty, or a flush.

use weir_model::ids::{Cell, ProcessId, StateId, ValueId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{EvalError, Formula, LiveKind};
use weir_model::system::System;

use crate::fair::{CyclePattern, Place, Test};
use crate::graph::Graph;

/// A progress property of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Progress {
    /// `sched => prog-t`
    WaitFree,
    /// `sched => prog-s`
    LockFree,
    /// `sched and iso => prog-s`
    ObstructionFree,
    /// `fair => prog-t`
    StarvationFree,
    /// `fair => prog-s`
    DeadlockFree,
}

impl Progress {
    /// All of them, those that imply others first.
    pub const ALL: [Self; 5] = [
        Self::WaitFree,
        Self::LockFree,
        Self::ObstructionFree,
        Self::StarvationFree,
        Self::DeadlockFree,
    ];

    /// Its name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::WaitFree => "wait-free",
            Self::LockFree => "lock-free",
            Self::ObstructionFree => "obstruction-free",
            Self::StarvationFree => "starvation-free",
            Self::DeadlockFree => "deadlock-free",
        }
    }

    /// What it implies, by Definition 1.
    pub fn implies(self) -> &'static [Self] {
        match self {
            Self::WaitFree => {
                &[Self::LockFree, Self::ObstructionFree, Self::StarvationFree, Self::DeadlockFree]
            }
            Self::LockFree => &[Self::ObstructionFree, Self::DeadlockFree],
            Self::StarvationFree => &[Self::DeadlockFree],
            Self::ObstructionFree | Self::DeadlockFree => &[],
        }
    }
}

/// Something asked about infinite runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question<'p> {
    /// Of an object.
    Progress(Progress),
    /// Of processes.
    Live(&'p LiveKind),
}

impl Question<'_> {
    /// Why a formula of the question has no value in a state: control states and memory.
    pub fn without_value(
        &self,
        system: &System,
        controls: &[impl Copy + Into<StateId>],
        memory: &[impl Copy + Into<ValueId>],
    ) -> Option<EvalError> {
        let Self::Live(kind) = self else { return None };
        let mut found = None;
        let mut visit = |formula: &Formula| {
            found = found.or_else(|| system.truth(formula, controls, memory).err());
        };
        match kind {
            LiveKind::Exists(f) | LiveKind::Never(f) | LiveKind::Always(f) => visit(f),
            LiveKind::Ltl { formula, .. } => formula.states(&mut visit),
            LiveKind::Terminates => {}
        }
        found
    }

    /// Whether a formula of the question may have no value in some state.
    pub(crate) fn may_have_no_value(&self) -> bool {
        let mut may = false;
        match self {
            Self::Live(LiveKind::Exists(f) | LiveKind::Never(f) | LiveKind::Always(f)) => {
                may = f.may_have_no_value();
            }
            Self::Live(LiveKind::Ltl { formula, .. }) => {
                formula.states(&mut |f| may |= f.may_have_no_value());
            }
            Self::Live(LiveKind::Terminates) | Self::Progress(_) => {}
        }
        may
    }

    /// Whether the question asks for a cycle, rather than forbids it.
    pub fn wants_cycle(&self) -> bool {
        matches!(self, Self::Live(LiveKind::Exists(_)))
    }
}

/// The kinds of cycles that settle a question: one of any of them does. Formulas of linear
/// temporal logic are not settled by a kind of cycle. `spends`
/// says that a graph may have endless flushes without writes, which no run has.
pub fn patterns<'a>(
    graph: &'a Graph<'a>,
    question: Question<'a>,
    flush_fair: bool,
    spends: bool,
) -> Vec<CyclePattern<'a>> {
    let system = graph.system;
    let mut patterns = match question {
        Question::Progress(progress) => progress_patterns(graph, progress),
        Question::Live(kind) => live_pattern(graph, kind).into_iter().collect(),
    };
    for pattern in &mut patterns {
        for p in system.process_ids() {
            if flush_fair {
                pattern.goals.push(Box::new(move |place| match place {
                    Place::Node(n) => graph.is_drained(n, p),
                    Place::Edge(_, e) => e.process == p && e.updates(),
                }));
            }
            if spends {
                let updates = edge_test(move |e| e.process == p && e.updates());
                let writes = edge_test(move |e| e.process == p && e.writes);
                pattern.debts.push((updates, writes));
            }
        }
    }
    patterns
}

fn progress_patterns<'a>(graph: &'a Graph<'a>, progress: Progress) -> Vec<CyclePattern<'a>> {
    let everybody = || graph.system.process_ids();
    // A step of a process whose call is pending.
    let sched = move |p: Option<ProcessId>| -> Test<'a> {
        Box::new(move |place| match place {
            Place::Node(_) => false,
            Place::Edge(n, e) => p.is_none_or(|p| e.process == p) && graph.is_pending(n, e.process),
        })
    };
    let no_return: fn() -> Test<'a> = || edge_or_node(|e| !e.returns);
    // The call of one process is pending and does not return.
    let never_returns = move |p: ProcessId| -> Test<'a> {
        Box::new(move |place| match place {
            Place::Node(n) => graph.is_pending(n, p),
            Place::Edge(_, e) => e.process != p || !e.returns,
        })
    };
    let fair = || everybody().map(|p| edge_test(move |e| e.process == p)).collect::<Vec<_>>();
    let pattern =
        |within: Test<'a>, goals: Vec<Test<'a>>| CyclePattern { within, goals, debts: vec![] };
    match progress {
        Progress::LockFree => vec![pattern(no_return(), vec![sched(None)])],
        Progress::WaitFree => {
            everybody().map(|p| pattern(never_returns(p), vec![sched(Some(p))])).collect()
        }
        Progress::DeadlockFree => {
            let mut goals = fair();
            goals.push(Box::new(move |place| match place {
                Place::Node(n) => graph.system.process_ids().any(|p| graph.is_pending(n, p)),
                Place::Edge(..) => false,
            }));
            vec![pattern(no_return(), goals)]
        }
        Progress::StarvationFree => {
            everybody().map(|p| pattern(never_returns(p), fair())).collect()
        }
        Progress::ObstructionFree => everybody()
            .map(|p| {
                let alone = edge_or_node(move |e| e.process == p && !e.returns);
                pattern(alone, vec![sched(Some(p))])
            })
            .collect(),
    }
}

fn live_pattern<'a>(graph: &'a Graph<'a>, kind: &'a LiveKind) -> Option<CyclePattern<'a>> {
    let system = graph.system;
    let everywhere = || -> Test<'a> { Box::new(|_| true) };
    // A process takes steps for ever, or again and again has none to take.
    let fair = || {
        let one = |p: ProcessId| -> Test<'a> {
            Box::new(move |place| match place {
                // Who is locked out by a block could go on.
                Place::Node(n) => {
                    !in_block(system, &graph.config(n))
                        && !graph.edges(n).iter().any(|e| e.process == p && !e.updates())
                }
                Place::Edge(_, e) => e.process == p && !e.updates(),
            })
        };
        system.process_ids().map(one).collect::<Vec<_>>()
    };
    let at = move |formula: &'a Formula, wanted: bool| -> Test<'a> {
        Box::new(move |place| match place {
            Place::Node(n) => holds(system, formula, &graph.config(n)) == wanted,
            Place::Edge(..) => !wanted,
        })
    };
    Some(match kind {
        LiveKind::Exists(f) | LiveKind::Never(f) => {
            CyclePattern { within: everywhere(), goals: vec![at(f, true)], debts: vec![] }
        }
        LiveKind::Always(f) => CyclePattern { within: at(f, false), goals: fair(), debts: vec![] },
        LiveKind::Terminates => CyclePattern { within: everywhere(), goals: fair(), debts: vec![] },
        LiveKind::Ltl { .. } => return None,
    })
}

/// Whether a process is in the middle of an atomic block. A system for TSO has none.
pub(crate) fn in_block(system: &System, config: &[Cell]) -> bool {
    system.in_block(MemoryModel::SC, config).is_some()
}

/// Whether a formula holds in a configuration; states in the middle of an atomic block are not
/// observed.
fn holds(system: &System, formula: &Formula, config: &[Cell]) -> bool {
    let (controls, rest) = config.split_at(system.processes.len());
    !in_block(system, config)
        && system.truth(formula, controls, &rest[..system.vars.len()]) == Ok(true)
}

pub(crate) fn edge_test<'a>(test: impl Fn(&crate::graph::Edge) -> bool + 'a) -> Test<'a> {
    Box::new(move |place| matches!(place, Place::Edge(_, e) if test(e)))
}

/// Every node, and the edges that pass.
fn edge_or_node<'a>(test: impl Fn(&crate::graph::Edge) -> bool + 'a) -> Test<'a> {
    Box::new(move |place| match place {
        Place::Node(_) => true,
        Place::Edge(_, e) => test(e),
    })
}
