//! Models in Promela get the answers that they expect, under sequential consistency
//! the same ones from Spin, and what Weir writes as Promela it reads as the same
//! program.
//!
//! A line `// expect: MODEL PROPERTY VERDICT` names a verdict. What needs Spin and a C
//! compiler is skipped where they are not installed, and fails if `CI` is `true`. `WEIR_SPIN=100` compares that many
//! random models, from the seed `WEIR_SPIN_SEED` on; with `--nocapture` the test says how many formulas there were.

#[path = "promela/count.rs"]
mod count;
#[path = "promela/labels.rs"]
mod labels;
#[path = "promela/random.rs"]
mod random;
#[path = "promela/spin.rs"]
mod spin;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use weir::question::witness;
use weir::{ENGINES, Loaded, MemoryModel, Settings};
use weir_engine::{SearchOptions, Task};
use weir_gen::tools::is_slow;
use weir_model::ids::SpanId;
use weir_model::limits::Budget;
use weir_model::program::{Expr, Quantifier};
use weir_model::question::{Kind, Question};
use weir_model::system::{Failure, StateKind};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn models() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(root().join("corpus/promela"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "pml"))
        .collect();
    files.sort();
    files
}

fn load(name: &str, text: &str) -> Loaded {
    Loaded::from_text(name, text, Some(&weir_front::promela::LANGUAGE))
        .unwrap_or_else(|error| panic!("{}\nin\n{text}", error.render(false)))
}

/// The verdict for each property; every run is checked.
fn verdicts(name: &str, loaded: &Loaded, model: MemoryModel) -> BTreeMap<String, String> {
    let system = &loaded.system;
    let options = SearchOptions::default();
    let (answers, _) = ENGINES[0].check(Task::new(system, model, &options), &mut |_| {}).unwrap();
    let verdict = |answer: weir_model::answer::Answer| {
        let property = system.questions[answer.property.index()].name.clone();
        if let Some(witness) = witness(loaded, &answer) {
            weir_check::check(system, &witness)
                .unwrap_or_else(|e| panic!("{name}: `{property}` under {model}: {e}"));
        }
        (property, answer.verdict.name().to_owned())
    };
    answers.into_iter().map(verdict).collect()
}

/// The verdict for each formula about runs; every run is checked.
fn live_verdicts(name: &str, text: &str) -> BTreeMap<String, String> {
    let language = (Some(&weir_front::promela::LANGUAGE), &Settings::default());
    let loaded = Loaded::running(name, text, language, 2, &Budget::new())
        .unwrap_or_else(|error| panic!("{}\nin\n{text}", error.render(false)));
    let asked = weir::live::asked(&loaded.system.program, &[]);
    let options = weir_live::Options::new(MemoryModel::SC);
    let answers = weir::live::answers(&loaded, &asked, &options)
        .unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    let named = asked.into_iter().zip(answers);
    named.map(|(asked, answer)| (asked.name, answer.verdict.name().to_owned())).collect()
}

/// The expectations of a text: what becomes of each property under each model.
fn expectations(name: &str, text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut expected: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for line in text.lines().filter_map(|l| l.trim().strip_prefix("// expect:")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [model, property @ .., verdict] = words.as_slice() else {
            panic!("{name}: `{line}` is no expectation");
        };
        let of_model = expected.entry((*model).to_owned()).or_default();
        of_model.insert(property.join(" "), (*verdict).to_owned());
    }
    expected
}

#[test]
fn every_model_keeps_its_promise() {
    let files = models();
    assert!(files.len() >= 12, "only {} models", files.len());
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let loaded = load(name, &text);
        let expected = expectations(name, &text);
        assert!(["sc", "tso"].iter().all(|m| expected.contains_key(*m)), "{name}: SC and TSO?");
        for (model, expected) in expected {
            assert_eq!(
                verdicts(name, &loaded, model.parse().unwrap()),
                expected,
                "{name}, {model}"
            );
        }
    }
}

