//! What is short for something else: both are the same program.

use weir_front::weir::{print, read};
use weir_model::program::Program;

fn program(text: &str) -> Program {
    let show = |e: Vec<weir_front::Diagnostic>| panic!("{}", e[0].render("p.weir", text, false));
    read("p.weir", text).unwrap_or_else(show).0
}

/// Both texts are printed in the same way, and what is printed is read and printed so again.
#[track_caller]
fn same(short: &str, long: &str) {
    assert_eq!(fixed(short), print(&program(long)));
}

/// What is printed is read and printed so again.
#[track_caller]
fn fixed(text: &str) -> String {
    let printed = print(&program(text));
    assert_eq!(print(&program(&printed)), printed);
    printed
}

#[track_caller]
fn fails(text: &str, message: &str, at: &str, help: &str) {
    let errors = match read("p.weir", text) {
        Err(errors) => errors,
        Ok(_) => panic!("there is no error in {text}"),
    };
    let messages: Vec<_> = errors.iter().map(|e| e.message.as_str()).collect();
    assert_eq!(messages, [message], "{text}");
    assert_eq!(&text[errors[0].range.clone()], at, "the place of the error in {text}");
    assert_eq!(errors[0].help.as_deref().unwrap_or(""), help, "the help for {text}");
}

#[test]
fn assignments_that_compute() {
    for op in ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"] {
        same(
            &format!("var x process p {{ reg r  x {op}= 2  r {op}= x }}"),
            &format!("var x process p {{ reg r  x = x {op} 2  r = r {op} x }}"),
        );
    }
    // The index is computed once, before the element is loaded.
    same(
        "var x, a[3] process p { a[x] += a[0] }",
        "var x, a[3] process p { reg t0, t1, t2  t0 = x  t1 = a[t0]  t2 = a[0]  a[t0] = t1 + t2 }",
    );
}

#[test]
fn values_that_depend_on_a_condition() {
    same(
        "var x, y process p { reg r  r = x == 1 ? y : r + 1 }",
        "var x, y process p {
            reg r, t0, t1
            t0 = x
            if t0 == 1 { t1 = y  t0 = t1 } else { t0 = r + 1 }
            r = t0
        }",
    );
    // What is known is not computed.
    same("var x process p { x = 1 < 2 ? 3 : x }", "var x process p { x = 3 }");
    same("const N = 1 > 2 ? 3 : 1 < 2 ? 4 : 5 process p { await N == 4 }", "process p { await 1 }");
    // In a formula it is a number.
    same(
        "var x never (x == 1 ? x : 7) == 2 process p { x = 1 }",
        "var x never (x == 1) * x + (not x == 1) * 7 == 2 process p { x = 1 }",
    );
    fails(
        "var x never (x ? 1 / x : 0) == 2 process p { nop }",
        "in a formula, both values of `? :` are computed",
        "x",
        "leave `/`, `%`, `<<`, `>>` and `index` out of them",
    );
}

#[test]
fn loops_that_count() {
    same(
        "var a[4] process p { for i in 1..3 { if i == 2 { continue }  a[i] = i } }",
        "var a[4] process p {
            reg i
            i = 0
            loop { if i >= 3 { break }  i = i + 1  if i == 2 { continue }  a[i] = i }
        }",
    );
    // The bounds are computed once.
    same(
        "var x, y process p { for i in x..x { y = i } }",
        "var x, y process p {
            reg t0, t1, t2, i
            t0 = x  t1 = x  t2 = t1  i = t0 - 1
            loop { if i >= t2 { break }  i = i + 1  y = i }
        }",
    );
    // Two loops may count with one name.
    fixed("var x process p { for i in 0..1 { x = i }  for i in 0..1 { x = i } }");
    // It is no keyword.
    fixed("var for process p { for = 1 }");
}

