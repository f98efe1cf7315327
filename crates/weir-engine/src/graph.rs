//! The states that an engine explores, and the steps between them, for drawing.

use std::fmt;

use weir_model::answer::{BufferAutomaton, ViewParts};
use weir_model::ids::{Cell, ProcessId, StateId, TransitionId, ValueId, VarId};
use weir_model::limits::Stop;
use weir_model::question::Question;
use weir_model::semantics::{Event, Form, Rule, Semantics, Step, sufficient_bound};

use crate::engine::Task;
use crate::explicit;
use crate::store::{Full, Store};

/// The explored states of a program.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The states, in the order of discovery.
    pub nodes: Vec<Node>,
    /// The steps, in the order in which they were taken.
    pub edges: Vec<Edge>,
    /// The letters of [`Buffer::View`]: memory states in which the variables that do not
    /// matter are left out.
    pub letters: Vec<Vec<Option<ValueId>>>,
    /// Whether steps were left out because buffers were full.
    pub is_cut: bool,
}

/// A state.
#[derive(Clone, Debug)]
pub struct Node {
    /// The control state of each process.
    pub controls: Vec<StateId>,
    /// Memory.
    pub memory: Vec<ValueId>,
    /// What each process has under way.
    pub buffers: Vec<Buffer>,
    /// Whether it is initial.
    pub is_initial: bool,
    /// The questions that it settles, as indices.
    pub settles: Vec<usize>,
}

/// What a process has under way, as an engine represents it.
#[derive(Clone, Debug)]
pub enum Buffer {
    /// Events, oldest first.
    Events(Vec<Event>),
    /// Any content that the automaton accepts.
    Language(BufferAutomaton),
    /// What it may still see of the history of memory states.
    View(ViewParts),
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// From which state.
    pub from: usize,
    /// To which state, or one that includes what is reached.
    pub to: usize,
    /// Whose step it is.
    pub process: ProcessId,
    /// What happens, one after another.
    pub happens: Vec<Happening>,
    /// Whether a cycle was folded in.
    pub is_folded: bool,
}

/// Something that happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The process takes a transition.
    Take(TransitionId),
    /// A rule of the semantics applies to something under way.
    Rule(Rule, Option<Event>),
    /// A store leaves the buffer.
    Commit(VarId, ValueId),
    /// A write enters the history of memory states.
    Enter(VarId, ValueId),
}

/// Why there is no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoGraph {
    /// The engine explores no states of the program.
    None,
    /// There are more states than this.
    TooLarge(usize),
    /// The search ended early, for this reason.
    Stopped(String),
}

impl fmt::Display for NoGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("the engine explores no graph of what a program does"),
            Self::TooLarge(most) => {
                write!(f, "there are more than {most} states, too many to be drawn")
            }
            Self::Stopped(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for NoGraph {}

impl From<Full> for NoGraph {
    fn from(full: Full) -> Self {
        Self::Stopped(full.to_string())
    }
}

impl From<Stop> for NoGraph {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop.to_string())
    }
}

/// Breadth first, as the explicit engine does it.
pub(crate) fn configurations(task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
    let Task { system, questions, model, options, .. } = task;
    let bound =
        options.bound.or_else(|| sufficient_bound(system)).unwrap_or(explicit::DEFAULT_BOUND);
    let form = options.form.unwrap_or_else(|| Form::of_system(system, model)[0]);
    let semantics = form.semantics(system, model, bound);
    let mut graph = Graph::default();
    let mut store: Store = Store::within(&options.budget);
    for initial in semantics.initial().take(most + 1) {
        store.insert(&initial, None)?;
    }
    let initial = store.len();
    let mut scratch = Vec::new();
    while let Some(id) = store.take_next() {
        options.budget.check()?;
        let (from, config) = (id.index(), store.get(id));
        let mut full = None;
        graph.nodes.push(node(semantics.as_ref(), questions, &config, from < initial));
        graph.is_cut |= !semantics.successors(&config, &mut scratch, &mut |step, next| {
            let (process, happens) = (step.process, vec![happening(&step)]);
            match store.number(next, Some(id)) {
                Ok((to, _)) => {
                    let to = to.index();
                    graph.edges.push(Edge { from, to, process, happens, is_folded: false });
                }
                Err(reason) => full = Some(reason),
            }
        });
        full.map_or(Ok(()), Err)?;
        if store.len() > most {
            return Err(NoGraph::TooLarge(most));
        }
    }
    Ok(graph)
}

fn node(
    semantics: &dyn Semantics,
    questions: &[Question],
    config: &[Cell],
    is_initial: bool,
) -> Node {
    let settles = |i: &usize| explicit::settles(semantics, config, &questions[*i]);
    Node {
        controls: semantics.controls(config).iter().map(|s| StateId(*s)).collect(),
        memory: semantics.memory(config).iter().map(|v| ValueId(*v)).collect(),
        buffers: semantics.pending(config).into_iter().map(Buffer::Events).collect(),
        is_initial,
        settles: (0..questions.len()).filter(settles).collect(),
    }
}

fn happening(step: &Step) -> Happening {
    step.transition.map_or(Happening::Rule(step.rule, step.event), Happening::Take)
}