/// Spin says the same of every model under sequential consistency.
#[test]
fn spin_agrees_on_every_model() {
    if !spin::is_there() {
        return;
    }
    for path in models() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        compare(name, &text);
    }
}

/// Compares assertions, deadlocks and formulas.
fn compare(name: &str, text: &str) {
    if let Err(error) = differs(name, text, false) {
        panic!("{name}: {error}\n{text}");
    }
}

/// What was compared of formulas.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    /// Of those that are answered by `weir check`.
    states: usize,
    /// Models with as many states as in Spin, and with others.
    same: usize,
    other: usize,
    /// Of all.
    holds: usize,
    violated: usize,
}

impl Compared {
    fn add(&mut self, other: Self) {
        self.states += other.states;
        self.same += other.same;
        self.other += other.other;
        self.holds += other.holds;
        self.violated += other.violated;
    }
}

fn differs(name: &str, text: &str, is_counted: bool) -> Result<Compared, String> {
    let loaded = load(name, text);
    let found = verdicts(name, &loaded, MemoryModel::SC);
    let spin = spin::verify(text)?;
    let holds = |property: &str| found.get(property).map(|v| v == "holds");
    // Who asserts nothing, fails in nothing.
    if holds("assertions").unwrap_or(true) != spin.assertions {
        return Err(format!("assertions hold in Spin: {}", spin.assertions));
    }
    // Spin goes on after an assertion that it was told to ignore.
    if holds("no deadlock") != Some(spin.end_states) && spin.assertions {
        return Err(format!("end states are valid in Spin: {}", spin.end_states));
    }
    let mut compared = Compared::default();
    if is_counted && spin.assertions {
        let states = count::states(name, text);
        let is_same = states == Some(spin.states);
        let why = count::differs_because(name, text);
        if !is_same && why.is_none() {
            return Err(format!("{} states in Spin, {states:?} here", spin.states));
        }
        compared.same += usize::from(is_same);
        compared.other += usize::from(!is_same);
    }
    let about_runs = match spin.formulas.is_empty() || loaded.system.program.live.is_empty() {
        true => BTreeMap::new(),
        false => live_verdicts(name, text),
    };
    for (formula, expected) in &spin.formulas {
        compared.states += usize::from(found.contains_key(formula));
        let verdict = found.get(formula).or_else(|| about_runs.get(formula));
        let holds = match verdict.map(String::as_str) {
            Some("holds") => true,
            Some("violated") => false,
            other => {
                return Err(format!("`{formula}` is {other:?}, and holds in Spin: {expected}"));
            }
        };
        if holds != *expected {
            return Err(format!("`{formula}` holds in Spin: {expected}"));
        }
        compared.holds += usize::from(holds);
        compared.violated += usize::from(!holds);
    }
    Ok(compared)
}

/// Compares many models, two at a time; gives what differs.
fn compare_all(models: &[(String, String)], is_counted: bool) -> (Vec<String>, Compared) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = std::sync::Mutex::new((Vec::new(), Compared::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some((name, text)) = models.get(i) else { return };
                    let compared = differs(name, text, is_counted);
                    let (wrong, all) = &mut *found.lock().unwrap();
                    match compared {
                        Ok(compared) => all.add(compared),
                        Err(error) => wrong.push(format!("{name}: {error}\n{text}")),
                    }
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// Small models, each about a part of the language, of which Spin says the same: all of them with
/// `WEIR_SLOW=1`, and otherwise one of four.
#[test]
fn spin_agrees_on_the_suite() {
    if !spin::is_there() {
        return;
    }
    let mut models = Vec::new();
    for entry in fs::read_dir(root().join("corpus/promela/suite")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "pml") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            models.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    models.sort();
    assert!(models.len() >= 150, "only {} models", models.len());
    let part = if is_slow() { 1 } else { 4 };
    let models: Vec<_> = models.into_iter().step_by(part).collect();
    let (wrong, compared) = compare_all(&models, true);
    println!("{} models, {compared:?}", models.len());
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), models.len(), wrong.join("\n\n"));
    assert!(compared.same >= 150 / part, "{compared:?}");
}