#[test]
fn registers_belong_to_their_block() {
    same(
        "var x process p {
            if x == 0 { reg r = 1  x = r } else { reg r = 2  x = r }
        }",
        "var x process p {
            reg t0, r = 1, r_2 = 2
            t0 = x
            if t0 == 0 { r = 1  x = r } else { r_2 = 2  x = r_2 }
        }",
    );
    // A declaration that is executed once has nothing to do.
    same("var x process p { reg r = 1  x = r }", "var x process p { reg r = 1  x = r }");
    same(
        "var x process p { again: reg r = 1  x = r  r = 2  goto again }",
        "var x process p { reg r = 1  again: r = 1  x = r  r = 2  goto again }",
    );
    // A register of an atomic block has its value before the block.
    same(
        "var x process p { loop { atomic { reg r = 1  x = r  r = x } } }",
        "var x process p { reg r = 1  loop { r = 1  atomic { x = r  r = x } } }",
    );
    fails(
        "var x process p { if x == 0 { reg r = 1 }  x = r }",
        "`r` is not known here: it is declared in a block",
        "r",
        "",
    );
    fails("var x process p { reg r  if x == 0 { reg r } }", "`r` is declared twice", "r", "");
    fails(
        "var x process p { loop { reg r  r = x }  loop { reg r  r = x } } never p.r == 1",
        "several blocks of process `p` have a register `r`",
        "p.r",
        "give them different names",
    );
}

#[test]
fn arrays_of_registers() {
    same(
        "var x process p { reg a[2] = [3, 4]  a[1] = x  x = a[0] } never p.a[1] == 2",
        "var x process p { reg a_0 = 3, a_1 = 4  a_1 = x  x = a_0 } never p.a_1 == 2",
    );
    same(
        "var x process p { reg a[3], i  a[i] = 7  x = a[i + 1] }",
        "var x process p {
            reg a_0, a_1, a_2, i, t0
            t0 = index(i, 3)
            if t0 < 1 { a_0 = 7 } else { if t0 < 2 { a_1 = 7 } else { a_2 = 7 } }
            t0 = index(i + 1, 3)
            x = (t0 == 0) * a_0 + ((t0 == 1) * a_1 + (t0 == 2) * a_2)
        }",
    );
    fails(
        "process p { reg a[2]  a[2] = 1 }",
        "index 2 is outside of `a`, which has 2 elements",
        "2",
        "",
    );
}

#[test]
fn arrays_of_arrays() {
    let text = "var m[2][3] = [[0, 1, 2], [3, 4, 5]], x
        process p { reg i, j  m[1][j] = m[0][2]  m[i][j] = 9  m[i][1] = m[i][0] }
        never m[1][2] == 9";
    let program = program(text);
    let names: Vec<String> = program.vars.iter().map(|v| v.name.clone()).collect();
    assert_eq!(names, ["m[0]", "m[1]", "x"]);
    let printed = fixed(text);
    // An index over both rows is one over all elements.
    assert!(printed.contains("var m[6] = [0, 1, 2, 3, 4, 5]"), "{printed}");
    assert!(printed.contains("m[i * 3 + index(j, 3)] = 9"), "{printed}");
    assert!(printed.contains("m[i * 3 + 1] ="), "{printed}");
    fails(
        "var m[2][3] process p { m[1][3] = 1 }",
        "index 3 is outside of `m`, which has 3 elements",
        "3",
        "",
    );
    fails(
        "var m[2][3] process p { m[1] = 1 }",
        "`m` is an array; say which element, as in `m[0][0]`",
        "m[1]",
        "",
    );
    fails(
        "var m[1024][2] process p { nop }",
        "an array may have at most 1024 elements in all",
        "m",
        "",
    );
}

