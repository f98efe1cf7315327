//! The state in which a run ends: memory, and for each process where it stands, its registers
//! and what it has under way.

use std::collections::BTreeSet;
use weir_front::columns::pad;

use weir_model::answer::Run;

use super::{Layout, words};
use crate::load::Loaded;
use crate::report::scene::{Buffers, Entry, Scene, State};
use crate::report::table::hanging;

/// The last step of a run, if there is one, and the state after it.
pub fn lines(loaded: &Loaded, run: &Run, layout: Layout) -> Vec<String> {
    let scene = Scene::new(loaded, run, None);
    let mut state = scene.start.clone();
    scene.steps.iter().for_each(|step| state.apply(&scene, step));
    let mut lines = Vec::new();
    if let Some(step) = scene.steps.last() {
        let line = step.line.map_or(String::new(), |line| format!(" (line {line})"));
        let mut text = format!("step {}: {}: {}{line}", scene.steps.len(), step.process, step.text);
        let names: BTreeSet<&str> = step.overtakes.iter().map(|o| o.relaxation.as_str()).collect();
        for name in names {
            let steps = step.overtakes.iter().filter(|o| o.relaxation == name);
            let steps: Vec<String> = steps.map(|o| o.step.to_string()).collect();
            let word = if steps.len() == 1 { "step" } else { "steps" };
            text += &format!(", overtakes {word} {} [{name}]", steps.join(", "));
        }
        lines.extend(hanging(&text, 0, layout.width));
    }
    let memory: Vec<u32> = run.end(&loaded.system).memory.iter().map(|value| value.0).collect();
    let memory = words::memory(loaded, &memory, None, layout.full);
    let names = scene.processes.iter().map(|p| p.name.chars().count());
    let name = names.chain(["memory".len()]).max().unwrap_or(0).min(layout.width / 4);
    lines.extend(hanging(&format!("{}  {memory}", pad("memory", name)), 0, layout.width));
    for (i, actor) in scene.processes.iter().enumerate() {
        let process = &state.processes[i];
        let mut parts = vec![process.place.to_string()];
        parts.extend(actor.registers.iter().filter_map(|register| {
            let value = process.registers[register].as_ref()?;
            Some(format!("{register}={value}"))
        }));
        parts.extend(under_way(&scene, &state, i, layout.full));
        let text = format!("{}  {}", pad(&actor.name, name), parts.join("  "));
        lines.extend(hanging(&text, 0, layout.width));
    }
    lines
}

/// The buffers of a process, oldest entries first, and what it may still read.
fn under_way(scene: &Scene, state: &State, process: usize, full: bool) -> Vec<String> {
    let process = &state.processes[process];
    let queue = |entries: &[Entry]| {
        let show = |entry: &Entry| match (&entry.variable, &entry.value, entry.kind.as_str()) {
            (Some(x), Some(d), "write") => format!("{x}={d}"),
            (Some(x), Some(d), "read") => format!("{x}={d}?"),
            (Some(x), Some(d), kind) => format!("{kind} {x}={d}"),
            _ => entry.kind.clone(),
        };
        format!("[{}]", words::entries(entries.iter(), show, ", ", full))
    };
    let waiting = scene.variables.iter().filter_map(|x| process.waiting.get(x));
    let mut parts: Vec<String> = waiting.map(|entries| queue(entries)).collect();
    match (parts.is_empty(), process.buffer.is_empty()) {
        (_, true) => {}
        (true, false) if !scene.buffers.has_two_levels() => parts.push(queue(&process.buffer)),
        _ => parts.push(format!("next in line {}", queue(&process.buffer))),
    }
    if scene.buffers == Buffers::History {
        for (variable, position) in &process.positions {
            let values = &state.history[variable][*position..];
            if values.len() > 1 {
                let values = words::entries(values.iter(), String::clone, ", ", full);
                parts.push(format!("may read {variable}={values}"));
            }
        }
    }
    parts
}
