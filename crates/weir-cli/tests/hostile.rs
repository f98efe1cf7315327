//! Limits hold: programs and other inputs that would take for ever, or all memory, end within
//! the limits that a person gave, in every command and from every language.
//!
//! Each is run with a second and 64 MiB. It has to end with one of the documented exit
//! statuses, half a second after the limit at most, with at most 64 MiB more than the limit, and
//! by itself: the thread that ends the program from outside must not be needed. Other
//! processes may slow this machine down, so each has several tries, and one that got a
//! processor only half of the time is not blamed.

use crate::common;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::{Output, root, weir, weir_reading};

const LIMITS: [&str; 4] = ["--timeout", "1", "--memory", "64"];

/// The limit on time, the longest that a run may take, and the most memory that it may have,
/// in KiB.
const LIMIT: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_millis(1500);
const MOST: u64 = (64 + 64) << 10;

/// How often something is tried before it counts as too slow.
const TRIES: usize = 5;

/// What is expected of a run besides its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// A limit is reached: the exit status is 3 and the reason is told.
    Limit,
    /// It ends with some documented status; on a fast machine perhaps with an answer.
    Anything,
    /// The same, and it may be ended from outside: the readers of texts do not look at
    /// limits while they read.
    Reading,
}

use Expected::{Anything, Limit, Reading};

/// Runs a command, with an input if there is one, and checks what is true of all.
fn holds(args: &[&str], input: Option<&str>, expected: Expected) {
    let all: Vec<&str> = args.iter().copied().chain(input.map(|_| "-")).chain(LIMITS).collect();
    let mut last = None;
    for _ in 0..TRIES {
        let output = weir_reading(&all, input.unwrap_or_default().as_bytes());
        let Output { status, out, err, .. } = &output;
        let shown = || format!("weir {}: {status}\n{err}\n{}", all.join(" "), excerpt(out));
        assert!((0..=3).contains(status), "{}", shown());
        if expected == Limit {
            assert_eq!(*status, 3, "{}", shown());
            let told = [out, err].iter().any(|t| t.contains("limit of"));
            assert!(told, "{}", shown());
        }
        assert!(output.peak <= MOST, "{} KiB: {}", output.peak, shown());
        let is_by_itself = expected == Reading || !err.contains("did not end in time");
        let is_starved = output.work < output.elapsed / 2 && output.elapsed > LIMIT;
        if output.elapsed <= LONGEST && is_by_itself || is_starved {
            return;
        }
        last = Some(format!("{:?}, {} KiB, {}", output.elapsed, output.peak, shown()));
    }
    panic!("{}", last.unwrap_or_default());
}

fn excerpt(text: &str) -> String {
    text.chars().take(600).collect()
}

/// So many texts, with a separator.
fn all(count: usize, separator: &str, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(separator)
}

/// Each process has nearly two million transitions.
fn many_transitions() -> String {
    let processes = all(31, "\n", |i| {
        format!(
            "process p{i} {{ reg a: 0..1390, b: 0..1390   a = any(0..1390)   b = any(0..1390)
                 assert a + b >= 0   x = b }}"
        )
    });
    format!("var x\n{processes}\nnever x == 5000\n")
}

/// Each process has more than sixty thousand control states.
fn many_states() -> String {
    let processes = all(31, "\n", |i| {
        format!(
            "process p{i} {{ reg a: 0..230, b: 0..230   a = any(0..230)   b = any(0..230)
                 x = a   x = b }}"
        )
    });
    format!("var x\n{processes}\nnever x == 5000\n")
}

/// Fifty variables, written round and round; views of them are long.
fn round_and_round() -> String {
    let vars = all(50, ", ", |i| format!("v{i}"));
    let writes = all(50, "  ", |i| format!("v{i} = 1   v{i} = 0"));
    let reads = all(50, "  ", |i| format!("s = v{i}"));
    format!(
        "var {vars}\nprocess w {{ loop {{ {writes} }} }}
         process r {{ reg s   loop {{ {reads} here: }} }}
         never r@here and r.s == 3\n"
    )
}