#[test]
fn records() {
    let text = "record Node { next: 0..3 = 1, value  tags[2]: bool }
        var head: Node, nodes[2]: Node
        process p {
            reg i, local: Node
            head.next = nodes[1].value
            nodes[i].next = 2
            nodes[i].tags[1] = true
            local.value = head.next
            local.value += nodes[0].next
        }
        never head.next == 3 and nodes[1].tags[0] and p.local.value == 2";
    let program = program(text);
    let names: Vec<String> = program.vars.iter().map(|v| v.name.clone()).collect();
    let head = ["head.next", "head.value", "head.tags"];
    let nodes = [
        "nodes[0].next",
        "nodes[1].next",
        "nodes[0].value",
        "nodes[1].value",
        "nodes[0].tags",
        "nodes[1].tags",
    ];
    assert_eq!(names, [&head[..], &nodes[..]].concat());
    let domains: Vec<bool> = program.vars.iter().map(|v| v.domain.is_some()).collect();
    assert_eq!(domains, [true, false, true, true, true, false, false, true, true]);
    assert_eq!(program.processes[0].registers[1].display, "p.local.next");
    assert_eq!(program.processes[0].registers[1].init, 1);
    let printed = fixed(text);
    assert!(printed.contains("var nodes_next[2]: 0..3 = 1"), "{printed}");
    assert!(printed.contains("nodes_tags[i * 2 + 1] = 1"), "{printed}");
    let wrong = |code: &str| format!("record R {{ f, g[2] }} var r: R, x process p {{ {code} }}");
    fails(&wrong("r = 1"), "`r` is a record; name a field, as in `r.f`", "r", "");
    fails(&wrong("r.h = 1"), "`r` has no field `h`", "h", "");
    fails(&wrong("x.f = 1"), "`x` is not a record", "f", "");
    fails(&wrong("r.g = 1"), "`g` is an array; say which element", "r.g", "");
    fails(&wrong("r[0].f = 1"), "`r` is not an array", "r[0].f", "");
    fails(
        "record R { f } var r: R = 1 process p { nop }",
        "a record begins with what its fields say",
        "1",
        "",
    );
    fixed("var record process p { record = 1 }");
}

#[test]
fn orders() {
    let printed = fixed(
        "var x process p { reg r
            r = x.load(plain)  r = x.load(relaxed)  r = x.load(acquire)  r = x.load(seq_cst)
            x.store(r, plain)  x.store(r, relaxed)  x.store(r, release)  x.store(r, seq_cst)
            r = fetch_add(x, 1, relaxed)  r = swap(x, 1, acq_rel)  r = cas(x, 0, 1, release)
            r = cmpxchg(x, 0, 1, seq_cst, acquire)  r = cas(x, 0, 1) }",
    );
    for kept in ["load(plain)", "store(r, release)", "swap(x, 1, acq_rel)", "seq_cst, acquire)"] {
        assert!(printed.contains(kept), "{kept}: {printed}");
    }
    fixed("var x, y process p { await x.load(acquire) == y.load(seq_cst) }");
    same(
        "var x process p { fence(acquire) fence(release) fence(acq_rel) fence(seq_cst) x = 1 }",
        "var x process p { rfence wfence rfence wfence fence x = 1 }",
    );
    fails(
        "var x process p { reg r  r = fetch_add(x, 1, plain) }",
        "the order of an atomic operation is `relaxed`, `acquire`, `release`, `acq_rel` or `seq_cst`",
        "plain",
        "",
    );
    fails(
        "var x process p { reg r  r = x.load(release) }",
        "the order of a load is `plain`, `relaxed`, `acquire` or `seq_cst`",
        "release",
        "",
    );
    fails(
        "var x process p { reg r  r.store(1, release) }",
        "`r` is a register: only an access to memory has an order",
        "r",
        "",
    );
}

