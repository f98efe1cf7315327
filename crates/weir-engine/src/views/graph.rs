//! The configurations that a search with views explores, for drawing.

use weir_model::answer::{ViewParts, Words};
use weir_model::ids::{ValueId, VarId};
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use super::search::Search;
use crate::concrete::Event;
use crate::graph::{Edge, Graph, NoGraph, Node, show_store, too_large};
use crate::stats::Limits;

/// The configurations of views and the steps between them. A node settles a property
/// if some configuration that it stands for may: words are folded.
///
/// # Errors
/// If there are more than `most`, or a limit is reached.
pub fn graph(
    system: &System,
    model: MemoryModel,
    limits: &Limits,
    most: usize,
) -> Result<Graph, NoGraph> {
    let mut search = Search::to_draw(system, model, &limits.budget)?;
    search.draw(most)?;
    if search.configs.len() > most {
        return Err(too_large(most));
    }
    let mut graph = Graph::default();
    for config in search.configs.clone() {
        let mut settles = Vec::new();
        for property in 0..system.program.properties.len() {
            if search.settling(&config, property)?.is_some() {
                settles.push(property);
            }
        }
        let parts = search.space.parts(&config);
        let letters = search.space.table.letters.all();
        graph.nodes.push(Node {
            controls: parts.controls,
            memory: parts.memory,
            buffers: parts.views.iter().map(|v| show(system, &letters, v)).collect(),
            is_initial: false,
            settles,
        });
    }
    for initial in search.space.initial()?.take(most) {
        let found = search.configs.iter().position(|c| *c == initial);
        found.into_iter().for_each(|i| graph.nodes[i].is_initial = true);
    }
    for (from, step, to) in std::mem::take(&mut search.edges) {
        let config = search.configs[from as usize].clone();
        let places = search.space.places_of(&config, step.process)?;
        let labels = search.space.events(&places, step).into_iter().filter_map(|e| match e {
            Event::Take(p, id) => Some(system.show_op(system.transition(p, id).op)),
            Event::Transfer(_, x, Some(d)) => Some(format!("enters {}", show_store(system, x, d))),
            Event::Transfer(..) | Event::TransferOne(..) | Event::End => None,
        });
        let label = labels.collect::<Vec<_>>().join(" ");
        let (from, to) = (from as usize, to as usize);
        graph.edges.push(Edge { from, to, process: step.process, label, is_folded: false });
    }
    Ok(graph)
}

/// What a process sees: what may come, its own writes among it.
fn show(system: &System, letters: &[Vec<Option<ValueId>>], view: &ViewParts) -> String {
    let letter = |l: u32| {
        let known = letters[l as usize].iter().enumerate();
        known.filter_map(|(x, v)| Some(show_store(system, VarId::new(x), (*v)?))).collect()
    };
    let set = |words: &Words, letter: &dyn Fn(u32) -> String| match words.as_slice() {
        [] => String::new(),
        [only] if only.is_empty() => String::new(),
        words => {
            let word = |w: &Vec<u32>| match w.is_empty() {
                true => "ε".to_owned(),
                false => w.iter().map(|l| letter(*l)).collect::<Vec<_>>().join(" "),
            };
            format!("{{{}}}", words.iter().map(word).collect::<Vec<_>>().join(", "))
        }
    };
    let mut parts = Vec::new();
    for (i, segment) in view.segments.iter().enumerate() {
        parts.push(set(segment, &letter));
        if let Some((x, l)) = view.marks.get(i) {
            parts.push(format!("own {}: {}", system.vars[x.index()].name, letter(*l)));
        }
    }
    let value = |x: VarId| move |v: u32| system.show_value(x, ValueId(v));
    for (x, words) in &view.past {
        let name = &system.vars[x.index()].name;
        parts.push(format!("past {name}: {}", set(words, &value(*x))));
    }
    for (x, words, last) in &view.stores {
        let last = show_store(system, *x, *last);
        parts.push(format!("waits: {} {last}", set(words, &value(*x))));
    }
    parts.retain(|p| !p.is_empty());
    if parts.is_empty() { "ε".to_owned() } else { parts.join("; ") }
}
