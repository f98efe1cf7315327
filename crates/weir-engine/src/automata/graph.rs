//! What the search with automata stores, for drawing.

use std::ops::ControlFlow;
use std::time::Instant;

use weir_model::ids::{StateId, ValueId};

use super::operations::Action;
use super::search::Search;
use super::{Automata, automaton, settled};
use crate::engine::Task;
use crate::graph::{Buffer, Edge, Graph, Happening, NoGraph, Node};

/// The stored states and the steps between them.
///
/// # Errors
/// If there are more than `most`, or a limit is reached.
pub fn graph(engine: Automata, task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
    let options = task.options;
    let all = task.system.expanded(&options.budget)?;
    let mut search = Search::new(all, engine.in_depth(), &options.budget);
    search.edges = Some(vec![]);
    search.run(options, (Instant::now(), 0), usize::MAX, &mut |_| {}, &mut |_, node| {
        Ok(match node as usize >= most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    });
    if search.nodes.len() > most {
        return Err(NoGraph::TooLarge(most));
    }
    if let Some(reason) = &search.stats.stopped {
        return Err(NoGraph::Stopped(reason.clone()));
    }
    let space = &search.space;
    let nodes = search.nodes.iter().map(|node| Node {
        controls: space.controls(&node.state).iter().map(|s| StateId(*s)).collect(),
        memory: space.memory(&node.state).iter().map(|v| ValueId(*v)).collect(),
        buffers: { node.state.buffers.iter() }
            .map(|language| Buffer::Language(automaton(space, *language)))
            .collect(),
        is_initial: node.parent.is_none(),
        settles: settled(&search, task.questions, &node.state),
    });
    let edges = search.edges.iter().flatten().map(|edge| Edge {
        from: edge.from as usize,
        to: edge.to as usize,
        process: edge.action.process(),
        happens: vec![match edge.action {
            Action::Take(_, id) => Happening::Take(id),
            Action::Commit(_, letter) => {
                let (var, value) = space.store_of(letter);
                Happening::Commit(var, value)
            }
        }],
        is_folded: edge.is_folded,
    });
    Ok(Graph { nodes: nodes.collect(), edges: edges.collect(), ..Graph::default() })
}
