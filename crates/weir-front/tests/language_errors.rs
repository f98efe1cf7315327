//! Error messages: what they say, what they point at, and how many there are.

use weir_front::Diagnostic;
use weir_front::weir::read;

fn errors(text: &str) -> Vec<Diagnostic> {
    let errors = read("test.weir", text).expect_err(text);
    assert!(!errors.is_empty(), "no error for {text}");
    errors
}

/// The only error of `text`: its message, the text that it points at, its help.
#[track_caller]
fn fails(text: &str, message: &str, at: &str, help: &str) -> Diagnostic {
    let errors = errors(text);
    let messages: Vec<_> = errors.iter().map(|e| e.message.as_str()).collect();
    assert_eq!(messages, [message], "of {text}");
    let error = errors.into_iter().next().unwrap();
    assert_eq!(&text[error.range.clone()], at, "the place in {text}");
    assert_eq!(error.help.as_deref().unwrap_or(""), help, "the help for {text}");
    error
}

/// As [`fails`], for the body of a process.
#[track_caller]
fn body_fails(body: &str, message: &str, at: &str, help: &str) {
    let text = format!("const N = 3\nvar flag, x, a[3]: 0..3\nprocess p {{ reg r; {body} }}");
    fails(&text, message, at, help);
}

#[test]
fn names() {
    let none = "there is no variable, register or constant `flog`";
    body_fails("x = flog", none, "flog", "did you mean `flag`?");
    body_fails("zz = 1", "there is no variable or register `zz`", "zz", "");
    body_fails("cas(zz, 0, 1)", "there is no shared variable `zz`", "zz", "");
    body_fails("N = 1", "`N` is a constant, not a variable", "N", "");
    body_fails("p = 1", "`p` is a process, not a variable", "p", "");
    body_fails("x = a", "`a` is an array; say which element, as in `a[0]`", "a", "");
    body_fails("x = x[1]", "`x` is not an array", "x[1]", "");
    body_fails("r[1] = 1", "`r` is not an array", "r[1]", "");
    let (needs, write) = (
        "`update` needs a register for what it reads",
        "write it as a statement: `r = update(x, r == 0, r + 1)`",
    );
    body_fails("update(x, 1, 2)", needs, "update(x, 1, 2)", write);
    body_fails("x = 1 + update(x, 1, 2)", needs, "update(x, 1, 2)", write);
    let registers = "`update` waits with registers and constants only";
    body_fails("r = update(x, flag == 0, 1)", registers, "update(x, flag == 0, 1)", "");
    body_fails("swap(r, 1)", "`r` is a register, not a shared variable", "r", "");
    body_fails("a[3] = 1", "index 3 is outside of `a`, which has 3 elements", "3", "");
    body_fails("x = a[N * -1]", "index -3 is outside of `a`, which has 3 elements", "N * -1", "");
    let label = "`critical` is not a label of process `p`";
    body_fails("critcal: goto critical", label, "critical", "did you mean `critcal`?");
    body_fails("x = s; reg s", "`s` is used before it is declared", "s", "");
    body_fails("x = p@l", "only a property can look into a process", "p@l", "");
    body_fails("x = foo(1)", "there is no procedure or operation `foo`", "foo", "");
    body_fails(
        "cass(x, 0, 1)",
        "there is no procedure or operation `cass`",
        "cass",
        "did you mean `cas`?",
    );
}

