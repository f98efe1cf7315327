//! Errors in other tools' languages point at what a person wrote.

use weir_front::{Diagnostic, Language, read};

/// The first error of a text, and the text that it points at.
fn error(language: &'static Language, text: &str) -> (Diagnostic, String) {
    let errors = read("file", text, Some(language)).expect_err(text);
    let at = text[errors[0].range.clone()].to_owned();
    (errors[0].clone(), at)
}

fn rmm(text: &str, message: &str, at: &str) {
    let (found, place) = error(&weir_front::rmm::LANGUAGE, text);
    assert!(found.message.contains(message), "{} of {text}", found.message);
    assert_eq!(place, at, "{} of {text}", found.message);
}

fn trencher(text: &str, message: &str, at: &str) {
    let (found, place) = error(&weir_front::trencher::LANGUAGE, text);
    assert!(found.message.contains(message), "{} of {text}", found.message);
    assert_eq!(place, at, "{} of {text}", found.message);
}

const HEAD: &str =
    "forbidden L data x = 0 : [0:1] y = 0 process data d = 0 registers $r = 0 text L: ";

#[test]
fn rmm_errors_point_at_the_text() {
    for (code, message, at) in [
        ("write: z := 1", "there is no variable `z`", "z"),
        ("write: d := 1", "there is no variable `d`", "d"),
        ("write: x[my] := 1", "no process has data `x`", "x"),
        ("write: d[0] := 1", "the file has 1 process", "d"),
        ("$s := 1", "there is no register `$s`", "$s"),
        ("$r := x", "`x` is not a register", "x"),
        ("goto M", "`M` is not a label", "M"),
        ("nop; L: nop", "there are two labels `L`", "L"),
        ("nop;", "expected a statement", ""),
        ("nop nop", "expected `;` and another statement", "nop"),
        ("if $r then nop", "expected a comparison", "then"),
        ("syncwr: 1", "expected a variable", "1"),
        ("locked { read: x = 1; read: y = 1 }", "without a write reads two places", "locked"),
        ("locked { write: x := 1; write: [$r] := 1; read: $r := x }", "may be one that", "read"),
        ("locked { M: nop }", "a label is not allowed in a locked block", "M"),
        ("locked { goto L }", "`goto` is not allowed in a locked block", "goto"),
        ("locked { while $r = 0 do nop }", "`while` is not allowed in a locked block", "while"),
        (
            "write: x := 170141183460469231731687303715884105728",
            "does not fit into 128 bits",
            "170141183460469231731687303715884105728",
        ),
        ("nop §", "`§` is not part", "§"),
        ("nop /* open", "not closed", "/*"),
    ] {
        rmm(&format!("{HEAD}{code}"), message, at);
    }
    rmm("nop", "expected `forbidden`", "nop");
    rmm("data x = *", "expected `process`", "");
    rmm("process registers $r = * text $r := $r + 1", "may begin with any number at all", "$r");
    rmm("data x = * process text write: x := 1", "may begin with any number at all", "x");
    rmm("forbidden L L process text L: nop", "2 entries for 1 process", "L");
    rmm("forbidden M process text L: nop", "has no label `M`", "M");
    rmm("forbidden L data x = 3 : [0:1] process text L: nop", "outside its domain", "x");
    for range in ["[0:65536]", "[-170141183460469231731687303715884105727:9]"] {
        let text = format!("forbidden L data x = 0 : {range} process text L: nop");
        read("file", &text, Some(&weir_front::rmm::LANGUAGE)).unwrap();
    }
    rmm("forbidden L data x = 0 : [2:1] process text L: nop", "no value from 2 to 1", "[");
    rmm("forbidden L data x = * process text L: nop", "any number at all", "x");
    rmm("forbidden L data x = 0 x = 0 process text L: nop", "two `x`", "x");
    rmm("forbidden L process text L: write: [0] := 1", "no global variable", "[");
}