/// A million million memories to begin with.
fn many_memories(asked: &str) -> String {
    let vars = all(12, "\n", |i| format!("var s{i}: 0..9 = any"));
    format!("{vars}\nprocess p {{ reg r   r = s0   end: }}\n{asked}\n")
}

/// Every combination of what processes picked has to be looked at.
fn many_picks() -> String {
    let processes =
        all(12, "\n", |i| format!("process p{i} {{ reg r: 0..9   r = any(0..9)   here: x = r }}"));
    let formula = all(12, " and ", |i| format!("(p{i}@here and p{i}.r == {} + x)", i % 7));
    format!("var x\n{processes}\nnever {formula}\n")
}

/// Six processes in loops, with stores that stay in buffers.
fn loops() -> String {
    let processes = all(6, "\n", |i| {
        let n = i + 1;
        format!(
            "process p{i} {{ reg r   loop {{ a = {n}   b = {n}   c = {n}   r = a   r = b   r = c
                 here: d = r   e = {n} }} }}"
        )
    });
    format!("var a, b, c, d, e\n{processes}\nnever p0@here and p0.r == 77\n")
}

/// A thousand variables behind one index.
fn large_array() -> String {
    let body = "reg i: 0..999, v: 0..9
         loop { i = any(0..999)   v = a[i]   a[i] = (v + 1) % 10 }";
    format!(
        "var a[1000]: 0..9\nprocess p {{ {body} }}\nprocess q {{ {body} }}
         never a[0] == 9 and a[1] == 9\n"
    )
}

#[test]
fn building_ends() {
    let weir = |command: &[&'static str], text: &str, expected| {
        let args: Vec<&str> = command.iter().copied().chain(["--language", "weir"]).collect();
        holds(&args, Some(text), expected);
    };
    let transitions = many_transitions();
    weir(&["check"], &transitions, Limit);
    weir(&["check", "--format", "json"], &transitions, Limit);
    weir(&["compare"], &transitions, Limit);
    weir(&["outcomes"], &transitions, Anything);
    weir(&["graph"], &transitions, Anything);
    weir(&["show", "--system"], &transitions, Limit);
    weir(&["channel", "of"], &transitions, Limit);
    weir(&["channel", "empty"], &transitions, Limit);
    weir(&["check", "--model", "tso+r->w"], &transitions, Limit);
    weir(&["check"], &many_states(), Limit);
    // Registers are live across thousands of statements.
    let registers = all(3000, ", ", |i| format!("r{i}"));
    let (reads, writes) =
        (all(3000, "\n", |i| format!("r{i} = x")), all(3000, "\n", |i| format!("x = r{i}")));
    let live = format!("var x\nprocess p {{ reg {registers}\n{reads}\n{writes} }}\nnever x == 1\n");
    weir(&["check"], &live, Anything);
    let long = format!(
        "var x\nprocess p {{ reg r\n{} }}\nfinal never p.r == 1\n",
        "r = x\n".repeat(60_000)
    );
    weir(&["check"], &long, Anything);
    let silent = "var x\nprocess p { reg a, b
        while a < 4000 { b = 0   while b < 4000 { b = b + 1 }   a = a + 1 }   x = a }
        final never x == 1\n";
    weir(&["check"], silent, Anything);
    let endless = "var x\nprocess p { reg r   loop { r = x   x = r + 1 } }\nnever x == -1\n";
    weir(&["check"], endless, Anything);
}

#[test]
fn a_limit_in_the_middle_of_building_leaves_every_property_unknown() {
    let args = ["check", "-", "--language", "weir", "--timeout", "0.05", "--format", "json"];
    let text =
        many_transitions().replace("never x == 5000", "one: never x == 5000\ntwo: never x == 5001");
    let output = weir_reading(&args, text.as_bytes());
    assert_eq!(output.status, 3, "{}", output.err);
    let report: serde_json::Value = serde_json::from_str(&output.out).expect("a report");
    let reason = "the time limit of 0.05 s was reached while building the automata";
    let answers = report["findings"].as_array().expect("answers");
    let names: Vec<_> = answers.iter().map(|a| a["claim"]["question"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "two", "assertions"]);
    for answer in answers {
        assert_eq!(
            (answer["verdict"].as_str(), answer["reason"].as_str()),
            (Some("unknown"), Some(reason))
        );
    }
}

