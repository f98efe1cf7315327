//! Printing: what is read back is the same program.

use std::mem;

use weir_front::weir::{print, read};
use weir_model::ids::{LabelId, ProcessId, RegId, SpanId, VarId};
use weir_model::program::*;

const SPAN: SpanId = SpanId(0);

fn erase(block: &mut [Stmt]) {
    for stmt in block {
        stmt.span = SPAN;
        stmt.kind.blocks_mut().into_iter().for_each(|block| erase(block));
    }
}

/// The program without what printing does not keep.
fn without_places(mut program: Program) -> Program {
    program.vars.iter_mut().for_each(|v| v.span = SPAN);
    program.properties.iter_mut().for_each(|p| p.span = SPAN);
    program.live.iter_mut().for_each(|l| l.span = SPAN);
    if let Some(object) = &mut program.object {
        object.span = SPAN;
        for method in &mut object.methods {
            for register in &mut method.registers {
                register.span = SPAN;
                register.temporary = false;
            }
            method.labels.iter_mut().for_each(|l| l.span = SPAN);
            erase(&mut method.body);
        }
    }
    program.games.iter_mut().for_each(|g| g.span = SPAN);
    // By their places, and a place has one.
    let messages = mem::take(&mut program.messages).into_values();
    program.messages = (0..).map(SpanId).zip(messages).collect();
    for process in &mut program.processes {
        for register in &mut process.registers {
            register.span = SPAN;
            register.temporary = false;
        }
        process.labels.iter_mut().for_each(|l| l.span = SPAN);
        erase(&mut process.body);
    }
    program
}

fn again(text: &str) -> Program {
    let show = |e: Vec<weir_front::Diagnostic>| panic!("{}", e[0].render("p.weir", text, false));
    read("p.weir", text).unwrap_or_else(show).0
}

#[test]
fn what_is_printed_reads_as_the_same_program() {
    let guide = include_str!("../../../docs/language.md");
    let examples = guide.split("```weir\n").skip(1).filter_map(|t| t.split("```").next());
    let more = [
        "var x, y, a[3]: 0..2 = [0, 1, any], f: bool = true
        enum E { one, two }
        process p[i: -1..1] {
            reg e: E = two, r = i
            l: while x < 3 and not cas(a[y], x, a[1] - (1 - r)) { if y == 1 { continue } break }
            choose { m: r = any(E) + any(2, 7) } or { goto m } or { }
            await { r = x; if r == i { e = y } } until r == x or (f and y > -r)
            fetch_max(x, min(r, y)); r = -(-r) * (2 - r % 3) / (1 << index(r + 1, 4))
            if r { } else if x { exit } else if i == 0 { fence; goto l } else { wfence rfence nop }
            assume (r == 1) != (r < 2); assert not (r and not y) or r | 1 ^ 2 & 3 == 7
            r = fetch_both(x, 1); r = fetch_shr(a[r], r); swap(a[0], r)
        end: }
        one: never count(p@l) > 1 or p[-1].r == p[0]@m and a[2] == two
        final always x == 1 filter p[1]@end observe x, a[2], p[0].e",
        "enum E { one, two }
        object o {
            var x: E, a[2]: bool
            method m(e: E) { reg r = 2; again: r = x; if r == e { return a[r] + 1 } goto again }
            method n() { loop { if cas(x, 0, 1) { return } a[0] = true; break } }
        }",
        "process p { here: nop } a: live exists p@here live never p@here live always 1 b: live terminates",
        "var x, U, X  process p { here: nop }
        ltl always (p@here implies eventually x == 1)   a: ltl fair x == 0 until x == 1 until x == 2
        ltl [] (p@here -> <> x == 1) && ! (x == 1 W x == 2) || <>[] p@here <-> x + (1 - x) == 1
        ltl (x == 1 or x == 2) and eventually x == 3   ltl always always x == 1
        ltl (x == 1 V p@here) R ((x + 1) * 2 == 4)     ltl x == 1 unless (x == 2 release x == 3)
        ltl not (x == 1 and always x == 2) implies x == 3 implies always (x == 4 or not p@here)
        ltl (eventually x == 1 until x == 2) until x == 3
        ltl always U == 1 and X == 2 U X == 1",
        "process p { if false { reg r; r = 1 / 0 } while 0 { nop } while 1 { break } }",
    ];
    let (mut count, mut renamed) = (0, 0);
    for text in examples.chain(more) {
        let mut program = again(text);
        program.name = "p".to_owned();
        let printed = print(&program);
        let read_back = again(&printed);
        assert_eq!(print(&read_back), printed);
        // Fields of records and elements of local arrays have other names in print.
        let registers = program.processes.iter().flat_map(|p| &p.registers).map(|r| &r.name);
        let is_plain = |name: &String| !name.contains(['.', '[']);
        if program.vars.iter().map(|v| &v.name).chain(registers).all(is_plain) {
            assert_eq!(without_places(read_back), without_places(program), "{printed}");
            count += 1;
        } else {
            renamed += 1;
        }
    }
    assert!(count > 10 && renamed < 3, "{count}, {renamed}");
}

