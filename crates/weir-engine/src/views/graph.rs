//! The configurations that a search with views explores, for drawing.

use super::search::Search;
use crate::concrete::Event;
use crate::engine::Task;
use crate::graph::{Buffer, Edge, Graph, Happening, NoGraph, Node};

/// The configurations of views and the steps between them. A node settles a question
/// if some configuration that it stands for may: words are folded.
///
/// # Errors
/// If there are more than `most`, or a limit is reached.
pub fn graph(task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
    let mut search = Search::to_draw(task)?;
    search.draw(most)?;
    if search.store.kept.len() > most {
        return Err(NoGraph::TooLarge(most));
    }
    let mut graph = Graph::default();
    for id in 0..search.store.kept.len() as u32 {
        let config = search.store.kept.get(id);
        let mut settles = Vec::new();
        for question in 0..task.questions.len() {
            if search.space.settling(&config, question)?.is_some() {
                settles.push(question);
            }
        }
        let parts = search.space.parts(&config);
        graph.nodes.push(Node {
            controls: parts.controls,
            memory: parts.memory,
            buffers: parts.views.into_iter().map(Buffer::View).collect(),
            is_initial: false,
            settles,
        });
    }
    for initial in search.space.initial()?.take(most) {
        let mut all = 0..search.store.kept.len() as u32;
        let found = all.find(|&id| search.store.kept.get(id) == initial);
        found.into_iter().for_each(|id| graph.nodes[id as usize].is_initial = true);
    }
    for (from, step, to) in std::mem::take(&mut search.edges) {
        let config = search.store.kept.get(from);
        let places = search.space.places_of(&config, step.process)?;
        let happens = search.space.events(&places, step).into_iter().filter_map(|e| match e {
            Event::Take(_, id) => Some(Happening::Take(id)),
            Event::Transfer(_, x, Some(d)) => Some(Happening::Enter(x, d)),
            Event::Transfer(..) | Event::TransferOne(..) | Event::End => None,
        });
        graph.edges.push(Edge {
            from: from as usize,
            to: to as usize,
            process: step.process,
            happens: happens.collect(),
            is_folded: false,
        });
    }
    graph.letters = search.space.table.letters.all();
    Ok(graph)
}
