//! The bytes of a configuration are the same in every system of its program, whoever met its
//! control states and values first.

use std::collections::BTreeSet;

use weir_gen::{Rng, Shape, program};
use weir_model::ids::Cell;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::packed::{pack, unpack};
use weir_model::semantics::{Form, Semantics};
use weir_model::system::System;

/// More configurations are not compared.
const MOST: usize = 4000;

/// All configurations as bytes, met breadth first or depth first; `None` if there are many.
fn packed(semantics: &dyn Semantics, depth_first: bool) -> Option<BTreeSet<Vec<u8>>> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<Vec<Cell>> = semantics.initial().collect();
    let mut scratch = Vec::new();
    while !open.is_empty() {
        let at = if depth_first { open.len() - 1 } else { 0 };
        let config = open.remove(at);
        let mut bytes = Vec::new();
        pack(semantics, &config, &mut bytes);
        assert_eq!(unpack(semantics, &bytes), Some(config.clone()));
        if !seen.insert(bytes) {
            continue;
        }
        if seen.len() > MOST {
            return None;
        }
        let _ =
            semantics.successors(&config, &mut scratch, &mut |_, next| open.push(next.to_vec()));
    }
    Some(seen)
}

#[test]
fn bytes_do_not_depend_on_the_order_of_a_search() {
    let models = ["SC", "TSO", "PSO", "NSW", "tso+r->w", "tso+r->r/w", "nsw+rrwe", "w->r", "w->w"];
    let mut compared = vec![0; models.len()];
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let shape =
            Shape { statements: 3, types: true, indices: true, locals: true, ..Shape::default() };
        let program = program(&mut rng, &shape);
        for (name, compared) in models.iter().zip(&mut compared) {
            let model: MemoryModel = name.parse().unwrap();
            let system = || System::for_model(program.clone(), model);
            let (Ok(one), Ok(other)) = (system(), system()) else { continue };
            for form in Form::of(model) {
                let here = packed(form.semantics(&one, model, 3).as_ref(), false);
                let there = form.semantics(&other, model, 3);
                assert_eq!(here, packed(there.as_ref(), true), "seed {seed}, {form:?}");
                for bytes in here.into_iter().flatten() {
                    let cells = unpack(there.as_ref(), &bytes).expect("a configuration");
                    let mut again = Vec::new();
                    pack(there.as_ref(), &cells, &mut again);
                    assert_eq!(again, bytes, "seed {seed}, {form:?}");
                    *compared += 1;
                }
            }
        }
    }
    println!("{models:?}: {compared:?} configurations");
    assert!(compared.iter().all(|count| *count > 1000), "{compared:?}");
}

#[test]
fn other_bytes_are_no_configuration() {
    let text = "var x: u8 process p { reg r  r = x  x = r + 1 } process q { x = 2 }";
    let (program, _) = weir_front::read("p.weir", text, None).unwrap();
    let system = System::new(program).unwrap();
    let semantics = Form::of(MemoryModel::TSO)[0].semantics(&system, MemoryModel::TSO, 2);
    let mut bytes = Vec::new();
    pack(semantics.as_ref(), &semantics.initial().next().unwrap(), &mut bytes);
    for len in 0..bytes.len() {
        // A shorter one may be cells, but not as many.
        let cells = unpack(semantics.as_ref(), &bytes[..len]);
        assert!(cells.is_none_or(|cells| cells.len() < bytes.len()), "{len}");
    }
    for byte in 0..=255 {
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] = byte;
            let _ = unpack(semantics.as_ref(), &changed);
        }
    }
}