#[test]
fn errors_inside_macros_point_at_the_use() {
    let text = "macro set(place, e)\n  write: place := e;\n  write: nowhere := 1\nendmacro\n\
                forbidden L data x = 0 process text L: set(x, 1)";
    let (found, at) = error(&weir_front::rmm::LANGUAGE, text);
    assert_eq!(found.message, "there is no variable `nowhere`");
    assert_eq!(at, "set");
    assert_eq!(&*found.label, "used here");
    let (range, note) = &found.notes[0];
    assert_eq!(&text[range.clone()], "nowhere");
    assert_eq!(note, "this is in macro `set`");

    // An argument is what is written at the use.
    let text = text.replace("set(x, 1)", "set(missing, 1)");
    let errors = read("file", &text, Some(&weir_front::rmm::LANGUAGE)).unwrap_err();
    assert!(errors.iter().any(|e| &text[e.range.clone()] == "missing" && e.notes.is_empty()));

    // Of macros in macros, the outermost use is shown.
    let text = "macro a() write: z := 1 endmacro macro b() a() endmacro \
                forbidden L process text L: b()";
    let (found, at) = error(&weir_front::rmm::LANGUAGE, text);
    assert_eq!((at.as_str(), found.message.as_str()), ("b", "there is no variable `z`"));

    for (text, message, at) in [
        (
            "macro m(a) endmacro forbidden L process text L: m()",
            "takes 1 argument, and gets 0",
            "m",
        ),
        ("macro m(a) nop endmacro forbidden L process text L: m(", "do not end", "m"),
        (
            "macro m(a, b) nop endmacro forbidden L process text L: m(x,)",
            "argument is missing",
            ")",
        ),
        ("macro m(a, a) nop endmacro forbidden L", "two parameters `a`", "a"),
        ("macro m() nop endmacro macro m() nop endmacro", "two macros `m`", "m"),
        ("macro m() nop", "does not end", "m"),
        ("macro m() macro n() endmacro endmacro", "inside a macro", "macro"),
        ("macro m() m() endmacro forbidden L process text L: m()", "uses itself", "m"),
    ] {
        rmm(text, message, at);
    }
}

#[test]
fn trencher_errors_point_at_the_text() {
    for (code, message, at) in [
        ("transition a b wirte 1 x", "there is no instruction `wirte`", "wirte"),
        ("transition a b read 1 x", "`1` is not a register", "1"),
        (
            "transition a b write 1 10",
            "address 10 is outside of memory",
            "transition a b write 1 10",
        ),
        ("transition a b write 1 -1", "address -1 is outside", "transition a b write 1 -1"),
        ("transition a b check 1x", "is not a number", "1x"),
        ("transition q b unlock", "without a `lock`", "transition q b unlock"),
        ("transition q b lock", "without `unlock`", "transition q b lock"),
        (
            "transition q b lock transition b b local r + r 1",
            "this `lock` is around too much",
            "transition b b local r + r 1",
        ),
        (
            "transition q b lock transition b c read r x transition c d write 1 r \
             transition d e write 2 x transition e f read s r transition f q unlock",
            "may be one that was written",
            "transition e f read s r",
        ),
        ("transition q b lock transition b c lock", "inside another", "transition b c lock"),
        ("initial r", "has two `initial`", "initial"),
        ("wait", "expected `initial`, `final`, `transition` or `end`", "wait"),
    ] {
        trencher(&format!("thread t initial q {code} end"), message, at);
    }
    trencher("thread t initial q transition a b", "an instruction, found the end", "");
    trencher("thread t end", "no `initial` state", "t");
    trencher("thread t initial q end thread t initial q end", "two threads `t`", "t");
    trencher("memory_size x", "the size of memory", "x");
    trencher("threat t", "expected `thread`", "threat");
}

#[test]
fn languages_are_told_apart() {
    for (name, text, language) in [
        ("a.rmm", "", "rmm"),
        ("a", "/* hello */ forbidden L", "rmm"),
        ("a", "macro m() nop endmacro", "rmm"),
        ("a.txt", "# hello\n\nthread t\ninitial q\nend", "trencher"),
        ("-", "memory_size 5\nthread t\n", "trencher"),
        ("a.weir", "thread t\n", "weir"),
        ("a", "var x process p { x = 1 }", "weir"),
        ("a", "X86 SB\n{ x=0; }\n P0 ;\n MOV [x],$1 ;\nexists (x=1)", "litmus"),
    ] {
        assert_eq!(weir_front::detect(name, text).name, language, "{name}: {text}");
    }
}