#[test]
fn procedures() {
    // What is known in a call is known in the procedure.
    same(
        "var flag[2] procedure enter(i) { flag[i] = 1  await flag[1 - i] == 0  here: nop }
        process p[i: 0..1] { enter(i)  flag[i] = 0 }
        never count(p@here) == 2",
        "var flag[2]
        process p[i: 0..1] { flag[i] = 1  await flag[1 - i] == 0  here: nop  flag[i] = 0 }
        never count(p@here) == 2",
    );
    // Otherwise it is computed once.
    same(
        "var x, y procedure twice(v) { y = v  y = v } process p { twice(x + 1) }",
        "var x, y process p { reg t0, v  t0 = x  v = t0 + 1  y = v  y = v }",
    );
    // A parameter with `var` stands for what is named.
    same(
        "var a[2], b[2] procedure lock(var l, var o) { while not cas(l, 0, 1) { }  o[0] = 1 }
        process p { reg i  lock(a[i], b) }",
        "var a[2], b[2] process p { reg i  while not cas(a[i], 0, 1) { }  b[0] = 1 }",
    );
    // A value is returned.
    same(
        "var x procedure inc() { return fetch_add(x, 1) } process p { x = inc() + 1 }",
        "var x process p { reg t0  t0 = fetch_add(x, 1)  x = t0 + 1 }",
    );
    same(
        "var x procedure is(v) { if x == v { return 1 }  return 0 } process q { reg r  r = is(4) }",
        "var x process q {
            reg r, t0, t1
            t1 = x
            if t1 == 4 { t0 = 1  goto is_end }
            t0 = 0
            is_end:
            r = t0
        }",
    );
    // Without a value it is 0.
    same(
        "var x procedure f() { if x == 1 { return 1 } } process q { reg r  r = f() }",
        "var x process q { reg r, t0, t1  t0 = 0  t1 = x  if t1 == 1 { t0 = 1 }  r = t0 }",
    );
    // Something can be waited for.
    same(
        "var x procedure is(v) { return x == v } process p { await is(3) }",
        "var x process p { reg t0, t1  await { t1 = x  t0 = t1 == 3 } until t0 }",
    );
    fails(
        "var x procedure is(v) { if x == v { return 1 }  return 0 } process p { await is(3) }",
        "in an `await`, a procedure returns only at its end",
        "return 1",
        "",
    );
    // Its registers have their initial values in every call, and its labels are in every call.
    same(
        "var x procedure f() { reg r = 1  x = r  here: r = 2 } process p { f()  f() } never p@here",
        "var x process p { reg r = 1  r = 1  x = r  here: r = 2  r = 1  x = r  here_2: r = 2 }
        never p@here + p@here_2",
    );
    // Procedures call others, and the order of declarations does not matter.
    same(
        "var x process p { a(1) } procedure a(i) { b(i + 1) } procedure b(i) { x = i }",
        "var x process p { x = 2 }",
    );
    same(
        "object o { var x method m { put(3)  return 1 } } procedure put(v) { x = v  return }",
        "object o { var x method m { x = 3  return 1 } }",
    );
    let wrong = |code: &str| format!("var x procedure f(v) {{ x = v }} process p {{ {code} }}");
    fails(&wrong("f()"), "`f` takes 1 argument, not 0", "f()", "");
    fails(&wrong("x = f(1)"), "procedure `f` returns nothing", "f(1)", "");
    fails(&wrong("g(1)"), "there is no procedure or operation `g`", "g", "");
    fails(&wrong("x(1)"), "`x` is a variable, not a procedure", "x", "");
    let loop_help = "write a loop: a procedure stands where it is called";
    fails(
        "procedure f() { g() } procedure g() { f() } process p { f() }",
        "procedure `f` calls itself",
        "f",
        loop_help,
    );
    fails(
        "var x procedure f(var v) { v = 1 } process p { f(x + 1) }",
        "`v` stands for a variable: name one",
        "x + 1",
        "",
    );
    fails(
        "procedure f() { goto out } process p { f() out: }",
        "`out` is not a label of procedure `f`",
        "out",
        "",
    );
    fixed("var procedure process p { procedure = 1 }");
}

/// Each procedure calls the next one twice.
#[test]
fn calls_are_limited() {
    let chain = |n: usize, body: &str| {
        let mut text = "var x process p { f0() } ".to_owned();
        for i in 0..n {
            let next =
                if i + 1 == n { "nop".to_owned() } else { body.replace('?', &(i + 1).to_string()) };
            text += &format!("procedure f{i}() {{ {next} }} ");
        }
        text
    };
    let first = |text: &str| match read("p.weir", text) {
        Ok(_) => String::new(),
        Err(errors) => errors[0].message.clone(),
    };
    assert_eq!(first(&chain(17, "f?()")), "calls nest more than 16 deep here");
    assert_eq!(first(&chain(16, "f?()")), "");
    let many = first(&chain(16, "f?() f?() f?() f?()"));
    assert_eq!(many, "`p` has more than 60000 calls");
    let dead =
        first(&chain(16, "x = 0 and f?() x = 0 and f?() x = 0 and f?() x = 0 and f?() return 1"));
    assert_eq!(dead, "`p` has more than 60000 calls");
}

