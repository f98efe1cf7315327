//! A search for the states that a semantics reaches.

use std::collections::HashSet;

use weir_model::ids::{Cell, StateId, ValueId};
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::Form;
use weir_model::semantics::rewriting::Reached;
use weir_model::system::System;

/// Plain search, sharing nothing with the engines: what one form of a model reaches with
/// buffers up to a bound, and whether the bound was never in the way.
pub fn explore(system: &System, model: MemoryModel, form: Form, bound: usize) -> (Reached, bool) {
    let semantics = form.semantics(system, model, bound);
    let mut seen: HashSet<Vec<Cell>> = semantics.initial().collect();
    let mut work: Vec<Vec<Cell>> = seen.iter().cloned().collect();
    let mut reached = Reached::default();
    let mut scratch = Vec::new();
    let mut is_complete = true;
    while let Some(config) = work.pop() {
        let controls = semantics.controls(&config);
        let memory: Vec<_> = semantics.memory(&config).iter().map(|&v| ValueId(v)).collect();
        let states: Vec<_> = controls.iter().map(|&s| StateId(s)).collect();
        if semantics.is_settled(&config) {
            reached.states.insert((states.clone(), memory.clone()));
        }
        if semantics.is_drained(&config) && system.all_ended(controls) {
            reached.finals.insert((states, memory));
        }
        let complete = semantics.successors(&config, &mut scratch, &mut |_, next| {
            if seen.insert(next.to_vec()) {
                work.push(next.to_vec());
            }
        });
        is_complete &= complete;
    }
    (reached, is_complete)
}
