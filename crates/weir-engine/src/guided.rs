//! A run whose processes take given transitions.
//!
//! Some engines determine which transitions each process takes, but not their
//! interleaving in the semantics in which runs are presented. The possible interleavings
//! are few, so they are searched breadth-first.

use std::collections::HashMap;

use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{Cell, TransitionId};
use weir_model::limits::Stop;
use weir_model::memory_model::MemoryModel;
use weir_model::question::Question;
use weir_model::semantics::{Form, Semantics, Step, bounded_guesses, has_bounded_guesses};
use weir_model::system::System;

use crate::explicit::settles;
use crate::stats::SearchOptions;

/// More configurations than these are not looked at.
const MOST: usize = 1 << 20;

/// A configuration with the number of transitions that each process has taken.
type Node = (Vec<Cell>, Vec<usize>);

/// A run in which each process takes these transitions, in order, and no others, and
/// which settles a question in the end. `None` if none is found.
///
/// # Errors
/// If a limit is reached.
pub fn run(
    system: &System,
    model: MemoryModel,
    taken: &[Vec<TransitionId>],
    question: &Question,
    options: &SearchOptions,
) -> Result<Option<Run>, Stop> {
    let form = Form::of(model)[0];
    let bound = taken.iter().map(Vec::len).sum::<usize>() + 1;
    let semantics = match options.guesses.filter(|_| has_bounded_guesses(model)) {
        Some(guesses) => bounded_guesses(system, model, bound, guesses),
        None => form.semantics(system, model, bound),
    };
    let semantics = semantics.as_ref();
    let mut nodes: Vec<(Node, Option<usize>)> = Vec::new();
    let mut known: HashMap<Node, usize> = HashMap::new();
    for config in semantics.initial().take(MOST) {
        options.budget.tick()?;
        let node = (config, vec![0; taken.len()]);
        known.insert(node.clone(), nodes.len());
        nodes.push((node, None));
    }
    let mut scratch = Vec::new();
    let mut number = 0;
    while number < nodes.len() && nodes.len() < MOST {
        options.budget.tick()?;
        options.budget.check_growth(known.len(), known.capacity(), size_of::<(Node, usize)>())?;
        let (config, done) = nodes[number].0.clone();
        let is_done = done.iter().zip(taken).all(|(done, all)| *done == all.len());
        if is_done && settles(semantics, &config, question) {
            let path = path(&nodes, number);
            let start = Snapshot::new(semantics, &nodes[path[0]].0.0);
            let steps = steps(semantics, &nodes, &path);
            return Ok(Some(Run { model, form, bound, start, steps }));
        }
        let _ = semantics.successors(&config, &mut scratch, &mut |step, next| {
            let mut done = done.clone();
            if let Some(id) = step.transition {
                let p = step.process.index();
                if taken[p].get(done[p]) != Some(&id) {
                    return;
                }
                done[p] += 1;
            }
            let node = (next.to_vec(), done);
            if !known.contains_key(&node) {
                known.insert(node.clone(), nodes.len());
                nodes.push((node, Some(number)));
            }
        });
        number += 1;
    }
    Ok(None)
}

/// The nodes on the way to one, from an initial one on.
fn path(nodes: &[(Node, Option<usize>)], end: usize) -> Vec<usize> {
    let mut path = vec![end];
    while let Some(before) = nodes[path[path.len() - 1]].1 {
        path.push(before);
    }
    path.reverse();
    path
}

/// The steps along a path.
fn steps(semantics: &dyn Semantics, nodes: &[(Node, Option<usize>)], path: &[usize]) -> Vec<Step> {
    let mut scratch = Vec::new();
    let mut steps = Vec::new();
    for pair in path.windows(2) {
        let ((from, before), (to, after)) = (&nodes[pair[0]].0, &nodes[pair[1]].0);
        let mut found = None;
        let _ = semantics.successors(from, &mut scratch, &mut |step, next| {
            let p = step.process.index();
            let moves = usize::from(step.transition.is_some());
            if next == to && before[p] + moves == after[p] {
                found.get_or_insert(step);
            }
        });
        steps.push(found.expect("it was reached from there"));
    }
    steps
}