/// What the models of the suite become can be printed and read, and is the same program then.
#[test]
fn the_suite_can_be_converted() {
    for entry in fs::read_dir(root().join("corpus/promela/suite")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "pml") {
            let text = fs::read_to_string(&path).unwrap();
            let loaded = load("suite", &text);
            let printed = weir_front::weir::print(&loaded.system.program);
            let again = Loaded::from_text("suite", &printed, Some(&weir_front::weir::LANGUAGE));
            let again = again.unwrap_or_else(|e| panic!("{}\n{printed}", e.render(false)));
            let twice = weir_front::weir::print(&again.system.program);
            assert_eq!(twice, printed, "{}", path.display());
            let here = verdicts("suite", &loaded, MemoryModel::SC);
            assert_eq!(verdicts("suite", &again, MemoryModel::SC), here, "{}", path.display());
        }
    }
}

/// A process may stay at an `end` label before a guard that begins with something local: no deadlock,
/// also where Spin is not there to say so.
#[test]
fn who_computes_before_it_waits_stays_at_its_label() {
    for name in ["end-guard-local", "end-guard-poll", "end-guard-registers"] {
        let path = root().join(format!("corpus/promela/suite/{name}.pml"));
        let text = fs::read_to_string(path).unwrap();
        // Without the label it is a deadlock.
        for (text, expected) in [(text.clone(), "holds"), (text.replace("end:", ""), "violated")] {
            let loaded = load(name, &text);
            for model in [MemoryModel::SC, MemoryModel::TSO] {
                let found = verdicts(name, &loaded, model);
                assert_eq!(found["no deadlock"], expected, "{name} under {model}: {text}");
            }
        }
    }
    let text = fs::read_to_string(root().join("corpus/promela/suite/labels-cover.pml")).unwrap();
    let found = verdicts("labels-cover", &load("labels-cover", &text), MemoryModel::SC);
    assert_eq!(found["always_somewhere"], "holds", "{found:?}");
    assert_eq!(found["not_all"], "violated", "{found:?}");
}

#[test]
fn spin_agrees_on_random_models() {
    let formulas = agrees_on(random::model, 60);
    // Formulas that all hold, or all do not, would not tell much.
    let Compared { states, holds, violated, .. } = formulas;
    let least = (holds + violated) / 5;
    if holds + violated >= 100 {
        assert!(holds >= least && violated >= least && states <= 2 * least, "{formulas:?}");
    }
}

#[test]
fn spin_agrees_on_random_models_about_labels() {
    let Compared { holds, violated, .. } = agrees_on(labels::model, 60);
    if holds + violated >= 100 {
        let least = (holds + violated) / 5;
        assert!(holds >= least && violated >= least, "{holds} hold, {violated} do not");
    }
}