#[test]
fn engines_end() {
    let round = round_and_round();
    let memories = many_memories("never p@end and p.r == 11");
    for engine in ["auto", "explicit", "views", "backward", "automata", "channels"] {
        let args = ["check", "--language", "weir", "--engine", engine];
        for text in [&round, &memories, &large_array()] {
            holds(&args, Some(text), Anything);
        }
    }
    for engine in ["explicit", "views", "backward"] {
        holds(&["check", "--language", "weir", "--engine", engine], Some(&many_picks()), Anything);
    }
    for model in ["pso", "nsw"] {
        let args = ["check", "--language", "weir", "--engine", "views", "--model", model];
        holds(&args, Some(&round), Limit);
    }
    for model in ["sc", "tso", "pso", "nsw", "tso+r->w"] {
        holds(&["check", "--language", "weir", "--model", model], Some(&loops()), Limit);
    }
    let guesses = ["check", "--language", "weir", "--model", "tso+r->r+r->w", "--guesses", "2"];
    holds(&guesses, Some(&loops()), Limit);
    let channels = ["check", "--language", "weir", "--model", "pso", "--engine", "channels"];
    holds(&channels, Some(&loops()), Limit);
    holds(&["outcomes", "--language", "weir"], Some(&memories), Limit);
    for engine in ["explicit", "views", "automata"] {
        let args = ["graph", "--language", "weir", "--most", "100000", "--engine", engine];
        holds(&args, Some(&round), Anything);
    }
}

#[test]
fn runs_without_end_and_games_end() {
    let object = "object o {
        var a: 0..30, b: 0..30, c: 0..30
        method inc { reg r   r = a   a = (r + 1) % 31   r = b   b = (r + 1) % 31 }
        method dec { reg r   r = c   c = (r + 1) % 31   while a == 3 { } }
    }";
    // What is violated is found before the limit, or not.
    holds(&["live", "--language", "weir", "--clients", "4"], Some(object), Anything);
    let sc = ["live", "--language", "weir", "--clients", "5", "--model", "sc"];
    holds(&sc, Some(object), Anything);
    holds(&["live", "--language", "weir"], Some(&many_memories("live terminates")), Limit);
    let game = |asked: &str| {
        let processes = all(3, "\n", |i| {
            format!(
                "process p{i} {{ reg r: 0..30   loop {{ r = x   y = (r + 1) % 31   r = z
                     x = (r + 2) % 31   z = r here: }} }}"
            )
        });
        format!("var x: 0..30, y: 0..30, z: 0..30\n{processes}\ngame {asked} p0@here\n")
    };
    let fairness = |kind| ["game", "--language", "weir", "--fairness", kind];
    holds(&fairness("update"), Some(&game("reach")), Anything);
    holds(&fairness("process"), Some(&game("avoid")), Anything);
    let load = ["game", "--language", "weir", "--semantics", "load-buffer"];
    holds(&load, Some(&game("reach")), Anything);
}

