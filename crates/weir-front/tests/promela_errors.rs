//! What is wrong in a model, or not supported, is said at its place.

use weir_front::promela::read;

/// Reads what is wrong: the message and the text that it points at, of each error.
fn errors(text: &str) -> Vec<(String, String)> {
    let errors = read("wrong.pml", text).expect_err(text);
    errors.into_iter().map(|e| (e.message, text[e.range].to_owned())).collect()
}

/// The first error has this in its message, and points at this text.
fn wrong(text: &str, message: &str, place: &str) {
    let found = errors(text);
    let (found_message, found_place) = &found[0];
    assert!(found_message.contains(message), "{found_message}\nin\n{text}");
    assert_eq!(found_place, place, "{found_message}\nin\n{text}");
}

/// The same inside of a process.
fn wrong_inside(body: &str, message: &str, place: &str) {
    let text = format!("byte x, y, a[2]; active proctype P() {{ byte r; {body} }}");
    wrong(&text, message, place);
}

#[test]
fn what_is_not_supported() {
    let p = "active proctype P() { skip }";
    for (text, message, place) in [
        ("chan c = [1] of { byte };", "channels are not supported", "chan"),
        ("ltl safe { [] (x == 0) }", "`ltl` blocks are not supported", "ltl"),
        ("never { do :: skip od }", "`never` claims are not supported", "never"),
        ("typedef T { byte a; byte b }", "`typedef` is not supported", "typedef"),
        ("c_code { int x; }", "C code is not supported", "c_code"),
        ("trace { skip }", "`trace` is not supported", "trace"),
        ("#include \"other.pml\"", "`#include` is not supported", "include"),
        ("#error no", "`#error` is not supported", "#error no"),
        ("byte a[2] = { 1, 2 };", "lists of initial values", "{"),
    ] {
        wrong(&format!("{text}\n{p}"), message, place);
    }
    for (body, message, place) in [
        ("c ! 1", "channels are not supported", "!"),
        ("c ? r", "channels are not supported", "?"),
        ("timeout -> skip", "`timeout` is not supported", "timeout"),
        ("if :: timeout :: x == 1 fi", "`timeout` is not supported", "timeout"),
        ("{ skip } unless { x == 1 }", "`unless` is not supported", "unless"),
        ("x = _nr_pr", "`_nr_pr` is not supported", "_nr_pr"),
        ("x = len(c)", "channels are not supported", "len"),
        ("x.f = 1", "records are not supported", "."),
        ("P@here", "a process cannot see where another one stands", "@"),
        ("run P()", "only `init` can run processes", "P"),
        ("r = enabled(0)", "`enabled` is not supported", "enabled"),
    ] {
        wrong_inside(body, message, place);
    }
    wrong("proctype P() provided (x == 1) { skip }", "`provided` is not supported", "provided");
    wrong("active proctype P() priority 2 { skip }", "`priority` is not supported", "priority");
}

#[test]
fn what_one_atomic_read_write_cannot_do() {
    for (body, message, place) in [
        ("atomic { x = y }", "two variables", "atomic"),
        ("d_step { x = 1; y = 1 }", "two variables", "d_step"),
        ("atomic { a[0] == 0 -> a[1] = 1 }", "two variables", "atomic"),
        ("atomic { a[r] == 0 -> a[1] = 1 }", "two variables", "atomic"),
        ("atomic { r = x; y == 0; skip }", "two variables", "atomic"),
        ("atomic { x = 1; x == 2; x = 3 }", "may wait in the middle", "x"),
        ("atomic { r = x; if :: r == 0 -> x = 1 :: r == 1 -> x = 2 fi }", "may wait", "if"),
        ("atomic { do :: x == 0 -> x = 1 :: else -> break od }", "a loop", "do"),
        ("atomic { x++; fence; skip }", "a fence", "fence"),
        ("atomic { r = x; r++; a[r] = 1 }", "has to be known before the block begins", "r"),
        ("atomic { r++; a[r & 1]++ }", "has to be known before the block begins", "r"),
        ("atomic { a[x]++ }", "has to be known before the block begins", "x"),
        ("atomic { x++; here: x++ }", "a label is not allowed inside", "here"),
    ] {
        wrong_inside(body, message, place);
    }
}

