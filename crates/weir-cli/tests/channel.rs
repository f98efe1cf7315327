//! `weir channel`, as a person or a program uses it.

use crate::common;

use common::{root, weir, weir_reading};
use serde_json::Value;

const HEAD: &str = "machine m; messages a; channels c; states s, t; initial s;\n";

fn reading(args: &[&str], text: &str) -> common::Output {
    weir_reading(args, text.as_bytes())
}

#[test]
fn the_status_tells_the_answer() {
    let check = |file: &str, rest: &[&str]| {
        let file = format!("examples/{file}.chm");
        let args: Vec<&str> =
            ["channel", "check", file.as_str()].into_iter().chain(rest.iter().copied()).collect();
        weir(&args).status
    };
    assert_eq!(check("alternating-bit", &["--reach", "wrong"]), 0);
    assert_eq!(check("no-bit", &["--reach", "wrong"]), 1);
    assert_eq!(check("token", &["--reach", "sent"]), 0);
    assert_eq!(check("token", &["--reach", "sent", "--channels", "any"]), 1);
    assert_eq!(check("token", &["--reach", "nowhere"]), 2);
    assert_eq!(check("token", &[]), 2);
    assert_eq!(check("missing", &["--reach", "s"]), 2);

    let run = |rest: &[&str]| {
        let args = ["channel", "run", "examples/batch.chm"].into_iter().chain(rest.iter().copied());
        weir(&args.collect::<Vec<_>>()).status
    };
    assert_eq!(run(&[]), 0);
    assert_eq!(run(&["--bound", "2"]), 3);
    assert_eq!(run(&["--reach", "small"]), 0);
    assert_eq!(run(&["--reach", "small", "--lossy"]), 1);
    assert_eq!(run(&["--reach", "small", "--bound", "2"]), 3);
}

#[test]
fn what_is_wrong_is_shown_in_the_text() {
    let output = reading(&["channel", "show", "-"], &format!("{HEAD}s -> t do d!a;"));
    assert_eq!(output.status, 2);
    for part in ["there is no channel `d`", "-:2:11", "s -> t do d!a;", "^ not declared"] {
        assert!(output.err.contains(part), "{part} in\n{}", output.err);
    }
    assert!(output.out.is_empty());
    let output = weir(&["channel", "check", "examples/token.chm", "--reach", "overtakne"]);
    assert!(output.err.contains("did you mean `overtaken`?"), "{}", output.err);
    // A program is no machine, and that is all there is to say.
    let output = weir(&["channel", "show", "examples/peterson.weir"]);
    assert_eq!(output.status, 2);
    assert_eq!(output.err.matches("error").count(), 1, "{}", output.err);
    let both = ["channel", "product", "examples/token.chm", "examples/batch.chm"];
    let output = weir(&both);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("two machines have a channel `wire`"), "{}", output.err);
}

#[test]
fn what_is_printed_is_read() {
    for file in ["alternating-bit", "batch", "token", "last-write", "meet-left"] {
        let file = format!("examples/{file}.chm");
        for command in ["show", "basic"] {
            let printed = weir(&["channel", command, &file]);
            assert_eq!(printed.status, 0, "{}", printed.err);
            let again = reading(&["channel", "show", "-"], &printed.out);
            assert_eq!((again.status, again.out), (0, printed.out));
        }
    }
    let halves = ["channel", "product", "examples/meet-left.chm", "examples/meet-right.chm"];
    let both = weir(&halves).out;
    let args = ["channel", "check", "-", "--reach", "(l2, r2)", "--channels", "any"];
    assert_eq!(reading(&args, &both).status, 0);
    let args = ["channel", "check", "-", "--reach", "(l1, r1)", "--channels", "any"];
    assert_eq!(reading(&args, &both).status, 1);
}

