//! `weir reduce`: the machines and the library of cyclic instances of Post's problem.

use crate::common;

use std::collections::BTreeMap;

use common::{Output, root, weir, weir_reading};
use serde_json::Value;
use weir_channel::explicit::{Again, again};
use weir_channel::semantics::Semantics;
use weir_channel::text::show_transition;
use weir_channel::{Machine, SearchOptions};
use weir_check::lasso;
use weir_gen::{Rng, setting};
use weir_live::{Options, Question};
use weir_model::answer::{Run, Snapshot, Verdict};
use weir_model::ids::{Cell, ProcessId, StateId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{Form, Step};
use weir_model::system::{Op, System};
use weir_theory::{cpcp, pcp};

fn piped(args: &[&str], text: &str) -> Output {
    weir_reading(args, text.as_bytes())
}

/// What `weir reduce cpcp` prints of pairs.
fn reduced(pairs: &str, to: &str) -> String {
    let output = piped(&["reduce", "cpcp", "-", "--to", to], pairs);
    assert_eq!(output.status, 0, "{}", output.err);
    output.out
}

/// What `weir` answers as JSON.
fn asked(args: &[&str], text: &str) -> (u8, Value) {
    let output = piped(args, text);
    let report = serde_json::from_str(&output.out);
    (output.status as u8, report.unwrap_or_else(|e| panic!("{e}: {}", output.err)))
}

#[test]
fn everything_that_is_printed_is_read() {
    for pairs in ["a a", "ab ba", "ab a\nc bc", "a b", "0 1\nxY zz"] {
        for to in ["machine", "one-channel"] {
            let text = reduced(pairs, to);
            let comments = text.lines().take_while(|line| line.starts_with("//")).count();
            assert_eq!(comments, 2, "the question: {text}");
            let machine: Vec<&str> = text.lines().skip(comments).collect();
            let shown = piped(&["channel", "show", "-"], &text).out;
            assert_eq!(shown.lines().collect::<Vec<_>>(), machine);
        }
        let (object, _) = weir_front::weir::read("library", &reduced(pairs, "library")).unwrap();
        let printed = weir_front::weir::print(&object);
        let (again, _) = weir_front::weir::read("again", &printed).unwrap();
        assert_eq!(weir_front::weir::print(&again), printed);
    }
    assert_eq!(piped(&["reduce", "cpcp", "-"], "a a").out, reduced("a a", "library"));
}

#[test]
fn examples_are_what_is_printed() {
    let files =
        [("rotation.pcp", "machine", "rotation.chm"), ("single.pcp", "library", "single.weir")];
    for (instance, to, printed) in files {
        let [instance, printed] = [instance, printed].map(|f| format!("examples/cpcp/{f}"));
        let output = weir(&["reduce", "cpcp", &instance, "--to", to]);
        assert_eq!(
            output.out,
            std::fs::read_to_string(root().join(&printed)).unwrap(),
            "{printed}"
        );
    }
}

#[test]
fn wrong_input_has_a_place() {
    let output = piped(&["reduce", "cpcp", "-"], "a b\nab");
    assert_eq!(output.status, 2);
    assert!(output.err.contains("there is only one word here"), "{}", output.err);
    assert!(output.err.contains("2"), "{}", output.err);
    let output = weir(&["reduce", "cpcp", "examples/nothing.pcp"]);
    assert_eq!(output.status, 2);
    let long = format!("{0} {0}", "abcdefghij".repeat(10));
    let many = vec![long; 100].join("\n");
    for to in ["one-channel", "library"] {
        let output = piped(&["reduce", "cpcp", "-", "--to", to], &many);
        assert_eq!(output.status, 2);
        assert!(output.err.contains("too large"), "{}", output.err);
    }
}

#[test]
fn machines_are_asked_for_visits() {
    let args = ["channel", "run", "-", "--lossy", "--again", "s1", "--format", "json", "--bound"];
    let ask = |pairs, to, bound| asked(&[&args[..], &[bound]].concat(), &reduced(pairs, to));
    let (status, report) = ask("ab ba", "machine", "3");
    assert_eq!((status, &report["findings"][0]["outcome"]), (1, &Value::from("visited")));
    assert_eq!(report["findings"][0]["details"]["cycle"].as_array().unwrap().len(), 4);
    let (status, report) = ask("ab ba", "machine", "2");
    assert_eq!((status, &report["findings"][0]["outcome"]), (3, &Value::from("unknown")));
    let (status, _) = ask("a a", "one-channel", "4");
    assert_eq!(status, 1);
    let (status, report) = ask("a b", "one-channel", "5");
    assert_eq!(status, 3);
    assert!(report["findings"][0]["reason"].as_str().unwrap().contains("up to 5"), "{report}");
}

/// Without buffers what is written to `y1` is lost while `M1` writes `x1`, so no simulation
/// gets anywhere, and all calls return.
#[test]
fn libraries_under_sc() {
    for pairs in ["a a", "ab ba", "a b"] {
        let args = ["live", "-", "--model", "sc", "--format", "json"];
        let (status, report) = asked(&args, &reduced(pairs, "library"));
        assert_eq!(status, 0, "{pairs}: {report}");
        for property in report["findings"].as_array().unwrap() {
            assert_eq!(property["verdict"], "holds", "{pairs}: {property}");
        }
    }
}

/// A library, its system with two clients, and what its rules are called in it.
struct Library {
    text: String,
    system: System,
    /// For each of `x1`, `y1`, `x2` and `y2`, and for `failSimu`.
    vars: [VarId; 5],
    /// The values of rules, by the text of their transitions.
    rules: BTreeMap<String, i128>,
}

impl Library {
    fn of(pairs: &str) -> Self {
        let text = reduced(pairs, "library");
        let (object, _) = weir_front::weir::read("library", &text).unwrap();
        let system = System::with_rounds(object.with_clients(2).unwrap()).unwrap();
        let symbols = text.split_once("enum Symbol {").unwrap().1.split_once('}').unwrap().0;
        let symbols: Vec<&str> = symbols.split(',').map(str::trim).collect();
        let rules = text.lines().filter_map(|line| {
            let (name, rule) = line.strip_prefix("//     ")?.split_once(": ")?;
            let value = symbols.iter().position(|s| *s == name)?;
            Some((rule.to_owned(), value as i128))
        });
        let rules = rules.collect();
        let var = |name: &str| {
            let place = system.vars.iter().position(|v| v.name == name).unwrap();
            VarId::new(place)
        };
        let vars = ["x1", "y1", "x2", "y2", "failSimu"].map(var);
        Self { text, system, vars, rules }
    }

    /// Runs `M1` on the first client and `M2` on the second so that they take the
    /// transitions of a machine one after the other, and nothing is lost: a client reads
    /// a variable only if something new is there, and that is flushed only if a client
    /// is about to read it. Gives the run and, for each transition, how many steps
    /// have been taken when it was guessed.
    fn follow(&self, transitions: &[i128]) -> Option<(Run, Vec<usize>)> {
        let bound = 1000;
        let semantics = Form::Tso.semantics(&self.system, MemoryModel::TSO, bound);
        let start = semantics.initial().next().expect("one initial configuration");
        let mut taken: Vec<Step> = Vec::new();
        let mut guessed: Vec<usize> = Vec::new();
        let first = At { config: start.clone(), fresh: [false; 4], guessed: 0 };
        let mut work: Vec<(usize, Option<Step>, At)> = vec![(0, None, first)];
        while let Some((depth, step, at)) = work.pop() {
            taken.truncate(depth.saturating_sub(1));
            taken.extend(step);
            guessed.truncate(at.guessed);
            if guessed.len() < at.guessed {
                guessed.push(taken.len());
            }
            if at.guessed == transitions.len() {
                let start = Snapshot::new(&*semantics, &start);
                let (model, form) = (MemoryModel::TSO, Form::Tso);
                return Some((Run { model, form, bound, start, steps: taken }, guessed));
            }
            let mut next: [Vec<(Step, At)>; 4] = Default::default();
            let all = semantics.successors(&at.config, &mut vec![], &mut |step, config| {
                let owner = step.process.index();
                let class = if step.transition.is_some() { owner } else { 2 + owner };
                let after = self.after(&at, step, config, transitions);
                next[class].extend(after.map(|after| (step, after)));
            });
            assert!(all, "buffers are long enough");
            // One client goes on as long as it can, and only then something is flushed.
            let choices = next.into_iter().find(|choices| !choices.is_empty());
            let choices = choices.into_iter().flatten();
            work.extend(choices.map(|(step, after)| (depth + 1, Some(step), after)));
        }
        None
    }

    /// What a step leads to, if it is one of a run as it should be.
    fn after(&self, at: &At, step: Step, config: &[Cell], wanted: &[i128]) -> Option<At> {
        let mut after = At { config: config.to_vec(), ..at.clone() };
        let client = step.process.index();
        let channel = |var: VarId| self.vars[..4].iter().position(|v| *v == var);
        // `x1` and `x2` are written by the first client and read by the second.
        let is_writer = |channel: usize| channel % 2 == client;
        let op = step.transition.map(|t| self.system.transition(step.process, t).op);
        match (op, step.event) {
            (Some(Op::Read(var, _)), _) => {
                if let Some(channel) = channel(var) {
                    if is_writer(channel) || !at.fresh[channel] {
                        return None;
                    }
                    after.fresh[channel] = false;
                }
            }
            (Some(Op::Write(var, value)), _) => {
                let value = self.system.value(var, value);
                let is_rule = self.rules.values().any(|rule| *rule == value);
                if var == self.vars[4] || channel(var).is_some_and(|c| !is_writer(c)) {
                    return None;
                }
                if channel(var) == Some(0) && is_rule {
                    if wanted.get(at.guessed) != Some(&value) {
                        return None;
                    }
                    after.guessed += 1;
                }
            }
            (None, Some(event)) => {
                if let Some(channel) = channel(event.var) {
                    if at.fresh[channel] || !self.reads(1 - client, config, event.var) {
                        return None;
                    }
                    after.fresh[channel] = true;
                }
            }
            _ => {}
        }
        Some(after)
    }

    /// Whether a client is about to read a variable.
    fn reads(&self, client: usize, config: &[Cell], var: VarId) -> bool {
        let (process, at) = (ProcessId::new(client), StateId(config[client]));
        let mut here = self.system.expanded(&Budget::new()).unwrap().transitions(process, at);
        here.any(|(_, t)| matches!(t.op, Op::Read(x, _) if x == var))
    }
}

#[derive(Clone)]
struct At {
    config: Vec<Cell>,
    /// For each of `x1`, `y1`, `x2` and `y2`: it has changed, and nobody has read it.
    fresh: [bool; 4],
    /// How many transitions have been guessed.
    guessed: usize,
}

/// Theorem 1, one way round: a cycle of the machine is a run of the library in which
/// nobody returns, and it violates all four properties, with flush fairness too.
#[test]
fn cycles_of_machines_are_lassos_of_libraries() {
    let cases = [("a a", 4, (2187, 1739, 14)), ("a b\nb a", 6, (10453, 7518, 18))];
    for (pairs, bound, lengths) in cases {
        let machine = cpcp::machine(&pcp::read(pairs).unwrap()).unwrap();
        let machine = cpcp::one_channel(&machine).unwrap();
        let s1 = machine.state(cpcp::AGAIN).unwrap();
        let options = SearchOptions { bound: Some(bound), ..SearchOptions::default() };
        let (answer, _) = again(&machine, Semantics::Perfect, s1, &options, &mut |_| {});
        let Again::Visited(found) = answer else { panic!("{pairs}: {answer:?}") };
        let library = Library::of(pairs);
        let (stem, cycle) = found.run.steps.split_at(found.stem);
        let value = |t: &weir_channel::semantics::Step| {
            library.rules[&show_transition(&machine, t.transition)]
        };
        // The second round comes back to where it began, and then the guess that ends it.
        let steps = stem.iter().chain(cycle).chain(cycle).chain(&cycle[..1]);
        let steps: Vec<i128> = steps.map(value).collect();
        let (run, guessed) = library.follow(&steps).unwrap_or_else(|| panic!("{pairs}"));
        let [begin, end] = [1, 2].map(|rounds| guessed[stem.len() + rounds * cycle.len()]);
        let run = Run { steps: run.steps[..end].to_vec(), ..run };
        let mut replay = run.replay(&library.system);
        let (mut held, mut at_begin) = (0, None);
        while replay.advance().is_some() {
            held = held.max(replay.pending().iter().map(Vec::len).max().unwrap_or(0));
            if replay.taken() == begin {
                at_begin = Some(replay.snapshot());
            }
        }
        assert_eq!(at_begin, Some(replay.snapshot()), "{pairs}");
        let (object, _) = weir_front::weir::read("library", &library.text).unwrap();
        // Fair runs are scheduled, and where nobody returns not everybody does: the last
        // property is violated only if all are. The small lasso is asked all of them.
        let properties = ["wait-free", "lock-free", "starvation-free", "deadlock-free"];
        let first = if pairs == "a a" { 0 } else { 3 };
        for property in &properties[first..] {
            let asked = lasso::Asked::Progress((*property).to_owned());
            let file =
                lasso::Lasso::new(&library.system, Some(2), asked, true, (&run, begin), &|_| 0);
            assert_eq!(lasso::check(&object, &file), Ok(()), "{pairs}: {property}");
        }
        assert_eq!((begin, end - begin, held), lengths, "{pairs}");
    }
}

/// What `weir live` says of the program of a machine: whether a state is visited infinitely often.
fn visited_by_program(machine: &Machine, state: weir_channel::StateId) -> Option<bool> {
    let program = weir_theory::program::again(machine, &[state]).unwrap();
    let printed = weir_front::weir::print(&program);
    let (read, _) = weir_front::weir::read("machine", &printed).unwrap();
    assert_eq!(weir_front::weir::print(&read), printed);
    let system = System::with_rounds(read).unwrap();
    let question = Question::Live(&system.program.live[0].kind);
    let mut options = Options::new(MemoryModel::TSO);
    options.search.bound = Some(3);
    options.search.budget = Budget::new().with_store(1 << 23);
    let answer = &weir_live::answers(&system, &[question], &options)[0];
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown => None,
    }
}