#[test]
fn formulas_about_all() {
    same(
        "var a[2] process p[i: 1..3] { here: a[0] = i }
        never exists i: p[i]@here
        always forall i: a[i] == 0
        some: final exists exists i: p[i]@here and i > 1
        never exists i in 0..1: a[i] == i",
        "var a[2] process p[i: 1..3] { here: a[0] = i }
        never p[1]@here != 0 or (p[2]@here != 0 or p[3]@here != 0)
        never not (a[0] == 0 and a[1] == 0)
        some: final exists p[1]@here and 0 or (p[2]@here and 1 or p[3]@here and 1)
        never a[0] == 0 or a[1] == 1",
    );
    fails(
        "var a[2], b[3] process p { nop } never exists i: a[i] == b[i]",
        "`a` and `b` have different numbers",
        "i",
        "say which, as in `exists i in 0..3: …`",
    );
    fails(
        "var x process p { nop } never exists i: x == i",
        "`i` is not the number of a process or an element",
        "i",
        "say which numbers are meant, as in `exists i in 0..3: …`",
    );
    fails(
        "var x process p { x = exists i in 0..1: i }",
        "`exists` and `forall` belong in properties",
        "exists",
        "write a loop: `for i in 0..3 { … }`",
    );
    fails(
        "process p { l: nop } final exists i: p@l",
        "`final exists` is about states, and needs a formula",
        "i",
        "write `final exists exists i: …` or `final exists forall i: …`",
    );
    fails(
        "var x process p { nop } never exists i in 0..99999999999999: x == i",
        "`exists` and `forall` make more than 16384 formulas",
        "exists",
        "",
    );
}

#[test]
fn words_of_other_languages() {
    let blocks = "blocks are written `{ … }`";
    let help = |code: &str, word: &str, help: &str| {
        let text = format!("var x process p {{ {code} }}");
        fails(&text, &format!("`{word}` is not a statement"), word, help);
    };
    help("skip", "skip", "a statement that does nothing is `nop`");
    help("x = 1 fi", "fi", blocks);
    help("for (x = 1)", "for", "a loop that counts is `for i in 0..3 { … }`");
    fails(
        "var x process p { print(x) }",
        "there is no procedure or operation `print`",
        "print",
        "nothing is printed: a run shows every step, and `observe` says which values `weir outcomes` \
         shows",
    );
    let top = |word: &str, rest: &str| {
        let text = format!("{word} {rest}");
        let errors = read("p.weir", &text).expect_err(&text);
        assert!(errors[0].help.as_deref().is_some_and(|h| h.contains('`')), "{:?}", errors[0]);
    };
    top("thread", "p { }");
    top("struct", "node { int x; }");
    top("int", "x = 1");
    top("function", "f() { }");
    top("invariant", "x == 1");
}

#[test]
fn assertions_that_say_something() {
    let text = "var x process p { assert x == 1, \"x is \\ lost\"  assert x == 2 }";
    let program = program(text);
    assert_eq!(program.messages.values().collect::<Vec<_>>(), ["x is \\ lost"]);
    assert!(fixed(text).contains("assert t0 == 1, \"x is \\ lost\""));
    fails(
        "var x process p { assert x == 1, }",
        "expected what to say, as in `assert x == 1, \"x is lost\"`, found `}`",
        "}",
        "",
    );
    let errors = read("p.weir", "var x process p { assert x == 1, \"open\n }").unwrap_err();
    assert_eq!(errors[0].message, "this text is not closed: `\"` is missing");
}
