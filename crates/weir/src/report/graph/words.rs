//! What is under way and what happens, in words.

use weir_engine::graph::{Buffer, Graph, Happening};
use weir_model::answer::{ViewParts, Words};
use weir_model::ids::{ProcessId, ValueId, VarId};
use weir_model::semantics::{Event, EventKind};
use weir_model::system::System;

use super::regex;

/// What a process has under way.
pub fn buffer(system: &System, graph: &Graph, buffer: &Buffer) -> String {
    match buffer {
        Buffer::Events(events) if events.is_empty() => "ε".to_owned(),
        Buffer::Events(events) => events.iter().map(|e| event(system, *e)).collect(),
        Buffer::Language(automaton) => {
            let letter = |var, value| store(system, var, value);
            let states = automaton.states.len();
            regex::of(automaton, &letter)
                .unwrap_or_else(|| format!("an automaton of {states} states"))
        }
        Buffer::View(parts) => view(system, &graph.letters, parts),
    }
}

/// What happens in a step of a process.
pub fn happening(system: &System, process: ProcessId, happening: &Happening) -> String {
    match happening {
        Happening::Take(id) => system.show_op(system.transition(process, *id).op),
        Happening::Rule(rule, under_way) => {
            let under_way = under_way.map_or(String::new(), |e| event(system, e));
            format!("{} {under_way}", rule.name()).trim_end().to_owned()
        }
        Happening::Commit(var, value) => format!("commit {}", store(system, *var, *value)),
        Happening::Enter(var, value) => format!("enters {}", store(system, *var, *value)),
    }
}

/// A store as the papers write it: `(x,1)`.
fn store(system: &System, var: VarId, value: ValueId) -> String {
    format!("({},{})", system.vars[var.index()].name, system.show_value(var, value))
}

/// Something under way; what is not a store says what it is.
fn event(system: &System, event: Event) -> String {
    let store = store(system, event.var, event.value);
    match event.kind {
        EventKind::Write => store,
        EventKind::Read => format!("r{store}"),
        EventKind::WriteFence => "(wfence)".to_owned(),
        EventKind::ReadFence => "(rfence)".to_owned(),
        EventKind::Load => format!("load{store}"),
        EventKind::Own => format!("own{store}"),
    }
}

/// What a process sees: what may come, its own writes among it.
fn view(system: &System, letters: &[Vec<Option<ValueId>>], view: &ViewParts) -> String {
    let letter = |l: u32| {
        let known = letters[l as usize].iter().enumerate();
        known.filter_map(|(x, v)| Some(store(system, VarId::new(x), (*v)?))).collect()
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
        let last = store(system, *x, *last);
        parts.push(format!("waits: {} {last}", set(words, &value(*x))));
    }
    parts.retain(|p| !p.is_empty());
    if parts.is_empty() { "ε".to_owned() } else { parts.join("; ") }
}