/// Theorem 3 of Atig et al. 2010 for repeated reachability: a lossy machine and its program have
/// the same answer.
#[test]
fn programs_visit_what_machines_visit() {
    let mut counts = [0; 2];
    let mut unknown = 0;
    for case in 0..setting("WEIR_CASES", 60) {
        let mut rng = Rng::new(setting("WEIR_SEED", 1).wrapping_mul(1_000_003) + case);
        let states = ["q0", "q1", "q2"];
        let mut text = String::from(
            "machine m;  messages a, b;  channels c;  states q0, q1, q2;  initial q0;",
        );
        for _ in 0..4 + rng.below(2) {
            let (from, to) = (*rng.pick(&states), *rng.pick(&states));
            let op = *rng.pick(&["c!a", "c!b", "c?a", "c?b", "nop"]);
            text += &format!("\n{from} -> {to} do {op};");
        }
        let machine = weir_channel::text::read(&text).unwrap();
        let state = machine.state(states[rng.below(states.len())]).unwrap();
        let options = SearchOptions { bound: Some(4), ..SearchOptions::default() };
        let by_machine = match again(&machine, Semantics::Lossy, state, &options, &mut |_| {}).0 {
            Again::Visited(_) => Some(true),
            Again::NotVisited => Some(false),
            Again::Unknown(_) => None,
        };
        match (by_machine, visited_by_program(&machine, state)) {
            (Some(a), Some(b)) => {
                assert_eq!(a, b, "{}\n{text}", machine.state_name(state));
                counts[usize::from(a)] += 1;
            }
            _ => unknown += 1,
        }
    }
    println!("{counts:?}, {unknown} unknown");
    assert!(counts.iter().all(|n| *n > 5), "both happen: {counts:?}, {unknown} unknown");
}