#[test]
fn what_is_wrong() {
    for (body, message, place) in [
        ("z = 1", "there is no variable `z`", "z"),
        ("r = a", "`a` is an array", "a"),
        ("r = x[0]", "`x` is not an array", "x"),
        ("a[2] = 1", "index 2 is outside of `a`", "a"),
        ("goto nowhere", "`nowhere` is not a label", "nowhere"),
        ("break", "`break` outside of a loop", "break"),
        ("else", "`else` can only begin an option", "else"),
        ("if :: else :: else fi", "a second `else`", "else"),
        ("L: skip; L: skip", "`L` is declared twice", "L"),
        ("byte r", "`r` is declared twice", "r"),
        ("f(1)", "there is no `inline` or macro `f`", "f"),
        ("x = 1 y = 2", "expected `;` between two statements", "y"),
        ("x = ", "expected an expression, found `}`", "}"),
        ("if :: x == 1", "expected `::` or `fi`", "}"),
        ("if fi", "expected `::` and an option", "fi"),
        ("x = 99999999999", "does not fit into 32 bits", "99999999999"),
        ("r = 12ab", "is not a number", "12ab"),
        ("if :: do :: x == 1 od :: y == 1 fi", "an option cannot begin with this", "do"),
        ("_pid = 1", "`_pid` cannot be changed", "_pid"),
    ] {
        wrong_inside(body, message, place);
    }
    wrong("byte x;", "nothing runs", "");
    wrong("byte x, x; active proctype P() { skip }", "declared twice", "x");
    wrong("byte x[y]; active proctype P() { skip }", "has to be a constant", "y");
    wrong("active proctype P() { skip", "this block is not closed", "{");
    wrong("active [99] proctype P() { skip }", "at most 64 processes", "P");
    wrong("proctype P() { skip } init { run Q() }", "there is no `proctype` `Q`", "run");
    wrong("proctype P(byte i) { skip } init { run P() }", "takes 1 arguments, not 0", "run");
    let raced = "byte x; proctype P() { skip } init { run P(); x = 1; run P() }";
    wrong(raced, "others may see this", "x");
    let guessed = "byte x; proctype P() { skip } init { if :: x = 1 :: x = 2 fi; run P() }";
    wrong(guessed, "more than one option", "if");
    wrong("/* open", "this comment is not closed", "/*");
    wrong("#ifdef A\nbyte x;", "`#endif` is missing", "ifdef");
}

/// An error in what a macro or an `inline` became has both places.
#[test]
fn errors_inside_of_macros() {
    let text = "#define SET(v) v = missing\nbyte x; active proctype P() { SET(x) }";
    let error = &read("m.pml", text).unwrap_err()[0];
    assert_eq!(&text[error.range.clone()], "SET");
    assert_eq!(&text[error.notes[0].0.clone()], "missing");

    let text = "inline set(v) { v = missing }\nbyte x; active proctype P() { set(x) }";
    let error = &read("m.pml", text).unwrap_err()[0];
    assert_eq!(&text[error.range.clone()], "missing");
    assert_eq!(&text[error.notes[0].0.clone()], "set");
    assert_eq!(error.notes[0].0.start, text.rfind("set").unwrap());

    wrong("#define F(a, b) a\nactive proctype P() { F(1) }", "`F` takes 2 arguments, not 1", "F");
    let text = "inline f() { f() } active proctype P() { f() }";
    wrong(text, "`f` calls itself", "f");
}

/// Comments that ask are read at their place.
#[test]
fn errors_in_questions() {
    let text = "byte x; active proctype P() { x = 1 }\n// weir: never zz == 1\n";
    wrong(text, "there is no variable or constant `zz`", "zz");
    let text = "byte x; active proctype P() { x = 1 }\n/* weir: never P@here */\n";
    wrong(text, "`here` is not a label", "here");
    let text = "byte x; active proctype P() { x = 1 }\n// weir: var y\n";
    wrong(text, "only properties", "var y");
}