#[test]
fn limits_end_a_search() {
    // All words of twelve letters are minimal, and there are too many of them.
    let letters = ["a", "b", "d", "e", "f", "g", "h", "i"];
    let all = letters.join(" | ");
    let guard = vec![format!("({all})"); 12].join(" ");
    let text = format!(
        "machine m; messages {}; channels c; states s, t; initial s; s -> t when c in {guard};",
        letters.join(", ")
    );
    let args = ["channel", "check", "-", "--reach", "t", "--timeout", "0.2"];
    let output = reading(&args, &text);
    assert_eq!(output.status, 3, "{}{}", output.out, output.err);
    assert!(output.out.contains("the time limit of 0.2 s was reached"), "{}", output.out);
    let args = ["channel", "check", "-", "--reach", "t", "--memory", "32"];
    let output = reading(&args, &text);
    assert_eq!(output.status, 3, "{}{}", output.out, output.err);
    assert!(output.out.contains("the memory limit of 32 MiB was reached"), "{}", output.out);
}

/// Every key but those that are names of channels.
fn keys<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.push(key);
                if !matches!(key.as_str(), "channels" | "lost" | "statistics" | "file") {
                    keys(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|v| keys(v, found)),
        _ => {}
    }
}

#[test]
fn json_is_as_documented() {
    let fields = common::schema_fields();
    let documented: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    for args in [
        &["check", "examples/no-bit.chm", "--reach", "wrong"][..],
        &["check", "examples/alternating-bit.chm", "--reach", "wrong"],
        &["run", "examples/alternating-bit.chm", "--reach", "wrong"],
        &["run", "examples/token.chm", "--lossy"],
        &["pcp", "examples/abc.pcp", "--solve"],
        &["pcp", "examples/abc.pcp", "--solve", "--bound", "1"],
    ] {
        let args: Vec<&str> =
            ["channel"].iter().chain(args).chain(&["--format", "json"]).copied().collect();
        let output = weir(&args);
        let value: Value = serde_json::from_str(&output.out).unwrap();
        let mut found = Vec::new();
        keys(&value, &mut found);
        for key in found {
            assert!(documented.contains(&key), "`{key}` of {args:?} is not documented");
        }
    }
    let output =
        weir(&["channel", "check", "examples/no-bit.chm", "--reach", "wrong", "--format", "json"]);
    let value: Value = serde_json::from_str(&output.out).unwrap();
    let finding = &value["findings"][0];
    assert_eq!(finding["outcome"], "reached");
    let run = &finding["details"]["run"];
    assert_eq!(run[3]["lost"]["back"][0], "ack");
    assert_eq!(run.as_array().unwrap().len(), 4);
}