/// The question of `weir reduce cpcp --to program` is answered as that of the machine.
#[test]
fn programs_of_cyclic_instances() {
    let (status, report) = asked(&["live", "-", "--format", "json"], &reduced("a a", "program"));
    assert_eq!((status, &report["findings"][0]["verdict"]), (0, &Value::from("holds")));
    let machine = reduced("a a", "machine");
    let args = ["channel", "run", "-", "--lossy", "--again", "s1", "--format", "json"];
    assert_eq!(asked(&args, &machine).1["findings"][0]["outcome"], "visited");
    let program = piped(&["channel", "program", "-", "--again", "s1"], &machine);
    assert_eq!(program.status, 0, "{}", program.err);
    assert!(reduced("a a", "program").ends_with(&program.out));
}

/// Any basic machine with several channels has one with a single channel, with the same answers.
#[test]
fn machines_with_one_channel() {
    let one = weir(&["channel", "one-channel", "examples/no-bit.chm"]);
    assert_eq!(one.status, 0, "{}", one.err);
    for (file, expected) in [("examples/no-bit.chm", 1), ("examples/alternating-bit.chm", 0)] {
        let one = weir(&["channel", "one-channel", file]);
        assert!(one.out.contains("\nchannels c;\n"), "{}", one.out);
        let args = ["channel", "check", "-", "--reach", "wrong", "--channels", "any"];
        assert_eq!(piped(&args, &one.out).status, expected, "{file}");
    }
    let output = weir(&["channel", "one-channel", "examples/token.chm"]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("weir channel basic"), "{}", output.err);
}