#[test]
fn declarations() {
    let p = "process p { }";
    let error = fails(&format!("var x\nconst x = 1\n{p}"), "`x` is declared twice", "x", "");
    assert_eq!(error.notes, [(4..5, "it is declared here first".to_owned())]);
    let error =
        fails("var x\nprocess p { reg x }", "`x` is already the name of something else", "x", "");
    assert_eq!(error.notes, [(4..5, "it is a variable here".to_owned())]);
    fails("process p { reg r; reg r }", "`r` is declared twice", "r", "");
    fails("process p { l: nop; l: nop }", "`l` is declared twice", "l", "");
    fails("process p[i: 0..1] { reg i }", "`i` is declared twice", "i", "");
    fails("process p[= 0] { } process p[i: 0..1] { }", "`p[0]` is declared twice", "p", "");
    fails(&format!("const a = b const b = a {p}"), "the constant `a` needs itself", "a", "");
    fails(
        &format!("const a = 1 / (2 - 2) {p}"),
        "this constant divides by zero",
        "1 / (2 - 2)",
        "",
    );
    fails(&format!("var x const a = x {p}"), "`x` is not a constant", "x", "");
    fails(&format!("var x: 3..1 {p}"), "the range 3..1 is empty", "3..1", "");
    fails(&format!("var x: u7 {p}"), "there is no type `u7`", "u7", "did you mean `u8`?");
    fails(&format!("var u8 {p}"), "`u8` is a word of the language, not a name", "u8", "");
    fails(
        &format!("const c = u8 {p}"),
        "expected `(` and a number after `u8`, found `process`",
        "process",
        "",
    );
    fails(
        &format!("var x: i8 = 128 {p}"),
        "the initial value 128 is outside the domain",
        "128",
        "",
    );
    fails(
        &format!("var x: u64 = any {p}"),
        "all uses of `any` and all arguments of methods together may list at most 1048576 values",
        "any",
        "",
    );
    fails(&format!("var x: 0..3 = 4 {p}"), "the initial value 4 is outside the domain", "4", "");
    fails(&format!("var x: p {p}"), "`p` is a process, not an enum", "p", "");
    fails(
        &format!("var a[0] {p}"),
        "the length of an array has to be between 1 and 1024, not 0",
        "0",
        "",
    );
    fails(&format!("var a[2] = [1] {p}"), "the array has 2 elements, but 1 values", "[1]", "");
    fails(&format!("var x = [1] {p}"), "only an array has a list of initial values", "[1]", "");
    let any = "`any` needs a domain to choose from, as in `var x: 0..3 = any`";
    fails(&format!("var x = any {p}"), any, "any", "");
    fails("process p[i: 0..64] { }", "a program may have at most 64 processes", "p", "");
    fails("process p[i: 1..0] { }", "the family `p` has no members", "p", "");
    let help = "`process p[2]` declares two processes, `p[0]` and `p[1]`; `process p[= 2]` declares `p[2]` alone";
    fails("process p[0] { }", "the family `p` has no members", "p", help);
    fails("process p[-3] { }", "the family `p` has no members", "p", help);
    fails("process p[65] { }", "a program may have at most 64 processes", "p", "");
    let twice = errors("process p[1] { }\nprocess p[2] { }");
    assert_eq!(twice[0].message, "`p[0]` is declared twice");
    assert_eq!(twice[0].help.as_deref(), Some(help));
    let help = "choose one in a statement, as in `r = any(0..3)`";
    fails("process p { reg r: 0..1 = any }", "a register begins with one value", "any", help);
    fails("// nothing\n", "the program has no process", "", "add one: `process p { … }`");
    let many: String = (0..60).map(|i| format!("var v{i}[1024]\n")).collect();
    let errors = errors(&format!("{many}{p}"));
    assert_eq!(errors[0].message, "a program may have at most 60000 variables");
}

#[test]
fn formulas() {
    let program = |formula: &str| {
        format!(
            "var x, a[2]\nprocess one {{ reg r; l: nop }}\nprocess p[i: 0..2] {{ k: nop }}\nnever {formula}"
        )
    };
    let range = "there is no `p[3]`: the numbers of `p` are 0..2";
    fails(&program("p[3]@k"), range, "p[3]", "");
    fails(&program("one[0]@l"), "`one` is a single process, not a family", "one[0]", "");
    fails(&program("one@m"), "`m` is not a label of process `one`", "m", "");
    fails(&program("count(p@l) == 1"), "`l` is not a label of process `p[0]`", "l", "");
    fails(&program("one.s"), "`s` is not a register of process `one`", "s", "");
    fails(
        &program("r == 1"),
        "there is no variable or constant `r`",
        "r",
        "name its process, as in `one.r`",
    );
    fails(&program("a[2]"), "index 2 is outside of `a`, which has 2 elements", "2", "");
    fails(&program("a[x]"), "`x` is not a constant", "x", "");
    fails(&program("one"), "`one` is a process; name a place of it, as in `one@label`", "one", "");
    fails(
        &program("cas(x, 0, 1)"),
        "a formula looks at a state: it cannot do anything",
        "cas(x, 0, 1)",
        "",
    );
    let family = "`p` is a family of processes; say which one, as in `p[0]`, or how many, as in `count(p@label)`";
    fails(&program("p@k"), family, "p", "");
}

