//! Runs state by state, and their pictures.
//!
//! The scene of a run has the states of its replay: on random programs, walked at random, under
//! models of every form.

use std::collections::BTreeSet;

use weir::Loaded;
use weir::report::picture::Picture;
use weir::report::scene::{Buffers, Entry, Scene, State};
use weir_front::Source;
use weir_gen::{Rng, Shape, program, setting};
use weir_model::answer::{Replay, Run, Snapshot};
use weir_model::ids::{RegId, StateId, ValueId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::semantics::{Event, EventKind, Form};
use weir_model::system::System;

const MODELS: [MemoryModel; 8] = [
    MemoryModel::SC,
    MemoryModel::TSO,
    MemoryModel::PSO,
    MemoryModel::NSW,
    MemoryModel::GUESS,
    MemoryModel::GUESS_WW,
    MemoryModel::TSO.with(Relaxation::ReadWrite),
    MemoryModel::NSW.with(Relaxation::Rrwe),
];

/// A random run of at most so many steps.
fn walk(rng: &mut Rng, system: &System, model: MemoryModel, form: Form, most: usize) -> Run {
    let bound = 6;
    let semantics = form.semantics(system, model, bound);
    let mut config = semantics.initial().next().unwrap();
    let start = Snapshot::new(&*semantics, &config);
    let mut steps = Vec::new();
    while steps.len() < most {
        let mut next = Vec::new();
        let _ = semantics.successors(&config, &mut Vec::new(), &mut |step, to| {
            next.push((step, to.to_vec()));
        });
        if next.is_empty() {
            break;
        }
        let (step, to) = next.swap_remove(rng.below(next.len()));
        steps.push(step);
        config = to;
    }
    Run { model, form, bound, start, steps }
}

fn shown(system: &System, event: Event) -> (String, Option<String>, Option<String>) {
    let kind = match event.kind {
        EventKind::Write => "write",
        EventKind::Read => "read",
        EventKind::WriteFence => "write fence",
        EventKind::ReadFence => "read fence",
        EventKind::Load => "load",
        EventKind::Own => "own",
    };
    let place = (!event.is_fence()).then_some(event);
    (
        kind.to_owned(),
        place.map(|e| system.vars[e.var.index()].name.clone()),
        place.map(|e| system.show_value(e.var, e.value)),
    )
}

fn parts(entry: &Entry) -> (String, Option<String>, Option<String>) {
    (entry.kind.clone(), entry.variable.clone(), entry.value.clone())
}

/// Checks that a state of a scene is the configuration of the replay.
fn agree(system: &System, scene: &Scene, state: &State, replay: &Replay<'_>) {
    for (x, variable) in scene.variables.iter().enumerate() {
        let value = ValueId(replay.memory()[x]);
        assert_eq!(state.memory[variable], system.show_value(VarId::new(x), value));
        if let Some(values) = state.history.get(variable) {
            assert_eq!(values.last(), Some(&state.memory[variable]));
        }
    }
    let (pending, transferred, unread) = (replay.pending(), replay.transferred(), replay.unread());
    for (i, p) in system.process_ids().enumerate() {
        let process = &state.processes[i];
        let control = StateId(replay.controls()[i]);
        let registers = &system.program.processes[i].registers;
        for (r, register) in registers.iter().enumerate().filter(|(_, r)| !r.temporary) {
            let value = system.state(p, control).registers[r];
            let kept = system.keeps(p, control, RegId::new(r));
            let value = kept.then(|| system.program.show_value(register.domain, value));
            assert_eq!(process.registers[&register.name], value);
        }
        // With two levels the queue for all comes first, then those of the variables in order.
        let mut entries: Vec<&Entry> = process.buffer.iter().collect();
        if let Some(transferred) = &transferred {
            assert_eq!(entries.len(), transferred[i]);
        }
        entries.extend(scene.variables.iter().filter_map(|x| process.waiting.get(x)).flatten());
        let mut found: Vec<_> = entries.into_iter().map(parts).collect();
        let mut expected: Vec<_> = pending[i].iter().map(|e| shown(system, *e)).collect();
        if scene.buffers == Buffers::Pool {
            found.sort();
            expected.sort();
        }
        assert_eq!(found, expected);
        if scene.buffers == Buffers::History {
            let unread = &unread.as_ref().unwrap()[i];
            assert_eq!(process.positions.len(), unread.len());
            for (x, count) in unread {
                let name = &scene.variables[x.index()];
                assert_eq!(process.positions[name], state.history[name].len() - 1 - count);
            }
        }
    }
}

#[test]
fn scenes_are_replays() {
    let mut rng = Rng::new(setting("WEIR_SEED", 19));
    let mut seen = BTreeSet::new();
    let mut overtakes = 0;
    for _ in 0..setting("WEIR_CASES", 60) {
        let program = program(&mut rng, &Shape::default());
        let source = Source::new("random.weir", "");
        let Ok(system) = System::new(program) else { continue };
        let loaded = Loaded { source, system };
        for model in MODELS {
            for form in Form::of(model) {
                let run = walk(&mut rng, &loaded.system, model, form, 40);
                let scene = Scene::new(&loaded, &run, None);
                let text = serde_json::to_string(&scene).unwrap();
                assert_eq!(serde_json::from_str::<Scene>(&text).unwrap(), scene);
                assert_eq!(scene.steps.len(), run.steps.len());
                let mut replay = run.replay(&loaded.system);
                let mut ids = BTreeSet::new();
                for (number, state) in scene.states().enumerate() {
                    if number > 0 {
                        replay.advance().unwrap();
                        let step = &scene.steps[number - 1];
                        // An identity is new when it enters.
                        assert!(step.enters.iter().all(|e| ids.insert(e.id)));
                        assert!(step.leaves.iter().all(|id| ids.contains(id)));
                        seen.insert(step.rule.clone());
                        overtakes += step.overtakes.len();
                        assert!(step.overtakes.iter().all(|o| {
                            o.step < number && scene.steps[o.step - 1].process == step.process
                        }));
                    }
                    agree(&loaded.system, &scene, &state, &replay);
                }
            }
        }
    }
    assert!(overtakes > 0);
    for rule in ["update", "transfer write", "read history", "validate", "propagate"] {
        assert!(seen.contains(rule), "no run has a step `{rule}`");
    }
}

/// Names that mean something to readers of pictures, if they are not escaped.
const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"'&amp;]]>--",
    "\u{202e}\u{1b}[31m\u{0}\u{ffff}",
    "שלום",
    "\\input{x}$^_%#~{}",
    "<![CDATA[",
];

