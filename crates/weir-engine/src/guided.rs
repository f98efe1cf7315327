//! A run whose processes take given transitions.
//!
//! Some engines determine which transitions each process takes, but not their
//! interleaving in the semantics in which runs are presented. The possible interleavings
//! are few, so they are searched breadth-first.

use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{Cell, TransitionId};
use weir_model::memory_model::MemoryModel;
use weir_model::question::Question;
use weir_model::semantics::{Form, Semantics, Step, bounded_guesses, has_bounded_guesses};
use weir_model::system::System;

use crate::explicit::settles;
use crate::stats::SearchOptions;
use crate::store::{Full, Store};

/// More configurations than these are not looked at.
const MAX_CONFIGURATIONS: usize = 1 << 20;

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
) -> Result<Option<Run>, Full> {
    let form = Form::of(model)[0];
    let bound = taken.iter().map(Vec::len).sum::<usize>() + 1;
    let semantics = match options.guesses.filter(|_| has_bounded_guesses(model)) {
        Some(guesses) => bounded_guesses(system, model, bound, guesses),
        None => form.semantics(system, model, bound),
    };
    let semantics = semantics.as_ref();
    // A node is the number of transitions that each process has taken, and a configuration.
    let n = taken.len();
    let mut store: Store = Store::within(&options.budget);
    let mut node: Vec<Cell> = vec![0; n];
    for config in semantics.initial().take(MAX_CONFIGURATIONS) {
        node.truncate(n);
        node.extend(config);
        store.insert(&node, None)?;
    }
    let (mut scratch, mut next_node) = (Vec::new(), Vec::new());
    while let Some(id) = store.take_next().filter(|_| store.len() < MAX_CONFIGURATIONS) {
        store.read(id, &mut node);
        let (done, config) = node.split_at(n);
        let is_done = done.iter().zip(taken).all(|(done, all)| *done as usize == all.len());
        if is_done && settles(semantics, config, question) {
            let path = store.path_to(id)?;
            let start = Snapshot::new(semantics, &path[0][n..]);
            let steps = path.windows(2).map(|pair| step(semantics, n, &pair[0], &pair[1]));
            return Ok(Some(Run { model, form, bound, start, steps: steps.collect() }));
        }
        let mut full = None;
        let _ = semantics.successors(config, &mut scratch, &mut |step, next| {
            next_node.clear();
            next_node.extend_from_slice(done);
            if let Some(transition) = step.transition {
                let p = step.process.index();
                if taken[p].get(done[p] as usize) != Some(&transition) {
                    return;
                }
                next_node[p] += 1;
            }
            next_node.extend_from_slice(next);
            full = full.take().or(store.insert(&next_node, Some(id)).err());
        });
        full.map_or(Ok(()), Err)?;
    }
    Ok(None)
}

/// The step between two nodes of so many processes.
fn step(semantics: &dyn Semantics, n: usize, from: &[Cell], to: &[Cell]) -> Step {
    let ((before, from), (after, to)) = (from.split_at(n), to.split_at(n));
    let mut found = None;
    let _ = semantics.successors(from, &mut Vec::new(), &mut |step, next| {
        let p = step.process.index();
        if next == to && before[p] + Cell::from(step.transition.is_some()) == after[p] {
            found.get_or_insert(step);
        }
    });
    found.expect("it was reached from there")
}