#[test]
fn grammar() {
    let use_equals = "`=` assigns; it is not allowed here";
    body_fails("if x = 1 { nop }", use_equals, "=", "use `==` to compare");
    let chain = "comparisons do not chain; use `and`";
    body_fails("r = 1 < x < 3", chain, "<", "write `a < b and b < c`");
    body_fails("x++", "`++` is not an operator", "++", "write `x += 1`");
    body_fails("a[0]--", "`--` is not an operator", "--", "write `a[…] -= 1`");
    body_fails("x := 1", "`:=` is not an operator", ":=", "use `=` to assign");
    body_fails("x == 1", "`==` compares; this is not a statement", "==", "use `=` to assign");
    body_fails("while x y", "expected `{` after the condition of `while`, found `y`", "y", "");
    body_fails(
        "whlie x { nop }",
        "expected `=`, `[` or `:` after `whlie`, found `x`",
        "x",
        "did you mean `while`?",
    );
    body_fails("x = ", "expected an expression, found `}`", "}", "");
    body_fails("x = (1 + 2", "expected `)` to close the bracket, found `}`", "}", "");
    body_fails(
        "x = 1 + not r",
        "`not` binds more weakly than the operator before it",
        "not",
        "put it in brackets: `(not …)`",
    );
    body_fails(
        "min(x, 1)",
        "this value is not used",
        "min(x, 1)",
        "a statement has to do something: `r = …`, `assume …`",
    );
    body_fails("else { }", "there is no `if` before this `else`", "else", "");
    body_fails("call f", "`call` is reserved for a later version of the language", "call", "");
    body_fails("reg loop", "`loop` is a word of the language, not a name", "loop", "");
    body_fails("break", "`break` outside of a loop", "break", "");
    body_fails("x = 12ab", "`12ab` is not a number", "12ab", "");
    body_fails(
        "x = 170141183460469231731687303715884105728",
        "`170141183460469231731687303715884105728` does not fit into 128 bits",
        "170141183460469231731687303715884105728",
        "",
    );
    body_fails("x = 1 #", "`#` is not part of the language", "#", "");
    body_fails("cas(x, 1)", "expected `,` and the new value in `cas(`, found `)`", ")", "");
    let waits = "`await` may only load, assign registers, and test with `if`";
    let help = "write a loop: `loop { … if … { break } }`";
    body_fails("await { x = 1 } until r", waits, "x = 1", help);
    body_fails("await any(0..1) == x", "`any` is not allowed in `await`", "any(0..1)", help);
    fails("process p { } /* ", "this comment is not closed: `*/` is missing", "/*", "");
}

#[test]
fn a_missing_brace_is_shown_where_it_opened() {
    let text = "var x\nprocess p { loop { x = 1\n}\nprocess q { nop }";
    let error = fails(text, "expected `}` before `process`", "process", "");
    assert_eq!(error.notes, [(16..17, "this `{` is not closed".to_owned())]);
    let error = fails("process p { ", "expected `}` before the end of the file", "", "");
    assert_eq!(error.notes, [(10..11, "this `{` is not closed".to_owned())]);
    fails("process p { nop } }", "there is no `{` for this `}`", "}", "");
}

#[test]
fn one_run_reports_all_errors() {
    let text = "
        var x, y
        process p {
            x = = 1
            y = 2 +
            if x = 1 { flog = 2 }
            while x > { z = 1 }
            goto nowhere
        }
        process q { x = yy; x + 1; a: b: reg r }
        never xx == 1
        never x ==
        final sometimes x == 1";
    let messages: Vec<_> = errors(text).into_iter().map(|e| e.message).collect();
    assert_eq!(
        messages,
        [
            "expected an expression, found `=`",
            "expected an expression, found `if`",
            "`=` assigns; it is not allowed here",
            "there is no variable or register `flog`",
            "expected an expression, found `{`",
            "there is no variable or register `z`",
            "`nowhere` is not a label of process `p`",
            "there is no variable, register or constant `yy`",
            "expected `=`, `[` or `:` after `x`, found `+`",
            "there is no variable or constant `xx`",
            "expected an expression, found `final`",
            "expected `exists`, `never` or `always` after `final`, found `sometimes`",
        ]
    );
}

#[test]
fn errors_do_not_cascade() {
    // A declaration that is wrong does not make its uses wrong.
    assert_eq!(errors("var x: 3..1\nprocess p { x = x + 1 }\nnever x == 1").len(), 1);
    assert_eq!(errors("var x: 0..\nprocess p { x = x + 1 }\nnever x == 1").len(), 1);
    // The copies of a family report an error once.
    assert_eq!(errors("process p[i: 0..9] { z = i }").len(), 1);
    // At most 50.
    let text = format!("process p {{ {} }}", "z = 1\n".repeat(1000));
    assert_eq!(errors(&text).len(), 50);
}

#[test]
fn objects_stand_alone() {
    for (text, message) in [
        (
            "object o { method m { } } var x",
            "a file with an object has its variables in the object",
        ),
        ("object o { method m { } } process p { }", "a file with an object has no processes"),
        ("object o { method m { } } never 1", "an object has no properties"),
        ("object o { method m { } } object p { method n { } }", "one object only"),
        ("object o { var x }", "the object has no methods"),
        ("object o { method m { exit } }", "`exit` is not allowed in a method"),
        ("object o { method m(a) { } }", "expected `:` and the values of the argument"),
        ("object o { method m(a: bool, b: bool) { } }", "a method has at most one"),
        ("object o { method m { } method m { } }", "`m` is declared twice"),
        ("object o { reg r }", "expected `var`, `method` or `}` in an object"),
        ("object o { method m { }", "expected `}` after the object"),
        ("method m { }", "this method has no object"),
        ("process p { return }", "`return` outside of a method"),
        ("process p { } live sometimes 1", "expected `exists`, `never`, `always` or `terminates`"),
    ] {
        let errors = weir_front::weir::read("o.weir", text).expect_err(text);
        assert!(errors.iter().any(|e| e.message.contains(message)), "{text}: {errors:?}");
    }
}
