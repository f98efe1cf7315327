//! What each construct becomes, shown by printing the program back.

use weir_front::weir::{print, read};
use weir_model::program::StmtKind;

/// The text between `process p {` and its `}`, without indentation of its own.
fn body(text: &str) -> String {
    let text = format!("var x, y, a[4], d: 0..3\nprocess p {{ {text} }}");
    let (program, _) = read("test.weir", &text)
        .unwrap_or_else(|e| panic!("{}", e[0].render("test.weir", &text, false)));
    let printed = print(&program);
    let start = printed.find("process p {\n").unwrap() + "process p {\n".len();
    let end = start + printed[start..].find("\n}").unwrap();
    let lines = printed[start..end].lines();
    lines.map(|l| l.strip_prefix("    ").unwrap_or(l)).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn becomes(text: &str, lines: &[&str]) {
    assert_eq!(body(text), lines.join("\n"), "of {text}");
}

#[test]
fn loads_go_from_left_to_right_and_straight_into_registers() {
    becomes("reg r; r = x", &["reg r", "r = x"]);
    becomes("x = y", &["reg t0", "t0 = y", "x = t0"]);
    becomes(
        "reg r; r = x + y * x",
        &["reg r, t0, t1, t2", "t0 = x", "t1 = y", "t2 = x", "r = t0 + t1 * t2"],
    );
    becomes("a[x] = y + 1", &["reg t0, t1", "t0 = x", "t1 = y", "a[t0] = t1 + 1"]);
    becomes("reg r; r = a[a[x]]", &["reg r, t0", "t0 = x", "t0 = a[t0]", "r = a[t0]"]);
    becomes("x = a[1 + 2]; x = y", &["reg t0", "t0 = a[3]", "x = t0", "t0 = y", "x = t0"]);
    becomes("reg t0; x = y", &["reg t0, t1", "t1 = y", "x = t1"]);
}

#[test]
fn and_or_load_only_what_they_need() {
    becomes(
        "reg r; r = x and y",
        &[
            "reg r, t0",
            "t0 = x",
            "if t0 {",
            "    t0 = y",
            "    t0 = t0 != 0",
            "} else {",
            "    t0 = 0",
            "}",
            "r = t0",
        ],
    );
    becomes(
        "assume x == 1 or y == 2",
        &[
            "reg t0",
            "t0 = x",
            "if t0 == 1 {",
            "    t0 = 1",
            "} else {",
            "    t0 = y",
            "    t0 = t0 == 2",
            "}",
            "assume t0",
        ],
    );
    becomes("reg r, s; assume x or r and s", &["reg r, s, t0", "t0 = x", "assume t0 or r and s"]);
    becomes("reg r; r = true and x", &["reg r, t0", "t0 = x", "r = t0 != 0"]);
    becomes("reg r; r = false and x", &["reg r", "r = 0"]);
    becomes("reg r; r = 1 or 1 / 0", &["reg r", "r = 1"]);
    becomes(
        "reg r; r = y + (x && a[r])",
        &[
            "reg r, t0, t1",
            "t0 = y",
            "t1 = x",
            "if t1 {",
            "    t1 = a[r]",
            "    t1 = t1 != 0",
            "} else {",
            "    t1 = 0",
            "}",
            "r = t0 + t1",
        ],
    );
}

#[test]
fn atomic_operations() {
    becomes("reg r; r = fetch_add(x, 1)", &["reg r", "r = fetch_add(x, 1)"]);
    becomes("swap(a[y], x)", &["reg t0, t1", "t0 = y", "t1 = x", "t0 = swap(a[t0], t1)"]);
    becomes("reg r; r = cas(x, r, 1)", &["reg r", "r = cas(x, r, 1)"]);
    becomes(
        "reg r; r = cas(x, y, y + 1)",
        &["reg r, t0, t1", "t0 = y", "t1 = y", "r = cas(x, t0, t1 + 1)"],
    );
    becomes("reg r; r = cmpxchg(x, r, 1)", &["reg r", "r = cmpxchg(x, r, 1)"]);
    let update = "r = update(a[r], r < 2 and s == 0, r + s)";
    becomes(&format!("reg r, s; {update}"), &["reg r, s", update]);
    becomes(
        "while not cas(x, 0, 1) { }",
        &["reg t0", "loop {", "    t0 = cas(x, 0, 1)", "    if not not t0 { break }", "}"],
    );
}

#[test]
fn control() {
    becomes(
        "while x < 3 { nop }",
        &["reg t0", "loop {", "    t0 = x", "    if not t0 < 3 { break }", "    nop", "}"],
    );
    becomes(
        "reg r; if r { exit } else if r == 2 { fence } else { wfence; rfence }",
        &[
            "reg r",
            "if r {",
            "    exit",
            "} else if r == 2 {",
            "    fence",
            "} else {",
            "    wfence",
            "    rfence",
            "}",
        ],
    );
    becomes(
        "reg r; if r { } else if x { nop }",
        &[
            "reg r, t0",
            "if r {",
            "} else {",
            "    t0 = x",
            "    if t0 {",
            "        nop",
            "    }",
            "}",
        ],
    );
    becomes("loop { continue }", &["loop {", "    continue", "}"]);
    becomes(
        "choose { x = 1 } or { y = 1 } or { }",
        &["choose {", "    x = 1", "} or {", "    y = 1", "} or {", "}"],
    );
    becomes("l: goto m; m: goto l", &["l:", "goto m", "m:", "goto l"]);
}

#[test]
fn waiting() {
    becomes("reg r; await r == 1", &["reg r", "await r == 1"]);
    becomes("await x == 1", &["reg t0", "await { t0 = x } until t0 == 1"]);
    becomes(
        "reg r; await { r = a[x]; if r { r = 2 } } until r and y",
        &[
            "reg r, t0",
            "await {",
            "    t0 = x",
            "    r = a[t0]",
            "    if r {",
            "        r = 2",
            "    }",
            "    if r {",
            "        t0 = y",
            "        t0 = t0 != 0",
            "    } else {",
            "        t0 = 0",
            "    }",
            "} until t0",
        ],
    );
}

#[test]
fn choices_and_constants() {
    becomes("reg r; r = any(0..2)", &["reg r", "r = any(0..2)"]);
    becomes("reg r; r = any(bool) + 1", &["reg r, t0", "t0 = any(0..1)", "r = t0 + 1"]);
    becomes("reg r; r = any(4, 2)", &["reg r", "r = any(4, 2)"]);
    becomes("reg r = 2 - 5; r = -r - -3 % 4", &["reg r = -3", "r = -r - 1"]);
    becomes("reg r; r = not r == 1 or !(r < 2)", &["reg r", "r = not r == 1 or not r < 2"]);
    becomes(
        "reg r; r = 1 - (2 - r) << 1 & 0xF | 3 ^ 4",
        &["reg r", "r = 1 - (2 - r) << 1 & 15 | 7"],
    );
    becomes("reg r; r = min(r, max(1_0, 2)) * (r + 1)", &["reg r", "r = min(r, 10) * (r + 1)"]);
    becomes("reg r; r = (r == 1) == (r < 2)", &["reg r", "r = (r == 1) == (r < 2)"]);
    becomes(
        "reg r: i16, s: u64 = 9; r = i16(r + 1) + u8(257) + 1; s = u32(-1)",
        &["reg r: i16, s: u64 = 9", "r = i16(r + 1) + 1 + 1", "s = 4294967295"],
    );
    becomes("reg r; r = any(i8(300), 2)", &["reg r", "r = any(44, 2)"]);
    becomes(
        "reg r; r = -170141183_460469231731687303715884105727 - 1",
        &["reg r", "r = (-170141183460469231731687303715884105727 - 1)"],
    );
}

#[test]
fn dead_code_of_a_family_may_be_wrong() {
    let text = "var a[2], x\nprocess p[i: 0..1] { if i > 0 { x = a[i - 1] + 2 / i } while i > 0 { x = a[i - 1] } }";
    let (program, _) = read("t.weir", text).unwrap();
    let printed = print(&program);
    assert!(printed.contains("t0 = a[-1]") && printed.contains("2 / 0"), "{printed}");
    let (again, _) = read("t.weir", &printed).unwrap();
    assert_eq!(print(&again), printed);
}

#[test]
fn declarations_and_properties() {
    let text = "
        const N = M + 1; const M = 1
        enum S { idle, busy }
        var s: S = busy, b: bool = true, n: -1..N, k: S = any, a[N] = [3, any(1, 2)], c[2]: 0..1 = any
        process p[i: 0..M] { reg r: 0..2 = i; here: r = s }
        process q { l: nop }
        one: never count(p@here) + count(q@l) == 2 and p[1].r == busy
        no deadlock
        final exists a[M] == 1; final never b; final always p[0]@here or q@l
        filter n == -1
        observe s, a[1], p[0].r";
    let (program, _source) = read("dir/some.weir", text).unwrap();
    assert_eq!(program.name, "some");
    assert_eq!(
        print(&program),
        "enum S { idle, busy }
var s: S = busy
var b: bool = true
var n: -1..2
var k: S = any
var a[2] = [3, any(1..2)]
var c[2]: 0..1 = any

process p[= 0] {
    reg r: 0..2
here:
    r = s
}

process p[= 1] {
    reg r: 0..2 = 1
here:
    r = s
}

process q {
l:
    nop
}

one: never p[0]@here + p[1]@here + q@l == 2 and p[1].r == 1
no deadlock
final exists a[1] == 1
final never b
final always p[0]@here or q@l
filter n == -1
observe s, a[1], p[0].r
"
    );
    assert_eq!(program.processes[1].registers[0].display, "p[1].r");
}

#[test]
fn spans_point_at_what_was_written() {
    let text =
        "var x, y\nprocess p { reg r\nwhile x == 1 and y == 2 { r = x }\nif r { x = r + y } }";
    let (program, source) = read("t.weir", text).unwrap();
    let body = &program.processes[0].body;
    assert_eq!(source.text_of(body[0].span), "while x == 1 and y == 2");
    let StmtKind::Loop(inner) = &body[0].kind else { panic!("a loop") };
    let texts: Vec<_> = inner.iter().map(|s| source.text_of(s.span)).collect();
    assert_eq!(texts, ["x", "x == 1 and y == 2", "while x == 1 and y == 2", "r = x"]);
    assert_eq!(source.text_of(body[1].span), "if r");
    let StmtKind::If(_, then, _) = &body[1].kind else { panic!("an if") };
    let texts: Vec<_> = then.iter().map(|s| source.text_of(s.span)).collect();
    assert_eq!(texts, ["y", "x = r + y"]);
}

#[test]
fn clients_call_methods_and_registers_are_fresh() {
    use weir_model::system::{Mark, System};
    let text = "object o {
        var x: 0..1
        method get { reg r; r = x; return r }
        method put(new: 0..1) { reg old = 1; if old == new { x = new; return } x = old - 1 }
    }";
    let (object, _) = weir_front::weir::read("o.weir", text).unwrap();
    let system = System::with_rounds(object.with_clients(2).unwrap()).unwrap();
    assert_eq!(system.processes[1].name, "client[1]");
    let all = system.expanded(&weir_model::limits::Budget::new()).unwrap();
    for p in system.process_ids() {
        let initial = system.processes[p.index()].initial;
        let from_client: Vec<_> = all.transitions(p, initial).map(|(_, t)| t.mark).collect();
        let shown: Vec<_> = from_client.iter().map(|m| system.show_mark(m.unwrap())).collect();
        assert_eq!(shown, ["call(get)", "call(put,0)", "call(put,1)"]);
        let back = all.all_transitions(p).filter(|t| t.to == initial);
        let mut back: Vec<_> = back.map(|t| system.show_mark(t.mark.unwrap())).collect();
        back.sort();
        assert_eq!(back, ["return(get,0)", "return(get,1)", "return(put)", "return(put)"]);
        // In the client nothing is left of the last call.
        assert!(system.state(p, initial).registers.iter().all(|r| *r == 0));
        let marked: Vec<_> = all.all_transitions(p).filter(|t| t.mark.is_some()).collect();
        assert!(marked.iter().all(|t| t.op == weir_model::system::Op::Nop));
        assert!(marked.iter().any(|t| matches!(t.mark, Some(Mark::Call(..)))));
    }
}
