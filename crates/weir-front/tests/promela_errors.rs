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
        ("c_code { int x; }", "C code is not supported", "c_code"),
        ("c_decl { int x; }", "C code is not supported", "c_decl"),
        ("#include \"other.pml\"", "is not found", "include"),
        ("#error no", "`#error` is not supported", "#error no"),
        ("chan c = [999] of { byte };", "room for 0 to 255 messages", "999"),
        ("T t;", "expected a declaration", "T"),
    ] {
        wrong(&format!("{text}\n{p}"), message, place);
    }
    for (body, message, place) in [
        ("P@here", "a process cannot see where another one stands", "P"),
        ("r = enabled(0)", "`enabled` is not supported", "enabled"),
        ("r = pc_value(0)", "`pc_value` is not supported", "pc_value"),
        ("r = _last", "`_last` is not supported", "_last"),
        ("np_", "`np_` is not supported", "np_"),
        ("do :: run P() od", "how many processes this runs is not known", "run"),
        ("x ! 1", "`x` is not a channel", "x"),
        ("x.f = 1", "`x` has no fields", "x"),
        ("(timeout && x == 1)", "`timeout` has to be a whole statement", "timeout"),
    ] {
        wrong_inside(body, message, place);
    }
}

/// One cause is one error, also if it is in a declaration.
#[test]
fn one_error_for_one_cause() {
    for text in [
        "byte x[y]; active proctype P() { x[0] = 1; x[1] = 2; assert(x[0] == 1) }",
        "active proctype P() { byte a[z]; a[0] = 1; a[1] = 2 }",
        "chan c = [999] of { byte }; active proctype P() { byte x; c ! 1; c ? x; assert(len(c) == 0) }",
        "active proctype P() { missing = 1 } active proctype Q() { skip }",
        "byte x; active proctype P() { if :: x == 1 -> y = 2 :: else -> skip fi; x = 2 }",
    ] {
        let found = errors(text);
        assert_eq!(found.len(), 1, "{found:?}\nin\n{text}");
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
        ("_pid = 1", "`_pid` cannot be changed", "_pid"),
    ] {
        wrong_inside(body, message, place);
    }
    wrong("byte x;", "nothing runs", "");
    wrong("byte x, x; active proctype P() { skip }", "declared twice", "x");
    wrong("byte x[y]; active proctype P() { skip }", "has to be a constant", "y");
    wrong("active proctype P() { skip", "this block is not closed", "{");
    wrong("active [99] proctype P() { skip }", "at most 64 processes", "P");
    wrong("proctype P() { skip } init { run Q() }", "there is no `proctype` `Q`", "Q");
    wrong("proctype P(byte i) { skip } init { run P() }", "takes 1 arguments, not 0", "P");
    wrong("/* open", "this comment is not closed", "/*");
    wrong("#ifdef A\nbyte x;", "`#endif` is missing", "ifdef");
}

/// Files that a model includes, and errors in them.
#[test]
fn included_files() {
    use weir_front::Settings;
    use weir_front::promela::read_with;
    let files = |path: &std::path::Path| match path.to_str() {
        Some("models/one.pml") => Ok("#include \"two.pml\"\n#define N 3\n".to_owned()),
        Some("models/two.pml") => Ok("byte x;\n".to_owned()),
        Some("models/bad.pml") => Ok("byte y = \n;\n".to_owned()),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    let settings = Settings { files, ..Settings::default() };
    let text = "#include \"one.pml\"\nactive proctype P() { x = N; assert(x == 3) }\n";
    let (program, _) = read_with("models/main.pml", text, &settings).unwrap();
    assert_eq!(program.vars[0].name, "x");
    let text = "#ifdef NO\n#include \"none.pml\"\n#endif\nactive proctype P() { skip }\n";
    assert!(read_with("models/main.pml", text, &settings).is_ok());
    let text = "#include \"bad.pml\"\nactive proctype P() { skip }\n";
    let error = &read_with("models/main.pml", text, &settings).unwrap_err()[0];
    assert!(error.file.as_ref().is_some_and(|file| file.0.ends_with("bad.pml")), "{error:?}");
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

#[test]
fn what_is_not_heeded_is_said() {
    let text = "chan c = [1] of { byte };
        active proctype P() priority 2 { xs c; c ! 1 }
        active proctype Q() priority 3 { byte x; xr c; c ? x }
        never { do :: skip od }";
    let (_, source) = read("notes.pml", text).unwrap();
    let notes = [
        "the `never` in this model is not checked",
        "`priority` is ignored: every process may take steps",
        "the `xs` in this model is not checked",
        "the `xr` in this model is not checked",
    ];
    assert_eq!(source.notes, notes);
}
