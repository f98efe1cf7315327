//! How many states Spin has for a model, computed from the configurations of Weir.
//!
//! Every place of a process gets a label. A state of Spin is a configuration in which each process stands at
//! a place: Weir has more, because it may choose before it goes on. A process that has ended is still there, until the
//! younger ones are gone: that is another step, after which nobody knows what its variables held. So a
//! configuration whose last `n` processes have ended is `n + 1` states, which differ in how many of them are gone.

use std::collections::HashSet;

use weir::{MemoryModel, Settings};
use weir_model::ids::{LabelId, ProcessId, SpanId};
use weir_model::limits::Budget;
use weir_model::program::{Property, PropertyKind, Stmt, StmtKind};
use weir_model::system::{StateKind, System};

/// How many states there are; nothing if Weir cannot list them.
pub fn states(name: &str, text: &str) -> Option<usize> {
    let settings = Settings { places: true, ..Settings::default() };
    let language = Some(&weir_front::promela::LANGUAGE);
    let (mut program, _) = weir_front::read_with(name, text, language, &settings).ok()?;
    // A question about all places, so that none is left out.
    let all = program.processes.iter().enumerate();
    let except = all
        .flat_map(|(p, process)| {
            let is_place = |label: &LabelId| !is_end(&process.body, *label);
            let labels = (0..process.labels.len()).map(LabelId::new).filter(is_place);
            labels.map(|label| (ProcessId::new(p), label)).collect::<Vec<_>>()
        })
        .collect();
    program.properties =
        vec![Property { name: None, kind: PropertyKind::NoDeadlock(except), span: SpanId::NONE }];
    program.live.clear();
    program.observed = Some(program.everything());
    let system = System::new(program).ok()?;
    let found =
        weir_engine::reachable::configurations(&system, MemoryModel::SC, &Budget::new()).ok()?;
    let mut states = HashSet::new();
    for config in &found {
        if system.in_block(MemoryModel::SC, &config.controls).is_some() {
            continue;
        }
        let ended =
            |p: ProcessId| system.state(p, config.controls[p.index()]).kind == StateKind::Ended;
        // A process stands at a place with the values of its variables.
        let stand = |p: ProcessId| {
            let state = system.state(p, config.controls[p.index()]);
            let declared = system.program.processes[p.index()].registers.iter();
            let values = declared.zip(&state.registers).filter(|(r, _)| !r.temporary);
            let values: Vec<i128> = values.map(|(_, value)| *value).collect();
            (ended(p) || !state.labels.is_empty()).then(|| (state.labels.first().copied(), values))
        };
        let stands: Option<Vec<_>> = system.process_ids().map(stand).collect();
        let Some(mut left) = stands else { continue };
        states.insert((left.clone(), config.memory.clone()));
        while let Some(last) = left.len().checked_sub(1)
            && ended(ProcessId::new(last))
        {
            left.pop();
            states.insert((left.clone(), config.memory.clone()));
        }
    }
    Some(states.len())
}

/// Whether a process ends at a label, which is no place then.
fn is_end(body: &[Stmt], label: LabelId) -> bool {
    body.windows(2).any(|pair| {
        matches!(pair[0].kind, StmtKind::Label(l) if l == label)
            && matches!(pair[1].kind, StmtKind::Exit)
    })
}

/// Why the steps of a model are not those of Spin one by one, if they are not.
pub fn differs_because(name: &str, text: &str) -> Option<&'static str> {
    let has = |word: &str| text.contains(word);
    match name {
        _ if has("run ") => {
            Some("`init` is executed before the first state, and `run` sets variables")
        }
        _ if has("[0] of") => Some("variables say who waits for which message"),
        _ if name.starts_with("misfit") => {
            Some("a message that does not fit has no state of its own")
        }
        _ if has("timeout") || has("_nr_pr") => Some("what processes know is in memory"),
        _ => OTHERS.iter().find(|(other, _)| *other == name).map(|(_, why)| *why),
    }
}

/// Models with reasons of their own.
const OTHERS: &[(&str, &str)] = &[
    ("decl-scopes", "a declaration with a value in an inner block is a step in Spin"),
    ("priority-ignored", "Spin heeds priorities"),
    ("provided", "in Spin a process is gone only while its `provided` holds"),
    ("semicolon-before-brace", "one state less here; the answers are the same"),
];