#[test]
fn front_ends_end() {
    let semaphore = all(3, "\n", |i| {
        format!("active proctype P{i}() {{ atomic {{ sem > 0 -> sem-- }}; y++; sem++ }}")
    });
    let semaphore = format!("int sem = 1;\nint y;\n{semaphore}\n// weir: never y == 5\n");
    for command in ["check", "outcomes", "compare"] {
        holds(&[command, "--language", "promela"], Some(&semaphore), Anything);
    }
    let mut macros = "#define M0 x++;\n".to_owned();
    let mut inlines = "int x;\ninline f0() { x++ }\n".to_owned();
    for i in 1..40 {
        let before = i - 1;
        let _ = writeln!(macros, "#define M{i} M{before} M{before}");
        let _ = writeln!(inlines, "inline f{i}() {{ f{before}(); f{before}() }}");
    }
    let promela = ["check", "--language", "promela"];
    holds(&promela, Some(&format!("{macros}int x;\nactive proctype P() {{ M39 }}\n")), Anything);
    holds(&promela, Some(&format!("{inlines}active proctype P() {{ f39() }}\n")), Anything);
    let choices = "if :: x = 1 :: x = 2 :: x = 3 fi; ".repeat(40);
    let atomic = format!(
        "byte x;\nactive proctype P() {{ atomic {{ {choices} }} }}
         active proctype Q() {{ x = 1 }}\n// weir: never x == 9\n"
    );
    holds(&promela, Some(&atomic), Anything);
    holds(&["convert", "--language", "promela"], Some(&atomic), Anything);
    let rmm = "forbidden CS CS\ndata\n  tail = 0\nprocess(2)\nregisters $r0 = 0\ntext
        L0: read: $r0 := tail;
        cas(tail, $r0, $r0 + 1);
        CS: nop;
        goto L0\n";
    holds(&["check", "--language", "rmm"], Some(rmm), Anything);
    let threads = all(4, "\n", |t| {
        let steps = all(60, "\n", |i| {
            let (next, value) = (i + 1, i % 9);
            format!(
                "  transition {i} {next} write {value} x{}\n  transition {i} {next} read r{} x{}
                 \n  transition {next} {i} mfence",
                i % 5,
                i % 3,
                (i + 1) % 5
            )
        });
        format!("thread t{t}\n  initial 0\n  final 60\n{steps}\nend")
    });
    holds(&["check", "--language", "trencher"], Some(&threads), Anything);
    let heads = all(8, " | ", |i| format!(" P{i} "));
    let rows = all(12, "\n", |r| {
        let cells = all(8, " | ", |i| match r % 2 {
            0 => format!(" MOV [x{}],${} ", (r * i) % 5, r + 1),
            _ => format!(" MOV EAX,[x{}] ", (r + i) % 5),
        });
        format!("{cells} ;")
    });
    let litmus = format!("X86 big\n{{ x=0; y=0; }}\n{heads} ;\n{rows}\nexists (0:EAX=1)\n");
    for command in ["check", "outcomes", "compare"] {
        holds(&[command, "--language", "litmus"], Some(&litmus), Limit);
    }
    holds(&["litmus", "gen", "--processes", "4", "--verdicts"], None, Limit);
    holds(&["litmus", "gen", "--processes", "2..4", "--list"], None, Anything);
    holds(&["show", "--language", "weir"], Some(&many_states()), Anything);
    holds(&["convert", "--language", "weir"], Some(&many_transitions()), Anything);
}

#[test]
fn large_texts_end() {
    let weir = ["check", "--language", "weir"];
    let long = "r = x\n".repeat(690_000);
    let long = format!("var x\nprocess p {{ reg r\n{long} }}\nfinal never p.r == 1\n");
    holds(&weir, Some(&long), Reading);
    let many = format!("var x\n{}never x == 1\n", "process p { x = 1 }\n".repeat(200_000));
    holds(&weir, Some(&many), Reading);
    let promela = "r = x;\n".repeat(590_000);
    let promela = format!("int x;\nactive proctype P() {{ int r;\n{promela} }}\n");
    holds(&["check", "--language", "promela"], Some(&promela), Reading);
    let rmm = "read: $r := x;\n".repeat(270_000);
    let rmm = format!(
        "forbidden CS CS\ndata\n x = 0 : [0:1]\nprocess(2)\nregisters $r = 0 : [0:1]
         text\n{rmm}CS: nop\n"
    );
    holds(&["check", "--language", "rmm"], Some(&rmm), Reading);
    let litmus = " MOV EAX,[x] | MOV [x],$1 ;\n".repeat(130_000);
    let litmus = format!("X86 big\n{{ x=0; }}\n P0 | P1 ;\n{litmus}exists (0:EAX=1)\n");
    holds(&["check", "--language", "litmus"], Some(&litmus), Reading);
    let threads = all(120_000, "\n", |i| format!("transition {i} {} read r x", i + 1));
    let threads = format!("thread t\n initial 0\n final 9\n{threads}\nend\n");
    holds(&["check", "--language", "trencher"], Some(&threads), Reading);
}

