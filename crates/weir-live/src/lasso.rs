//! Lassos: a stem and a cycle, which together are an infinite run.

use weir_model::answer::{Run, Snapshot};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{Form, Semantics};

use crate::fair::Cycle;
use crate::graph::{Edge, Graph, follow};
use crate::search::MAX_BUFFER;

/// A run that ends in the configuration in which its cycle began. Only buffers that are not flushed
/// in the cycle may have grown, if their last write to each variable is the same. So the cycle can
/// be repeated. Without a cycle, the run ends where no process can take a step.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// The stem and one round of the cycle.
    pub run: Run,
    /// How many steps the stem has. The rest is the cycle.
    pub stem: usize,
}

impl Lasso {
    /// The number of the step that begins the cycle, from 0; nothing if the run ends, and stays in
    /// its last state for ever.
    pub fn cycle(&self) -> Option<usize> {
        (self.stem < self.run.steps.len()).then_some(self.stem)
    }

    /// The lasso of a cycle in a graph of a semantics. It begins with an initial node
    /// of the graph.
    pub(crate) fn new(
        semantics: &dyn Semantics,
        model: MemoryModel,
        graph: &Graph<'_>,
        cycle: &Cycle,
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut node = cycle.start;
        while let Some(parent) = graph.parent(node) {
            let step = graph.edges(parent).iter().find(|e| e.to as usize == node);
            edges.push(*step.expect("a parent has an edge to its child"));
            node = parent;
        }
        edges.reverse();
        let stem = edges.len();
        edges.extend(&cycle.edges);
        // Where graphs begin all buffers are empty, however they are written down.
        let system = graph.system;
        let head = system.processes.len() + system.vars.len();
        let mut start = graph.config(node)[..head].to_vec();
        semantics.initial_rest(&mut start);
        let (steps, _) = follow(semantics, &start, &edges, budget)?;
        let start = Snapshot::new(semantics, &start);
        let form = Form::of(model)[0];
        Ok(Self { run: Run { model, form, bound: MAX_BUFFER, start, steps }, stem })
    }
}