#[test]
fn machines_of_the_page_are_machines() {
    let page = std::fs::read_to_string(root().join("docs/channel-machines.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```chm\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let output = reading(&["channel", "check", "-", "--reach", "overtaken"], block);
        assert_eq!(output.status, 0, "{}", output.err);
    }
}

/// Where a test writes a file.
fn scratch(name: &str) -> String {
    std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

#[test]
fn programs_of_machines_get_the_answers_of_machines() {
    let printed = weir(&["channel", "program", "examples/no-bit.chm", "--goal", "wrong"]).out;
    for model in ["tso", "pso"] {
        let output = reading(&["check", "-", "--model", model, "--timeout", "60"], &printed);
        assert_eq!(output.status, 1, "{}{}", output.out, output.err);
    }
    // All states if none is named, each once.
    let all = weir(&["channel", "program", "examples/no-bit.chm"]).out;
    assert_eq!(all.matches(": never p1@").count(), 4, "{all}");
    let twice = ["channel", "program", "examples/no-bit.chm", "--goal", "got", "--goal", "got"];
    assert_eq!(weir(&twice).out.matches("never").count(), 1);

    let output = weir(&["channel", "program", "examples/token.chm"]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("`weir channel basic`"), "{}", output.err);
    let output = weir(&["channel", "program", "examples/no-bit.chm", "--goal", "worng"]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("did you mean `wrong`?"), "{}", output.err);
}

#[test]
fn empty_buffers_give_the_same_answers() {
    for (file, model, status) in [
        ("examples/peterson.weir", "sc", 0),
        ("examples/peterson.weir", "tso", 1),
        ("examples/assertion-violated.weir", "tso", 0),
        ("examples/assertion-violated.weir", "pso", 1),
    ] {
        let printed = weir(&["channel", "empty", file]);
        assert_eq!(printed.status, 0, "{}", printed.err);
        let args = ["check", "-", "--model", model, "--timeout", "60"];
        assert_eq!(reading(&args, &printed.out).status, status, "{file} {model}");
    }
    let output = weir(&["channel", "empty", "examples/store-buffering.weir"]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("neither `never` nor `assertions`"), "{}", output.err);
}

#[test]
fn solutions_of_posts_problem() {
    let file = scratch("pcp.json");
    let solve = ["channel", "pcp", "examples/abc.pcp", "--solve", "--witness", &file];
    let output = weir(&[&solve[..], &["--format", "json"]].concat());
    assert_eq!(output.status, 0, "{}", output.err);
    let value: Value = serde_json::from_str(&output.out).unwrap();
    let finding = &value["findings"][0];
    assert_eq!(finding["outcome"], "solved");
    assert_eq!(finding["details"], serde_json::json!({ "solution": [1, 2], "word": "abc" }));
    let program = scratch("pcp.weir");
    std::fs::write(&program, weir(&["channel", "pcp", "examples/abc.pcp"]).out).unwrap();
    let output = weir(&["certify", &file, &program]);
    assert_eq!(output.status, 0, "{}{}", output.out, output.err);

    let wrong = |text: &str, expected: &str, place: &str| {
        let output = reading(&["channel", "pcp", "-", "--solve"], text);
        assert_eq!(output.status, 2);
        assert!(output.err.contains(expected) && output.err.contains(place), "{}", output.err);
    };
    wrong("a b\n  ab\n", "no word may be empty", "-:2:3");
    wrong("a \"\"", "no word may be empty", "-:1:3");
    wrong("machine m;\n", "is not a letter", "-:1:9");
    wrong(&"a b\n".repeat(101), "more than 100 pairs", "-:101:1");
    let output = weir(&["channel", "pcp", "examples/abc.pcp", "--solve", "--model", "tso"]);
    assert_eq!(output.status, 2);
    let output = weir(&["channel", "pcp", "examples/no-match.pcp", "--solve"]);
    assert_eq!(output.status, 1, "{}", output.out);
    // Short solutions need no option.
    for (pairs, solution) in
        [("aaa ab\nb abb\nbba b", [3, 3, 2, 2].as_slice()), ("b bb\naa a\nbbb a", &[1, 1, 1, 3, 2])]
    {
        let output = reading(&["channel", "pcp", "-", "--solve", "--format", "json"], pairs);
        let value: Value = serde_json::from_str(&output.out).unwrap();
        let found = &value["findings"][0]["details"]["solution"];
        assert_eq!(*found, serde_json::json!(solution), "{pairs}");
    }
    // Without a bound the search goes on until a limit is reached.
    let output = reading(&["channel", "pcp", "-", "--solve", "--memory", "64"], "aa a");
    assert_eq!(output.status, 3, "{}", output.err);
    assert!(output.out.contains("the memory limit"), "{}", output.out);
    let output = reading(&["channel", "pcp", "-", "--solve", "--bound", "2"], "aa a");
    assert_eq!(output.status, 3);
    assert!(!output.out.contains("holds"));
    assert!(output.out.contains("buffers of up to 2"), "{}", output.out);
}

#[test]
fn evidence_is_checked() {
    let (set, run) = (scratch("set.json"), scratch("channel-run.json"));
    let check = |file: &str, option: &str, path: &str| {
        weir(&["channel", "check", file, "--reach", "wrong", option, path]).status
    };
    assert_eq!(check("examples/alternating-bit.chm", "--certificate", &set), 0);
    assert_eq!(check("examples/no-bit.chm", "--witness", &run), 1);
    let certify = |evidence: &str, file: &str| weir(&["channel", "certify", evidence, file]).status;
    assert_eq!(certify(&set, "examples/alternating-bit.chm"), 0);
    assert_eq!(certify(&run, "examples/no-bit.chm"), 0);
    assert_eq!(certify(&set, "examples/no-bit.chm"), 1);
    assert_eq!(certify("examples/no-bit.chm", "examples/no-bit.chm"), 2);
    // The same set for a machine that is not right any more.
    let text = std::fs::read_to_string(root().join("examples/alternating-bit.chm")).unwrap();
    let careless = scratch("careless.chm");
    let changed = text.replace("w0e0 -> w0e0 do acks?a1;", "w0e0 -> i1e1 do acks?a1;");
    assert_ne!(changed, text);
    std::fs::write(&careless, &changed).unwrap();
    let output = weir(&["channel", "certify", &set, &careless]);
    assert_eq!(output.status, 1);
    assert!(output.out.contains("it was made for another machine"), "{}", output.out);
    // Whoever changes what it says it was made for gets no further.
    let mut forged: Value = serde_json::from_str(&std::fs::read_to_string(&set).unwrap()).unwrap();
    let machine = weir_channel::text::read(&changed).unwrap();
    let printed = weir_channel::text::print(&machine);
    forged["fingerprint"] = weir_model::fingerprint::Fingerprint::of_text(&printed).into();
    std::fs::write(&set, forged.to_string()).unwrap();
    let output = weir(&["channel", "certify", &set, &careless, "--format", "json"]);
    assert_eq!(output.status, 1);
    let value: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(value["accepted"], false);
    assert!(
        value["reason"].as_str().unwrap().contains("leads to it from outside of the set"),
        "{value}"
    );
    // What is not there is not written.
    let missing = scratch("missing.json");
    let args = ["examples/no-bit.chm", "--reach", "wrong", "--certificate", &missing];
    let output = weir(&[&["channel", "check"][..], &args].concat());
    assert!(output.err.contains("no proof was found"), "{}", output.err);
    assert!(!std::path::Path::new(&missing).exists());
}

/// States that a short run reaches, although going back there are thousands of predecessors.
#[test]
fn short_runs_are_found() {
    let head = "messages a, b, x;  channels c;  initial s;\ns -> s do c!a;\ns -> s do c!b;\n";
    let thirteen = "[a b] ".repeat(13);
    let guard = format!("machine m;  states s, end;\n{head}s -> end when c in {thirteen};");
    let mut receives = format!("machine m;  states s, q0, end;\n{head}s -> q0 do c[x/a, x/b]!x;");
    for i in 0..12 {
        receives += &format!("\nstates q{};\nq{i} -> q{} do c?x;", i + 1, i + 1);
    }
    receives += "\nq12 -> end do nop;";
    let strong = "machine m;  messages a, b, c, d, e;  strong a, b, c, d, e at most 8;
        channels x, y;  states s, end;  initial s;
        s -> s do x!a;  s -> end do y!b;";
    for (machine, contents) in [(guard.as_str(), "empty"), (&receives, "empty"), (strong, "any")] {
        let args = ["channel", "check", "-", "--reach", "end", "--channels", contents];
        let output = reading(&args, machine);
        assert_eq!(output.status, 1, "{machine}\n{}{}", output.out, output.err);
    }
}

/// Guards and substitutions with thousands of minimal words are decided: words of sets stand for
/// them.
#[test]
fn guards_with_many_words_are_decided() {
    let head = "messages a, b, x, y;  channels c;  initial s;\ns -> s do c!a;\ns -> s do c!b;\n";
    let many = "[a b] ".repeat(40);
    let guard = format!("machine m;  states s, end;\n{head}s -> end when c in {many} y;");
    let mut receives = format!("machine m;  states s, q0, end;\n{head}s -> q0 do c[x/a, x/b]!x;");
    for i in 0..40 {
        receives += &format!("\nstates q{};\nq{i} -> q{} do c?x;", i + 1, i + 1);
    }
    let never = format!("{receives}\nq40 -> end do c?y;");
    for machine in [&guard, &never] {
        let args = ["channel", "check", "-", "--reach", "end"];
        let output = reading(&args, machine);
        assert_eq!(output.status, 0, "{machine}\n{}{}", output.out, output.err);
        assert!(output.out.contains("not reached"), "{}", output.out);
        // The checker has no words of sets: what is too much for it is not written.
        let proof = scratch("many-words.json");
        let output = reading(&[&args[..], &["--certificate", &proof]].concat(), machine);
        assert_eq!(output.status, 0, "{}", output.err);
        assert!(output.err.contains("was not written"), "{}", output.err);
    }
    // The same where the last message is there.
    let reached = format!("{receives}\nq40 -> end do nop;");
    let output = reading(&["channel", "check", "-", "--reach", "end"], &reached);
    assert_eq!(output.status, 1, "{}{}", output.out, output.err);
}

/// Small bounds come first: a cycle that needs little room is found there.
#[test]
fn small_cycles_are_found_with_a_large_bound() {
    let args = ["channel", "run", "examples/cpcp/rotation.chm", "--lossy", "--again", "s1"];
    let output = weir(&[&args[..], &["--bound", "60", "--format", "json"]].concat());
    let value: Value = serde_json::from_str(&output.out).unwrap();
    let finding = &value["findings"][0];
    let bound = &finding["statistics"]["bound"];
    assert_eq!((&finding["outcome"], bound), (&"visited".into(), &3.into()));
}

#[test]
fn a_transition_that_is_written_twice_counts_once() {
    let machine = "machine m;  messages a;  channels c;  states s;  initial s;\n\
                   s -> s do c!a;\ns -> s do c!a;";
    let output = reading(&["channel", "show", "-"], machine);
    assert_eq!(output.status, 0);
    assert_eq!(output.out.matches("s -> s do c!a;").count(), 1);
    assert!(
        output.err.contains("warning: -:3: this transition is written twice"),
        "{}",
        output.err
    );
}

/// Propositions 5 and 6 of Atig et al. 2010: with perfect channels the machines that agree on
/// updates reach what those that agree on writes reach.
#[test]
fn machines_agree_on_updates_or_on_writes() {
    let program = "var x, y
        process p { reg r  x = 1  r = y }
        process q { reg r  y = 1  r = x }";
    let of = |sync: &str| {
        let output = reading(&["channel", "of", "-", "--sync", sync], program);
        assert_eq!(output.status, 0, "{}", output.err);
        output.out
    };
    let (writes, updates) = (of("writes"), of("updates"));
    assert!(writes.contains("w(0,x,1)") && !writes.contains("upd("), "{writes}");
    assert!(updates.contains("upd(0,x,1)") && !updates.contains("w(0,x,1)"), "{updates}");
    let reached = |machine: &str| {
        let args = ["channel", "run", "-", "--format", "json", "--bound", "4"];
        let value: Value = serde_json::from_str(&reading(&args, machine).out).unwrap();
        let findings = value["findings"].as_array().unwrap().iter();
        let states = findings.filter(|f| f["outcome"] == "reached");
        let states = states.map(|f| &f["claim"]["question"]);
        let ended = |name: &&str| name.contains("[1,1] [1,1], ") && name.ends_with("[1,1] [1,1])");
        let states = states.map(|s| s.as_str().unwrap());
        states.filter(ended).map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    let (by_writes, by_updates) = (reached(&writes), reached(&updates));
    assert_eq!(by_writes, by_updates);
    assert!(by_writes.len() >= 4, "{by_writes:?}");
    let output = reading(&["channel", "of", "-", "--sync", "updates", "--model", "pso"], program);
    assert_eq!(output.status, 2);
}

#[test]
fn a_machine_has_the_numbers_of_control_states_that_the_system_has() {
    let program = "var x\nprocess p {\n    reg r\n    r = x\n    if r == 0 { x = 1 } else { x = 2 }\n    \
                   x = 3\n}\nprocess q {\n    reg s\n    s = x\n    x = s + 1\n}\na: never x == 9\n";
    let shown = weir_reading(&["show", "--system", "-"], program.as_bytes());
    // `process NAME: …` begins a process, and the first word of a row is a control state.
    let mut known: Vec<Vec<String>> = Vec::new();
    for line in shown.out.lines() {
        match line.strip_prefix("process ") {
            Some(_) => known.push(Vec::new()),
            None if known.is_empty() || line.starts_with("              ") => {}
            None => {
                let name = line.split_whitespace().next().map(str::to_owned);
                known.last_mut().unwrap().extend(name);
            }
        }
    }
    assert_eq!(known.len(), 2, "{}", shown.out);
    let states = |args: &[&str]| -> Vec<String> {
        let machine = weir_reading(&[&["channel", "of", "-"], args].concat(), program.as_bytes());
        let lines = machine.out.lines().filter_map(|line| line.split_once(" -> "));
        lines.map(|(from, _)| from.trim().trim_matches('"').to_owned()).collect()
    };
    for (process, name) in ["p", "q"].into_iter().enumerate() {
        for state in states(&["--process", name]).iter().filter(|state| state.contains(" [")) {
            let control = state.split(" [").next().unwrap().to_owned();
            assert!(known[process].contains(&control), "{state} is not in {known:?}");
        }
    }
    for state in states(&["--model", "pso"]) {
        let Some((both, _)) = state.strip_prefix('(').and_then(|rest| rest.split_once(") ["))
        else {
            continue;
        };
        let (p, q) = both.split_once(',').unwrap();
        assert!(known[0].contains(&p.to_owned()), "{state} is not in {known:?}");
        assert!(known[1].contains(&q.to_owned()), "{state} is not in {known:?}");
    }
    // The end of both processes is reached, under the names that the system has for it.
    let machine = weir_reading(&["channel", "of", "-", "--model", "pso"], program.as_bytes());
    let reach = |state: &str| {
        let run =
            weir_reading(&["channel", "check", "-", "--reach", state], machine.out.as_bytes());
        (run.status, run.out)
    };
    let (status, out) = reach("(4,2) [1]");
    assert!(status < 2 && out.contains("reached"), "{status} {out}");
}

#[test]
fn a_run_names_transitions_by_their_places_in_the_file() {
    let machine = "machine m;\nstates s, t, u;\nmessages a;\nchannels c;\ninitial s;\ns -> s;\ns -> s;\n\
                   s -> t do c!a;\nt -> u do c?a;\n";
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, run) = (folder.join("repeated.chm"), folder.join("repeated.json"));
    std::fs::write(&file, machine).unwrap();
    let (file, run) = (file.to_str().unwrap(), run.to_str().unwrap());
    let found = weir(&["channel", "check", file, "--reach", "u", "--witness", run]);
    assert!(found.status < 2, "{found:?}");
    let text = std::fs::read_to_string(run).unwrap();
    assert!(text.contains("\"transition\":2") && text.contains("\"transition\":3"), "{text}");
    let checked = weir(&["channel", "certify", run, file]);
    assert_eq!(checked.status, 0, "{checked:?}");
    let report = weir(&["channel", "check", file, "--reach", "u", "--format", "json"]);
    assert!(report.out.contains("\"transition\":3"), "{}", report.out);
}
