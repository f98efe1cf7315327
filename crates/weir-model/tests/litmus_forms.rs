//! The operational forms of each model reach the same states in the litmus tests of the
//! repository.

use std::path::{Path, PathBuf};

use weir_model::memory_model::MemoryModel;
use weir_model::semantics::rewriting;
use weir_model::semantics::{Form, sufficient_bound};
use weir_model::system::System;

use crate::common::explore;

fn litmus() -> impl Iterator<Item = PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let files = std::fs::read_dir(folder).expect("the litmus tests are there");
    let paths = files.map(|f| f.expect("readable").path());
    paths.filter(|p| p.extension().is_some_and(|e| e == "litmus"))
}

fn read(path: &Path) -> System {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let name = path.to_string_lossy();
    let (program, _) = weir_front::read(&name, &text, None)
        .unwrap_or_else(|e| panic!("{}", e[0].render(&name, &text, false)));
    System::for_model(program, MemoryModel::SC).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

#[test]
fn all_forms_of_a_model_reach_the_same() {
    for path in litmus() {
        let system = read(&path);
        let name = path.display();
        for (shown, model) in MemoryModel::NAMED {
            let bound = sufficient_bound(&system);
            let expected = match bound {
                Some(_) => rewriting::reached(&system, model),
                None => explore(&system, model, Form::of(model)[0], 4).0,
            };
            for form in Form::of(model) {
                // Pointers that move on their own take a long time to do so.
                if form == Form::NswHistory && system.vars.len() > 2 {
                    continue;
                }
                let (found, _) = explore(&system, model, form, bound.unwrap_or(4));
                assert_eq!(found.finals, expected.finals, "{name} under {shown}: {form:?}");
                // Memory is ahead of the processes with load buffers; guesses
                // in a loop fill any buffer.
                if form != Form::LoadBuffers && bound.is_some() {
                    assert_eq!(found.states, expected.states, "{name} under {shown}: {form:?}");
                }
            }
        }
    }
}