#[test]
fn channel_machines_end() {
    let messages = all(12, ", ", |i| format!("m{i}"));
    let rules = all(12, "\n", |i| {
        format!(
            "s -> s do c!m{i};\ns -> t do c?m{i}, d!m{};\nt -> s do d?m{i};\nt -> t do d!m{};",
            (i * 5 + 1) % 12,
            (i * 7 + 3) % 12
        )
    });
    let machine = format!(
        "machine m;\nmessages {messages};\nchannels c, d;\nstates s, t, u;\ninitial s;\n{rules}
         t -> u when c in m1 m2 m3 m4 m5 m6 do d?m3;\n"
    );
    let run = |more: &[&'static str]| {
        let args: Vec<&str> =
            ["channel", "run", "--bound", "12"].into_iter().chain(more.iter().copied()).collect();
        holds(&args, Some(&machine), Limit);
    };
    run(&[]);
    run(&["--lossy"]);
    run(&["--lossy", "--again", "u"]);
    holds(&["channel", "check", "--reach", "u"], Some(&machine), Anything);
    holds(&["channel", "basic"], Some(&machine), Anything);
    holds(&["channel", "show"], Some(&machine), Anything);
    let guard = all(20, " ", |j| format!("(a | b)* {}", if j % 2 == 1 { "k" } else { "a" }));
    let guarded = format!(
        "machine m;\nmessages a, b, k;\nchannels c;\nstates s, t;\ninitial s;
         strong k at most 30;\ns -> s do c!a;\ns -> s do c!b;\ns -> s do c!k;
         s -> t when c in {guard} do c?a;\n"
    );
    for contents in ["empty", "any"] {
        let args = ["channel", "check", "--reach", "t", "--channels", contents];
        holds(&args, Some(&guarded), Anything);
    }
    holds(&["channel", "basic"], Some(&guarded), Anything);
    let pairs = "ab a\nba ab\naa aab\nbab b\n";
    holds(&["channel", "pcp", "--solve", "--bound", "1000"], Some(pairs), Limit);
    let long = all(20, "\n", |i| format!("{} {}", "ab".repeat(40), "ba".repeat(30 + i)));
    holds(&["channel", "pcp"], Some(&long), Anything);
    for to in ["machine", "one-channel", "library"] {
        holds(&["reduce", "cpcp", "--to", to], Some(&long), Anything);
    }
    let states = all(400, ", ", |i| format!("s{i}"));
    let steps = all(400, "\n", |i| {
        format!("s{i} -> s{} do c!a;\ns{i} -> s{} do c?a;", (i * 7 + 1) % 400, (i * 3 + 2) % 400)
    });
    let system =
        format!("machine m;\nmessages a;\nchannels c;\nstates {states};\ninitial s0;\n{steps}\n");
    for fairness in ["update", "process"] {
        let args = ["reduce", "pcs", "--reach", "s1", "--fairness", fairness];
        holds(&args, Some(&system), Anything);
    }
}

/// The first interrupt ends a search with what is known so far.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_what_is_known() {
    let text = loops().replace("never p0@here", "one: never p1@here\ntwo: never p0@here");
    let mut child = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["check", "-", "--language", "weir", "--engine", "explicit"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    thread::sleep(Duration::from_millis(500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    // One property is settled; the other was not when the search ended.
    assert_eq!(output.status.code(), Some(1), "{out}");
    assert!(out.contains("violated  one") && out.contains("unknown   two"), "{out}");
    assert!(out.contains("the search was interrupted"), "{out}");
}

#[test]
fn evidence_ends() {
    let folder = std::env::temp_dir().join(format!("weir-hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (program, witness) = (folder.join("many.weir"), folder.join("witness.json"));
    let (program, witness) = (program.to_str().unwrap(), witness.to_str().unwrap());
    let found = weir(&["check", "examples/peterson.weir", "--witness", witness]);
    assert_eq!(found.status, 1, "{}", found.err);
    std::fs::write(program, many_transitions()).unwrap();
    holds(&["certify", witness, program], None, Anything);
    // Evidence that is larger than the limit is not read.
    std::fs::write(witness, vec![b' '; 100 << 20]).unwrap();
    let peterson = root().join("examples/peterson.weir");
    holds(&["certify", witness, peterson.to_str().unwrap()], None, Limit);
    std::fs::remove_dir_all(folder).unwrap();
}