/// The texts of an SVG file, and that it has no elements but those of a picture.
fn texts(svg: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        assert!(["svg", "title", "rect", "path", "text"].contains(&name), "{tag}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        for entity in text.split('&').skip(1) {
            let (entity, _) = entity.split_once(';').expect("an entity ends");
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&entity), "{entity}");
        }
        let is_allowed = |c: char| c == '\n' || !c.is_control() && c < '\u{fffe}';
        assert!(text.chars().all(is_allowed), "{text:?}");
        found.push(text.trim().to_owned());
    }
    found
}

#[test]
fn pictures_are_safe() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/store-buffering.weir");
    let text = std::fs::read_to_string(path).unwrap();
    for model in [MemoryModel::TSO, MemoryModel::NSW] {
        let loaded = Loaded::for_model("sb.weir", &text, model).unwrap();
        let options = weir_engine::SearchOptions::default();
        let (answers, _) = weir::solver::check(&loaded.system, model, &options).unwrap();
        let scene = scene_of(&loaded, &answers[0]);
        let shown = serde_json::to_string(&scene).unwrap();
        let long = "x".repeat(2000);
        for name in HOSTILE.into_iter().chain([long.as_str()]) {
            // Another name for the variable `x`, everywhere.
            let quoted = serde_json::to_string(name).unwrap();
            let shown = shown.replace("\"x\"", &quoted).replace("\"p\"", &quoted);
            let scene: Scene = serde_json::from_str(&shown).unwrap();
            let picture = Picture::new(&scene, name, false);
            let texts = texts(&picture.svg());
            assert!(texts.iter().any(|t| t == "w-&gt;r"), "{texts:?}");
            assert!(picture.svg().len() < 20_000, "{}", picture.svg().len());
            let tikz = picture.tikz();
            let mut lines = tikz.lines().filter(|line| !line.starts_with('%'));
            assert!(
                lines.all(|line| line.starts_with('\\') && !line.contains("\\input")),
                "{tikz}"
            );
        }
    }
}

#[test]
fn long_runs_are_drawn_in_part() {
    let text = "var x, y process p { reg i = 0 while i < 70 { x = i i = i + 1 } y = 1 } \
                process q { await y == 1 } last: final never y == 1";
    let model = MemoryModel::TSO;
    let loaded = Loaded::for_model("long.weir", text, model).unwrap();
    let options = weir_engine::SearchOptions::default();
    let (answers, _) = weir::solver::check(&loaded.system, model, &options).unwrap();
    let scene = scene_of(&loaded, &answers[0]);
    assert!(scene.steps.len() > 100);
    let rows = |full| {
        let svg = Picture::new(&scene, "long", full).svg();
        texts(&svg).iter().filter(|t| t.ends_with("reaches memory")).count()
    };
    let updates = scene.steps.iter().filter(|s| s.rule == "update").count();
    assert_eq!(rows(true), updates);
    assert!(rows(false) < 31, "{}", rows(false));
}

fn scene_of(loaded: &Loaded, answer: &weir_model::answer::Answer) -> Scene {
    let weir_model::answer::Evidence::Run(run) = &answer.evidence else { panic!("{answer:?}") };
    Scene::new(loaded, run, None)
}
