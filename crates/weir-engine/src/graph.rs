//! The states that an engine explores, and the steps between them, for drawing.

use std::fmt;

use rustc_hash::FxHashMap;
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::limits::Stop;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{Event, EventKind, Form, Semantics, Step, sufficient_bound};
use weir_model::system::System;

use crate::portfolio::Engine;
use crate::stats::Limits;
use crate::{automata, explicit, views};

/// The explored states of a program.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The states, in the order of discovery.
    pub nodes: Vec<Node>,
    /// The steps, in the order in which they were taken.
    pub edges: Vec<Edge>,
    /// Whether steps were left out because buffers were full.
    pub is_cut: bool,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The control state of each process.
    pub controls: Vec<StateId>,
    /// Memory.
    pub memory: Vec<ValueId>,
    /// What each process has under way, as the engine represents it.
    pub buffers: Vec<String>,
    /// Whether it is initial.
    pub is_initial: bool,
    /// The properties that it settles, as indices: it violates them, or is what a
    /// `final exists` looks for.
    pub settles: Vec<usize>,
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
    /// What happens.
    pub label: String,
    /// Whether a cycle was folded in.
    pub is_folded: bool,
}

/// Why there is no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoGraph {
    /// The engine has none, or it is too large to be drawn.
    Refused(String),
    /// The search ended early, for this reason.
    Stopped(String),
}

impl fmt::Display for NoGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(reason) | Self::Stopped(reason)) = self;
        f.write_str(reason)
    }
}

impl std::error::Error for NoGraph {}

impl From<String> for NoGraph {
    fn from(reason: String) -> Self {
        Self::Refused(reason)
    }
}

impl From<Stop> for NoGraph {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop.to_string())
    }
}

/// Explores a program with an engine, to the end even if properties are violated.
///
/// # Errors
/// If the engine has no such graph, it has more than `most` states, or a limit is reached.
pub fn explore(
    system: &System,
    model: MemoryModel,
    engine: Engine,
    limits: &Limits,
    most: usize,
) -> Result<Graph, NoGraph> {
    match engine {
        Engine::Explicit | Engine::Auto => configurations(system, model, limits, most),
        Engine::Automata(options) => automata::graph(system, options, limits, most),
        Engine::Views => views::graph(system, model, limits, most),
        Engine::Backward => Err(NoGraph::Refused(
            "backward search has minimal states of what could lead to a violation, and no \
             graph of what a program does; use another engine"
                .to_owned(),
        )),
    }
}

/// What is said of a graph that is too large.
pub(crate) fn too_large(most: usize) -> NoGraph {
    NoGraph::Refused(format!(
        "there are more than {most} states, too many to be drawn; `--most` allows more"
    ))
}

/// A store as the papers write it: `(x,1)`.
pub(crate) fn show_store(system: &System, var: VarId, value: ValueId) -> String {
    format!("({},{})", system.vars[var.index()].name, system.show_value(var, value))
}

/// Breadth first, as the explicit engine does it.
fn configurations(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
    most: usize,
) -> Result<Graph, NoGraph> {
    let bound =
        limits.bound.or_else(|| sufficient_bound(system)).unwrap_or(explicit::DEFAULT_BOUND);
    let semantics = Form::of(model)[0].semantics(system, model, bound);
    let mut graph = Graph::default();
    let mut numbers: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    let mut configs = Vec::new();
    for initial in semantics.initial().take(most + 1) {
        numbers.insert(initial.clone(), configs.len());
        configs.push(initial);
    }
    let initial = configs.len();
    let mut scratch = Vec::new();
    while let Some(config) = configs.get(graph.nodes.len()).cloned() {
        limits.budget.check()?;
        let from = graph.nodes.len();
        graph.nodes.push(node(semantics.as_ref(), &config, from < initial));
        graph.is_cut |= !semantics.successors(&config, &mut scratch, &mut |step, next| {
            let to = *numbers.entry(next.to_vec()).or_insert_with(|| {
                configs.push(next.to_vec());
                configs.len() - 1
            });
            let label = label(system, &step);
            graph.edges.push(Edge { from, to, process: step.process, label, is_folded: false });
        });
        if configs.len() > most {
            return Err(too_large(most));
        }
    }
    Ok(graph)
}

fn node(semantics: &dyn Semantics, config: &[u32], is_initial: bool) -> Node {
    let system = semantics.system();
    let show = |events: &Vec<Event>| match events.is_empty() {
        true => "ε".to_owned(),
        false => events.iter().map(|e| show_event(system, *e)).collect(),
    };
    let kinds = system.program.properties.iter().enumerate();
    let settles = kinds.filter(|(_, p)| explicit::settles(semantics, config, &p.kind));
    Node {
        controls: semantics.controls(config).iter().map(|s| StateId(*s)).collect(),
        memory: semantics.memory(config).iter().map(|v| ValueId(*v)).collect(),
        buffers: semantics.pending(config).iter().map(show).collect(),
        is_initial,
        settles: settles.map(|(i, _)| i).collect(),
    }
}

/// Something under way; what is not a store says what it is.
fn show_event(system: &System, event: Event) -> String {
    let store = show_store(system, event.var, event.value);
    match event.kind {
        EventKind::Write => store,
        EventKind::Read => format!("r{store}"),
        EventKind::WriteFence => "(wfence)".to_owned(),
        EventKind::ReadFence => "(rfence)".to_owned(),
        EventKind::Load => format!("load{store}"),
        EventKind::Own => format!("own{store}"),
    }
}

fn label(system: &System, step: &Step) -> String {
    if let Some(id) = step.transition {
        return system.show_op(system.transition(step.process, id).op);
    }
    let event = step.event.map_or(String::new(), |e| show_event(system, e));
    format!("{} {event}", step.rule.name()).trim_end().to_owned()
}
