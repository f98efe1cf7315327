//! Programs of which something is proved, for tests that tamper with the proof, and a search that leaves nothing out.

use std::collections::{BTreeSet, HashSet};

use weir_model::ids::Cell;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::Form;
use weir_model::system::System;

/// What a search finds that takes every step and stores every configuration.
pub struct Whole {
    /// Whether a reachable configuration settles each question.
    pub settled: Vec<bool>,
    /// The values of everything in the final states.
    pub finals: BTreeSet<Vec<i128>>,
    /// Whether no step was left out because of the bound.
    pub is_complete: bool,
}

/// Takes every step; `None` if there are too many configurations.
pub fn whole(system: &System, model: MemoryModel, bound: usize) -> Option<Whole> {
    let semantics = Form::of(model)[0].semantics(system, model, bound);
    let mut seen: HashSet<Vec<Cell>> = semantics.initial().collect();
    let mut open: Vec<Vec<Cell>> = seen.iter().cloned().collect();
    let (mut settled, mut finals) = (vec![false; system.questions.len()], BTreeSet::new());
    let atoms = system.program.everything();
    let (mut is_complete, mut scratch) = (true, Vec::new());
    while let Some(config) = open.pop() {
        let (controls, memory) = (semantics.controls(&config), semantics.memory(&config));
        let is_drained = semantics.is_drained(&config);
        for (settled, question) in settled.iter_mut().zip(&system.questions) {
            *settled |= question.is_settled(system, controls, memory)
                && (!question.is_about_rest() || is_drained);
        }
        if is_drained && system.all_ended(controls) {
            finals.insert(atoms.iter().map(|a| system.atom(*a, controls, memory)).collect());
        }
        is_complete &= semantics.successors(&config, &mut scratch, &mut |_, next| {
            if seen.insert(next.to_vec()) {
                open.push(next.to_vec());
            }
        });
        if seen.len() > 60_000 {
            return None;
        }
    }
    Some(Whole { settled, finals, is_complete })
}

/// Peterson's lock with the fences that NSW needs.
pub const FENCED: &str = "
    var flag[2]: bool
    var turn: 0..1
    process p[i: 0..1] {
        loop {
            flag[i] = true
            wfence
            turn = 1 - i
            fence
            await not flag[1 - i] or turn == i
            rfence
        critical:
            nop
            flag[i] = false
        }
    }
    mutex: never p[0]@critical and p[1]@critical
";

/// A message that is handed over again and again.
pub const HANDOVER: &str = "
    var data: 0..2
    var flag: bool
    process writer {
        loop {
            data = 1
            data = 2
            wfence
            flag = true
            await not flag
        }
    }
    process reader {
        reg r
        loop {
            await flag
            rfence
            r = data
        seen:
            nop
            flag = false
        }
    }
    whole: never reader@seen and reader.r != 2
";

/// Past 128 bits it is not known how this goes on.
pub const DOUBLING: &str = "
    var x = 1
    process p {
        loop {
            x = x * 2
            fence
        }
    }
    never x == 3
";

pub fn system(text: &str) -> System {
    System::new(weir_front::read("test.weir", text, None).unwrap().0).unwrap()
}
