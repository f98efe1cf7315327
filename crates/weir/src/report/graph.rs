//! The states that an engine explored: DOT as in Linden and Wolper 2010, figure 3, and JSON.

mod regex;
mod words;

use std::fmt::Write as _;

use serde::Serialize;
use weir_engine::graph::{Edge, Graph, Node};
use weir_model::ids::{ProcessId, StateId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::system::StateKind;

use crate::load::Loaded;

/// A graph for Graphviz. A box says where each process is, what its buffer holds, and
/// what memory is. An initial one has a thick border, and one that settles a property is
/// red. Where a cycle was folded in, the arrow is thick.
///
/// # Errors
/// If a limit is reached.
pub fn dot(loaded: &Loaded, graph: &Graph, budget: &Budget) -> Result<String, Stop> {
    let system = &loaded.system;
    let mut out = String::from(
        "digraph states {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n  \
         edge [fontname=\"monospace\", fontsize=9];\n",
    );
    for (number, node) in graph.nodes.iter().enumerate() {
        budget.tick()?;
        let mut lines = vec![format!("{}", number + 1)];
        for p in system.process_ids() {
            let name = &system.processes[p.index()].name;
            let at = place(loaded, p, node.controls[p.index()]);
            let buffer = words::buffer(system, graph, &node.buffers[p.index()]);
            lines.push(format!("{name}: {at}  {buffer}"));
        }
        lines.push(memory(loaded, node));
        lines.extend(node.settles.iter().map(|i| format!("! {}", system.questions[*i].name)));
        // Lines of a box end in `\l`, which keeps them to the left.
        let label: String = lines.iter().map(|l| escaped(l) + "\\l").collect();
        let mut style = String::new();
        if node.is_initial {
            style += ", penwidth=2.5";
        }
        if !node.settles.is_empty() {
            style += ", color=\"#b00020\", fontcolor=\"#b00020\"";
        }
        let _ = writeln!(out, "  s{} [label=\"{label}\"{style}];", number + 1);
    }
    for edge in &graph.edges {
        budget.tick()?;
        let style = if edge.is_folded { ", penwidth=2.5" } else { "" };
        let label = escaped(&format!("{}: {}", process(loaded, edge), step(loaded, edge)));
        let (from, to) = (edge.from + 1, edge.to + 1);
        let _ = writeln!(out, "  s{from} -> s{to} [label=\"{label}\"{style}];");
    }
    Ok(out + "}\n")
}

fn process<'l>(loaded: &'l Loaded, edge: &Edge) -> &'l str {
    &loaded.system.processes[edge.process.index()].name
}

/// What happens in a step.
fn step(loaded: &Loaded, edge: &Edge) -> String {
    let happens = edge.happens.iter().map(|h| words::happening(&loaded.system, edge.process, h));
    happens.collect::<Vec<_>>().join(" ")
}

/// Text within quotes of DOT.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Where a process is: a label or a line, and its registers.
fn place(loaded: &Loaded, p: ProcessId, state: StateId) -> String {
    let system = &loaded.system;
    let process = &system.program.processes[p.index()];
    let state = system.state(p, state);
    let at = match &state.kind {
        StateKind::Failed(failure) => format!("fails, {failure}"),
        StateKind::Left(excess) => excess.to_string(),
        StateKind::Ended => "ended".to_owned(),
        StateKind::Inside => match state.labels.first() {
            Some(label) => process.labels[label.index()].name.clone(),
            None => format!("line {}", loaded.line(state.span)),
        },
    };
    let kept = process.registers.iter().zip(&state.registers);
    let values = kept.filter(|(r, v)| !r.temporary && **v != r.init);
    let shown =
        values.map(|(r, v)| format!(" {}={}", r.name, system.program.show_value(r.domain, *v)));
    at + &shown.collect::<String>()
}

fn memory(loaded: &Loaded, node: &Node) -> String {
    let system = &loaded.system;
    let cell = |(x, var): (usize, &weir_model::system::Variable)| {
        format!("{}={}", var.name, system.show_value(VarId::new(x), node.memory[x]))
    };
    system.vars.iter().enumerate().map(cell).collect::<Vec<_>>().join(" ")
}

/// A graph as JSON.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The schema of such reports.
    pub schema: &'static str,
    /// The program's name.
    pub program: String,
    /// The file it came from.
    pub file: String,
    /// The text of the file.
    pub text: String,
    /// The processes.
    pub processes: Vec<String>,
    /// The memory model.
    pub model: String,
    /// Whether steps were left out because buffers were full.
    pub cut: bool,
    /// The states.
    pub states: Vec<StateReport>,
    /// The steps.
    pub steps: Vec<StepReport>,
}

/// A state of a graph.
#[derive(Debug, Serialize)]
pub struct StateReport {
    /// Whether it is initial.
    pub initial: bool,
    /// Where each process is.
    pub places: Vec<String>,
    /// Memory.
    pub memory: String,
    /// What each process has under way.
    pub buffers: Vec<String>,
    /// The names of the properties that it settles.
    pub settles: Vec<String>,
}

/// A step of a graph.
#[derive(Debug, Serialize)]
pub struct StepReport {
    /// The state that it leaves, from 0.
    pub from: usize,
    /// The state that it enters.
    pub to: usize,
    /// Whose it is.
    pub process: String,
    /// What happens.
    pub step: String,
    /// Whether a cycle was folded in.
    pub folded: bool,
}

impl Report {
    /// The report of a graph.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(
        loaded: &Loaded,
        model: MemoryModel,
        graph: &Graph,
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let system = &loaded.system;
        let state = |node: &Node| {
            budget.tick()?;
            Ok(StateReport {
                initial: node.is_initial,
                places: system
                    .process_ids()
                    .map(|p| place(loaded, p, node.controls[p.index()]))
                    .collect(),
                memory: memory(loaded, node),
                buffers: node.buffers.iter().map(|b| words::buffer(system, graph, b)).collect(),
                settles: node.settles.iter().map(|i| system.questions[*i].name.clone()).collect(),
            })
        };
        let report = |edge: &Edge| {
            budget.tick()?;
            Ok(StepReport {
                from: edge.from,
                to: edge.to,
                process: process(loaded, edge).to_owned(),
                step: step(loaded, edge),
                folded: edge.is_folded,
            })
        };
        Ok(Self {
            schema: "weir-graph-2",
            program: system.program.name.clone(),
            file: loaded.source.name.clone(),
            text: loaded.source.text.clone(),
            processes: system.processes.iter().map(|p| p.name.clone()).collect(),
            model: model.to_string(),
            cut: graph.is_cut,
            states: graph.nodes.iter().map(state).collect::<Result<_, Stop>>()?,
            steps: graph.edges.iter().map(report).collect::<Result<_, Stop>>()?,
        })
    }
}