fn register(name: &str) -> Register {
    let (display, domain) = (format!("0:{name}"), None);
    Register { name: name.to_owned(), display, domain, init: 0, temporary: false, span: SPAN }
}

fn without_comments(text: &str) -> String {
    text.lines().filter(|l| !l.starts_with("//")).map(|l| format!("{l}\n")).collect()
}

/// A program such as a litmus test makes it.
fn litmus(index: Option<Code>, len: u32) -> Program {
    let place = Place { first: VarId(0), len, index, order: None };
    let one = Expr::Const(1);
    let load = StmtKind::Load(RegId(0), place.clone());
    let store = StmtKind::Store(Place::var(VarId(1)), one.clone());
    let add = StmtKind::Rmw(RegId(1), place, Rmw::Fetch(BinOp::Mul, one));
    let body = vec![StmtKind::Label(LabelId(0)), load, store, add, StmtKind::Goto(LabelId(0))];
    Program {
        name: "MP".to_owned(),
        vars: vec![Decl::scalar("x.1", 4096, SPAN), Decl::scalar("x_1", 0, SPAN)],
        symbols: [(4096, "x.1".to_owned())].into(),
        processes: vec![Process {
            name: "P0".to_owned(),
            registers: vec![register("EAX"), register("loop")],
            labels: vec![Label { name: "L0$".to_owned(), span: SPAN }],
            body: body.into_iter().map(|kind| Stmt::new(kind, SPAN)).collect(),
        }],
        properties: vec![Property {
            name: None,
            kind: PropertyKind::Final(
                Quantifier::Exists,
                Expr::binary(
                    BinOp::And,
                    Expr::binary(
                        BinOp::Eq,
                        Expr::Atom(Atom::Var(VarId(1))),
                        Expr::unary(UnOp::Neg, Expr::Const(1)),
                    ),
                    Expr::Atom(Atom::Reg(ProcessId(0), RegId(1))),
                ),
            ),
            span: SPAN,
        }],
        ..Program::default()
    }
}

#[test]
fn names_become_names_of_the_language() {
    let printed = print(&litmus(None, 1));
    assert_eq!(
        printed,
        "// 4096 stands for x.1
var x_1 = 4096
var x_1_2

process P0 {
    reg EAX, loop_2
L0_:
    EAX = x_1
    x_1_2 = 1
    loop_2 = fetch_mul(x_1, 1)
    goto L0_
}

final exists x_1_2 == -1 and P0.loop_2
"
    );
    assert_eq!(print(&again(&printed)), without_comments(&printed));
}

#[test]
fn an_index_over_several_declarations_makes_one_array() {
    let mut program = litmus(Some(Expr::Atom(RegId(0))), 2);
    // Reading asks for this wherever there is an index.
    let kind = PropertyKind::Assertions;
    program.properties.push(Property { name: None, kind, span: SPAN });
    let printed = print(&program);
    assert_eq!(
        printed,
        "// 4096 stands for x.1
// mem[0] is x.1
// mem[1] is x_1
var mem[2] = [4096, 0]

process P0 {
    reg EAX, loop_2
L0_:
    EAX = mem[EAX]
    mem[1] = 1
    loop_2 = fetch_mul(mem[EAX], 1)
    goto L0_
}

final exists mem[1] == -1 and P0.loop_2
assertions
"
    );
    assert_eq!(print(&again(&printed)), without_comments(&printed));
}