/// Compares random models, `most` of them in CI.
fn agrees_on(model: impl Fn(u64) -> String, most: u64) -> Compared {
    if !spin::is_there() {
        return Compared::default();
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let in_ci = std::env::var("CI").is_ok_and(|v| v == "true");
    let count = number("WEIR_SPIN").unwrap_or(if in_ci { most } else { 20 });
    let first = number("WEIR_SPIN_SEED").unwrap_or(1);
    let model = |seed: u64| (format!("seed {seed}"), model(seed));
    let models: Vec<_> = (first..first + count).map(model).collect();
    let (mut wrong, formulas) = compare_all(&models, false);
    // A loop in `atomic` that does not end is no answer, and Spin refuses some jumps and `else`s.
    let refused = ["the search was cut short", "jump into d_step", "dubious use of 'else'"];
    let all = wrong.len();
    wrong.retain(|error| !refused.iter().any(|why| error.contains(why)));
    let skipped = all - wrong.len();
    println!("{count} models, {} differ, {skipped} are not compared; {formulas:?}", wrong.len());
    assert!(10 * skipped as u64 <= count + 10, "{skipped} of {count} are not compared");
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n\n"));
    formulas
}

/// Random models as they are, and as Weir writes them, have the same answers.
#[test]
fn what_is_written_as_promela_is_read_as_the_same() {
    let mut seen = BTreeSet::new();
    for seed in 1..=40 {
        let text = random::model(seed);
        let name = format!("seed {seed}");
        let mut loaded = load(&name, &text);
        // What is written never ends: its processes stay where they ended.
        let (quantifier, formula) = (Quantifier::Exists, Expr::Const(1));
        let kind = Kind::Final { quantifier, formula, filter: None };
        let ends = Question { name: "ends".to_owned(), kind, span: SpanId::NONE };
        loaded.system.questions.push(ends);
        let all = loaded.system.expanded(&Budget::new()).unwrap();
        let Some(written) = weir::report::promela::model(all) else { continue };
        // Where a `byte` is counted round and round, thousands of states are written.
        if written.len() > 40_000 {
            continue;
        }
        let found = verdicts(&name, &loaded, MemoryModel::SC);
        let holds = |property: &str| found.get(property).is_none_or(|v| v == "holds");
        let written = format!("{written}\n// weir: no deadlock\n// weir: assertions\n");
        let again = verdicts(&name, &load(&name, &written), MemoryModel::SC);
        let fails = !holds("assertions");
        assert_eq!(again["assertions"] == "violated", fails, "{name}\n{text}\n{written}");
        let stops = !holds("no deadlock") || found["ends"] == "holds";
        // A process that fails goes no further; one that waits takes steps when it is
        // written down, if it waits for several variables.
        let waits = all.process_ids().any(|p| all.all_transitions(p).any(|t| t.waits));
        if !fails && !waits {
            assert_eq!(again["no deadlock"] == "violated", stops, "{name}\n{text}\n{written}");
        }
        seen.insert((fails, stops));
    }
    assert!(seen.len() >= 3, "the models are too much alike: {seen:?}");
}

#[test]
fn an_index_outside_a_local_array_is_called_that() {
    for (body, index) in [
        ("byte i = 2; i = i + x; i = a[i]", 2),
        ("byte i = 3; i = i + x; a[i] = 1", 3),
        ("byte i = 5; i = i + x; atomic { x = a[i] }", 5),
        ("byte i = 4; i = i + x; atomic { a[i] == 0 -> x = 1 }", 4),
        ("int i; i = x - 1; if :: a[i] -> skip :: else fi", -1),
    ] {
        let text = format!("byte x; active proctype P() {{ byte a[2]; {body} }}");
        let loaded = load("array.pml", &text);
        let all = loaded.system.expanded(&Budget::new()).unwrap();
        let states = all.process_ids().flat_map(|p| all.states(p).map(move |s| (p, s)));
        let mut failures: Vec<_> = states
            .filter_map(|(p, s)| match &all.state(p, s).kind {
                StateKind::Failed(failure) => Some(failure.clone()),
                _ => None,
            })
            .collect();
        failures.dedup();
        assert_eq!(failures, [Failure::Index(index)], "{text}");
    }
}

#[test]
fn the_ending_or_the_first_words_tell() {
    let text = "byte x; active proctype P() { x = 1 }";
    for name in ["a.pml", "a.prom", "a.promela", "a.PML", "a.txt", "a"] {
        assert_eq!(weir_front::detect(name, text), &weir_front::promela::LANGUAGE, "{name}");
    }
    assert_eq!(weir_front::detect("a.weir", text), &weir_front::weir::LANGUAGE);
    for path in fs::read_dir(root().join("corpus"))
        .unwrap()
        .chain(fs::read_dir(root().join("examples")).unwrap())
    {
        let path = path.unwrap().path();
        if path.extension().is_some_and(|e| e == "weir") {
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(
                weir_front::detect("a", &text),
                &weir_front::weir::LANGUAGE,
                "{}",
                path.display()
            );
        }
    }
}
