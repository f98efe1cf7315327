//! No text makes the readers of other tools' languages panic, overflow the stack or
//! hang; every error lies in the text; and whatever they accept can be printed and
//! read again.

use crate::hostile;

use hostile::{many, mutated, with_seeds};
use weir_front::{Language, read, weir};

/// Whether it was accepted.
fn survive(language: &'static Language, text: &str) -> bool {
    match read("hostile", text, Some(language)) {
        Ok((program, source)) => {
            for stmt in program.processes.iter().flat_map(|p| &p.body) {
                source.text_of(stmt.span);
            }
            let printed = weir::print(&program);
            weir::read("printed", &printed).unwrap_or_else(|e| {
                panic!("{}\nfrom\n{text}", e[0].render("printed", &printed, false))
            });
            true
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                for range in error.notes.iter().map(|(r, _)| r).chain([&error.range]) {
                    assert!(text.get(range.clone()).is_some(), "{error:?}");
                }
                assert!(error.message.len() < 400, "{}", error.message);
            }
            errors[0].render("hostile", text, false);
            false
        }
    }
}

fn programs(folder: &str, ending: &str) -> Vec<String> {
    let folder = format!("{}/../../corpus/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == ending));
    paths.sort();
    paths.iter().map(|p| std::fs::read_to_string(p).unwrap()).collect()
}

static BOTH: [(&Language, &str, &str); 2] = [
    (&weir_front::rmm::LANGUAGE, "rmm", "rmm"),
    (&weir_front::trencher::LANGUAGE, "trencher", "txt"),
];

#[test]
fn random_bytes() {
    with_seeds(1000, |random| {
        let len = random.below(200);
        let bytes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        let text = String::from_utf8_lossy(&bytes);
        for (language, ..) in BOTH {
            survive(language, &text);
        }
        weir_front::detect("hostile", &text);
    });
}

#[test]
fn random_words() {
    const RMM: &str = "forbidden L0 CS * ; data x = 0 : [ 0 : 1 ] Z process ( 2 ) registers $r = 1 \
        text nop $r := $r + 1 ; assume : $r < 2 && not true || false read : x = 1 read : $r := x \
        write : x := 0 locked write { or } slocked cas ( x , 0 , 1 ) fence ssfence llfence if then \
        else while do goto L0 either L0 : my ] macro m ( a ) endmacro m - ( ) != >= /* */ syncwr";
    const TRENCHER: &str = "thread t initial q0 final q1 transition q0 q1 write 1 x read r 0 mfence \
        local r + r 1 check == r 0 noop lock unlock end memory_size 3 ! && || * & - -1 \"x\" # \n \
        transition q1 q0 transition q0 q0 thread u";
    with_seeds(3000, |random| {
        for (language, words) in
            [(&weir_front::rmm::LANGUAGE, RMM), (&weir_front::trencher::LANGUAGE, TRENCHER)]
        {
            let words: Vec<&str> = words.split(' ').filter(|w| !w.is_empty()).collect();
            let len = random.below(60);
            let text: Vec<_> = (0..len).map(|_| words[random.below(words.len())]).collect();
            let start = match language.name {
                "rmm" => "forbidden L0 process text ",
                _ => "thread t initial q0 ",
            };
            survive(language, &text.join(" "));
            survive(language, &(start.to_owned() + &text.join(" ")));
        }
    });
}

#[test]
fn mutated_programs() {
    for (language, folder, ending) in BOTH {
        let programs = programs(folder, ending);
        assert!(programs.iter().all(|text| survive(language, text)));
        let accepted = std::cell::Cell::new(0);
        with_seeds(2000, |random| {
            let program = &programs[random.below(programs.len())];
            let text = mutated(random, program, "{}()[]=+-<>:;.,$0129axrq \n");
            let found = survive(language, &text);
            accepted.set(accepted.get() + u32::from(found));
        });
        assert!(accepted.get() > 50, "hardly any mutation is accepted: {}", accepted.get());
    }
}

#[test]
fn deep_and_long_texts() {
    let many = many(50_000);
    let rmm =
        |text: String| format!("forbidden L data x = 0 process registers $r = 0 text L: {text}");
    let thread = |text: String| format!("thread t initial q {text} end");
    let texts = [
        rmm("{ ".repeat(many)),
        rmm(format!("{}nop{}", "{ ".repeat(many), "}".repeat(many))),
        rmm("if $r = 0 then ".repeat(many) + "nop"),
        rmm("if $r = 0 then nop else ".repeat(many) + "nop"),
        rmm("while true do ".repeat(many) + "nop"),
        rmm("either { ".repeat(many)),
        rmm(format!("{}nop{}", "locked { ".repeat(40), " or nop }".repeat(40))),
        rmm(format!("locked {{ nop {} }}", "; locked { nop or nop }".repeat(100))),
        rmm(format!("locked {{ nop {} }}", "; $r := $r + $r".repeat(100))),
        rmm(format!("locked {{ nop {} }}", "; read: x = 1; write: x := 2".repeat(100))),
        rmm(format!("$r := {}1", "(".repeat(many))),
        rmm(format!("$r := {}1", "-".repeat(many))),
        rmm(format!("$r := {}1", "1 + ".repeat(many))),
        rmm(format!("assume: {}$r = 1", "[".repeat(many))),
        rmm(format!("assume: {}$r = 1", "not [".repeat(many))),
        rmm(format!("assume: {}$r = 1", "$r = 1 && ".repeat(many))),
        rmm("nop; ".repeat(100_000) + "nop"),
        rmm((0..70_000).map(|i| format!("l{i}: nop; ")).collect::<String>() + "nop"),
        format!("forbidden {}", "L ".repeat(many)),
        format!("forbidden L {} process text L: nop", "; L ".repeat(many)),
        format!(
            "forbidden L data {} process text L: nop",
            (0..70_000).map(|i| format!("x{i} = 0 ")).collect::<String>()
        ),
        format!(
            "forbidden L process registers {} text L: nop",
            (0..70_000).map(|i| format!("$x{i} = 0 ")).collect::<String>()
        ),
        "forbidden L process(64) text L: nop process(64) text L: nop".to_owned(),
        "forbidden L process(9999999999) text L: nop".to_owned(),
        "forbidden L process(0) text L: nop".to_owned(),
        "forbidden L data x = * : [-170141183460469231731687303715884105727:170141183460469231731687303715884105727] process text L: nop"
            .to_owned(),
        "forbidden L data x = * process text L: nop".to_owned(),
        "macro m() m() endmacro forbidden L process text L: m()".to_owned(),
        "macro a() b() endmacro macro b() a() endmacro forbidden L process text L: a()".to_owned(),
        (0..60)
            .map(|i| format!("macro m{i}() m{0}() ; m{0}() endmacro ", i + 1))
            .collect::<String>()
            + "macro m60() nop endmacro forbidden L process text L: m0()",
        (0..200).map(|i| format!("macro m{i}() m{}() endmacro ", i + 1)).collect::<String>()
            + "macro m200() nop endmacro forbidden L process text L: m0()",
        "macro m(a) a a a a a a a a endmacro forbidden L process text L: ".to_owned()
            + &"m(".repeat(90)
            + "nop"
            + &")".repeat(90),
        "macro ".repeat(many),
        "macro m(".to_owned() + &"a,".repeat(many),
        "/*".repeat(many),
        thread(format!("transition q q check {}", "! ".repeat(many))),
        thread(format!("transition q q check {}", "+ ".repeat(many))),
        thread(format!("transition q q write {}", "+ 1 ".repeat(many))),
        thread((0..70_000).map(|i| format!("transition q{i} q{} noop\n", i + 1)).collect()),
        thread(
            (0..50_000).map(|i| format!("transition q{i} q{} local r{i} {i}\n", i + 1)).collect(),
        ),
        thread((0..2000).map(|i| format!("transition q q write 1 x{i}\n")).collect()),
        thread("transition q a lock ".to_owned() + &"transition a a noop ".repeat(100)),
        thread(
            "transition q a0 lock ".to_owned()
                + &(0..40)
                    .map(|i| format!("transition a{i} a{0} noop transition a{i} a{0} noop ", i + 1))
                    .collect::<String>()
                + "transition a40 q unlock",
        ),
        (0..1000).map(|i| format!("thread t{i} initial q end\n")).collect(),
        "thread ".repeat(many),
        "memory_size 99999999999999999999 thread t initial q end".to_owned(),
        thread("transition q q write 1 -9223372036854775808".to_owned()),
        thread("transition q q write 1 * 170141183460469231731687303715884105727 170141183460469231731687303715884105727".to_owned()),
        thread("transition q q read r r".to_owned()),
        "é".repeat(many),
        "a".repeat(1 << 20),
    ];
    for text in texts {
        for (language, ..) in BOTH {
            survive(language, &text);
        }
    }
}

/// A label that is left only from inside of a locked block is still a label.
#[test]
fn labels_behind_locked_choices() {
    let text = "thread o initial q0\n\
        transition q0 q1 lock\ntransition q1 q2 read r 1\n\
        transition q2 q3 write + r 1 2\ntransition q2 q3 write r 2\n\
        transition q3 q4 unlock\nend\n\
        thread t initial q0\ntransition q0 q1 write 1 1\nend";
    assert!(survive(&weir_front::trencher::LANGUAGE, text));
}
