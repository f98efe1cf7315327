//! Litmus tests: what instructions, initial sections and conditions mean.

use weir_front::litmus;
use weir_model::ids::{ProcessId, RegId, VarId};
use weir_model::program::*;

fn read(text: &str) -> Program {
    match litmus::read("file.litmus", text) {
        Ok((program, _)) => program,
        Err(errors) => {
            let shown: Vec<_> = errors.iter().map(|e| e.render("file", text, false)).collect();
            panic!("{}\nin\n{text}", shown.join("\n"))
        }
    }
}

/// A test with one thread.
fn one_thread(arch: &str, code: &str) -> Program {
    let rows: Vec<_> = code.split(" ; ").map(|row| format!("{row} ;\n")).collect();
    read(&format!("{arch} t\n{{ x=0; y=0; }}\nP0 ;\n{}", rows.concat()))
}

/// The statements of the first process, each on one line.
fn printed(program: &Program) -> String {
    let process = &program.processes[0];
    process.body.iter().map(|s| statement(program, process, s)).collect::<Vec<_>>().join("; ")
}

fn statement(program: &Program, process: &Process, stmt: &Stmt) -> String {
    let register = |r: &RegId| process.registers[r.index()].name.clone();
    let code = |e: &Code| expression(e, &|r| register(r));
    let place = |p: &Place| match &p.index {
        None => format!("[{}]", program.var_name(p.first)),
        Some(index) => format!("[{}..{} at {}]", p.first.0, p.len, code(index)),
    };
    let block = |stmts: &[Stmt]| {
        stmts.iter().map(|s| statement(program, process, s)).collect::<Vec<_>>().join("; ")
    };
    match &stmt.kind {
        StmtKind::Label(label) => format!("{}:", process.labels[label.index()].name),
        StmtKind::Nop => "nop".into(),
        StmtKind::Assign(r, e) => format!("{} = {}", register(r), code(e)),
        StmtKind::Load(r, p) => format!("{} = {}", register(r), place(p)),
        StmtKind::Store(p, e) => format!("{} = {}", place(p), code(e)),
        StmtKind::Rmw(r, p, rmw) => {
            let rmw = match rmw {
                Rmw::Cas { expected, new, .. } => format!("cas({}, {})", code(expected), code(new)),
                Rmw::CasFlag { .. } => unreachable!("no instruction of X86 gives a flag only"),
                Rmw::Swap(new) => format!("swap({})", code(new)),
                Rmw::Fetch(op, e) => format!("fetch{op:?}({})", code(e)),
                Rmw::Update { when, new } => format!("update({}, {})", code(when), code(new)),
            };
            format!("{} = {}.{rmw}", register(r), place(p))
        }
        StmtKind::Fence(kind) => format!("fence {kind:?}"),
        StmtKind::If(e, then, other) => match other.is_empty() {
            true => format!("if {} {{ {} }}", code(e), block(then)),
            false => format!("if {} {{ {} }} else {{ {} }}", code(e), block(then), block(other)),
        },
        StmtKind::Goto(label) => format!("goto {}", process.labels[label.index()].name),
        other => panic!("{other:?} in a litmus test"),
    }
}

fn expression<A>(e: &Expr<A>, atom: &impl Fn(&A) -> String) -> String {
    match e {
        Expr::Const(c) if *c == i64::MIN.into() => "MIN".into(),
        Expr::Const(c) => c.to_string(),
        Expr::Atom(a) => atom(a),
        Expr::Unary(op, e) => format!("{op:?}({})", expression(e, atom)),
        Expr::Binary(op, a, b) => {
            let sign = match op {
                BinOp::Add => "+",
                BinOp::Sub => "-",
                BinOp::Mul => "*",
                BinOp::Eq => "==",
                BinOp::Ne => "!=",
                BinOp::Lt => "<",
                BinOp::And => "and",
                BinOp::Or => "or",
                BinOp::BitXor => "^",
                BinOp::BitAnd => "&",
                BinOp::BitOr => "|",
                BinOp::Div => "/",
                BinOp::Mod => "%",
                BinOp::Shl => "<<",
                other => panic!("{other:?} in a litmus test"),
            };
            format!("({} {sign} {})", expression(a, atom), expression(b, atom))
        }
    }
}

/// A condition over memory, as a person would write it.
fn condition(text: &str) -> String {
    let program = read(&format!("X86 t {{ a=0; b=0; c=0; int t[2]={{1,2}}; }} P0 | P1 ; \n{text}"));
    let PropertyKind::Final(_, formula) = &program.properties[0].kind else { panic!() };
    expression(formula, &|atom| match atom {
        Atom::Var(var) => program.var_name(*var),
        Atom::Reg(p, r) => program.processes[p.index()].registers[r.index()].display.clone(),
        Atom::At(..) => panic!(),
    })
}

#[test]
fn instructions_mean_what_the_dialects_say() {
    #[rustfmt::skip]
    let table = [
        // Moves.
        ("MOV EAX,[x]",          "mov (x),%eax",           "EAX = [x]"),
        ("MOVB [x],$1",          "movb $1,[x]",            "[x] = 1"),
        ("movl [x],EAX",         "movl %eax,(x)",          "[x] = EAX"),
        ("MOV EAX,$-2",          "MOV $-2,RAX",            "EAX = -2"),
        ("MOVQ EAX,EBX",         "movq rbx,%rax",          "EAX = EBX"),
        // Fences and the rest.
        ("MFENCE",               "mfence",                 "fence Full"),
        ("SFENCE",               "sfence",                 "fence Write"),
        ("LFENCE",               "lfence",                 "fence Read"),
        ("NOP",                  "nopl",                   "nop"),
        // Locked.
        ("XCHG [x],EAX",         "xchgl %eax,(x)",         "EAX = [x].swap(EAX)"),
        ("LOCK XCHG EAX,[x]",    "lock xchg (x),%rax",     "EAX = [x].swap(EAX)"),
        ("LOCK; INC [x]",        "lock; incl (x)",         "tmp = [x].fetchAdd(1)"),
        ("LOCK DEC [x]",         "lock decq (x)",          "tmp = [x].fetchSub(1)"),
        ("lock add [x],$2",      "lock addl $2,(x)",       "tmp = [x].fetchAdd(2)"),
        ("LOCK SUB [x],EAX",     "lock sub %eax,(x)",      "tmp = [x].fetchSub(EAX)"),
        ("LOCK AND [x],EAX",     "lock and %eax,(x)",      "tmp = [x].fetchBitAnd(EAX)"),
        ("LOCK OR [x],EAX",      "lock or %eax,(x)",       "tmp = [x].fetchBitOr(EAX)"),
        ("LOCK XOR [x],EAX",     "lock xor %eax,(x)",      "tmp = [x].fetchBitXor(EAX)"),
        ("LOCK NEG [x]",         "lock negl (x)",          "tmp = [x].fetchMul(-1)"),
        ("LOCK NOT [x]",         "lock notl (x)",          "tmp = [x].fetchBitXor(-1)"),
        ("LOCK XADD [x],EAX",    "lock xaddl %eax,(x)",    "EAX = [x].fetchAdd(EAX)"),
        ("LOCK CMPXCHG [x],EBX", "lock cmpxchgl (x),%ebx", "EAX = [x].cas(EAX, EBX)"),
        ("LOCK CMPXCHG [x],EBX", "lock cmpxchg %ebx,(x)",  "EAX = [x].cas(EAX, EBX)"),
        // Unlocked: a load and a store.
        ("INC [x]",              "incl (x)",               "tmp = [x]; [x] = (tmp + 1)"),
        ("ADD [x],EAX",          "add %eax,(x)",           "tmp = [x]; [x] = (tmp + EAX)"),
        ("NOT [x]",              "not (x)",                "tmp = [x]; [x] = (tmp ^ -1)"),
        ("XADD [x],EAX",         "xadd %eax,(x)",          "tmp = [x]; [x] = (tmp + EAX); EAX = tmp"),
        ("CMPXCHG [x],EBX",      "cmpxchg (x),%ebx",       "tmp = [x]; if (EAX == tmp) { [x] = EBX } else { EAX = tmp }"),
        // On registers.
        ("XCHG EAX,EBX",         "xchg %rbx,%rax",         "tmp = EAX; EAX = EBX; EBX = tmp"),
        ("ADD EAX,[x]",          "add (x),%rax",           "tmp = [x]; EAX = (EAX + tmp)"),
        ("SUB EAX,EBX",          "sub %rbx,%rax",          "EAX = (EAX - EBX)"),
        ("NEG EAX",              "neg %rax",               "EAX = (EAX * -1)"),
        ("SHL EAX,$2",           "shl $2,%rax",            "EAX = (EAX << 2)"),
        ("XADD EAX,EBX",         "xadd %rbx,%rax",         "tmp = (EAX + EBX); EBX = EAX; EAX = tmp"),
        ("CMPXCHG ECX,EBX",      "cmpxchg %rcx,%rbx",      "if (EAX == ECX) { ECX = EBX } else { EAX = ECX }"),
        // Comparisons read memory even where nothing asks for the flags.
        ("CMP [x],$1",           "cmpl $1,(x)",            "tmp = [x]"),
        ("TEST EAX,EAX",         "test %eax,%eax",         ""),
        // Jumps and flags.
        ("L: JMP L",             "L: jmp L",               "L:; goto L"),
        ("CMP EAX,$1 ; JE L ; L:",     "cmp $1,%eax ; jz L ; L:",     "ZF = (EAX == 1); if ZF { goto L }; L:"),
        ("CMP EAX,$1 ; JG L ; L:",     "cmp $1,%eax ; jgt L ; L:",    "ZF = (EAX == 1); SF = (EAX < 1); if Not((ZF or SF)) { goto L }; L:"),
        ("CMP EAX,EBX ; JL L ; L:",    "cmp %ebx,%eax ; jlt L ; L:",  "SF = (EAX < EBX); if SF { goto L }; L:"),
        ("CMP EAX,$1 ; JB L ; L:",     "cmp $1,%eax ; jc L ; L:",     "CF = ((EAX ^ MIN) < (1 ^ MIN)); if CF { goto L }; L:"),
        ("CMP EAX,$1 ; JA L ; L:",     "cmp $1,%eax ; jnbe L ; L:",   "ZF = (EAX == 1); CF = ((EAX ^ MIN) < (1 ^ MIN)); if Not((ZF or CF)) { goto L }; L:"),
        ("TEST EAX,EBX ; JNS L ; L:",  "test %ebx,%eax ; jns L ; L:", "SF = ((EAX & EBX) < 0); if Not(SF) { goto L }; L:"),
        ("DEC EAX ; JNZ L ; L:",       "dec %eax ; jne L ; L:",       "ZF = ((EAX - 1) == 0); EAX = (EAX - 1); if Not(ZF) { goto L }; L:"),
        ("INC EAX ; JB L ; L:",        "inc %eax ; jb L ; L:",        "EAX = (EAX + 1); if CF { goto L }; L:"),
        ("SUB EAX,$1 ; JLE L ; L:",    "sub $1,%eax ; jle L ; L:",    "ZF = (EAX == 1); SF = (EAX < 1); EAX = (EAX - 1); if (ZF or SF) { goto L }; L:"),
        ("LOCK CMPXCHG [x],EBX ; JNE L ; L:", "lock cmpxchg (x),%rbx ; jne L ; L:", "tmp = [x].cas(EAX, EBX); ZF = (EAX == tmp); EAX = tmp; if Not(ZF) { goto L }; L:"),
        ("LOCK XADD [x],EBX ; JE L ; L:",     "lock xadd %rbx,(x) ; je L ; L:",     "tmp = [x].fetchAdd(EBX); ZF = ((tmp + EBX) == 0); EBX = tmp; if ZF { goto L }; L:"),
        ("SETE [x] ; CMOVNE EAX,[y]",  "sete (x) ; cmovnel (y),%eax", "[x] = ZF; tmp = [y]; if Not(ZF) { EAX = tmp }"),
    ];
    for (x86, x86_64, want) in table {
        assert_eq!(printed(&one_thread("X86", x86)), want, "{x86}");
        let long = ["A", "B", "C"].iter().fold(want.to_owned(), |want, letter| {
            let lower = letter.to_lowercase();
            want.replace(&format!("E{letter}X"), &format!("r{lower}x"))
        });
        assert_eq!(printed(&one_thread("X86_64", x86_64)), long, "{x86_64}");
    }
    assert_eq!(printed(&one_thread("X86", "MOV [y],[x]")), "tmp = [x]; [y] = tmp");
}

#[test]
fn addresses_are_values() {
    let program = read(
        "X86_64 t { int t[2]={3,4}; z=t; 0:rax=z; }
         P0 ; mov (%rax),%rbx ; mov 8(%rbx),%rcx ; mov $2,0(%rbx,%rcx,8) ;
         exists (0:rbx=t /\\ t[1]=2 /\\ z=z)",
    );
    let names: Vec<_> = program.symbols.iter().map(|(v, n)| (*v, n.as_str())).collect();
    assert_eq!(names, [(0x10000, "t"), (0x10008, "t[1]"), (0x10010, "z")]);
    assert_eq!(program.vars[0].len, Some(2));
    assert_eq!(program.vars[1].init, [[0x10000]]);
    assert_eq!(program.processes[0].registers[0].init, 0x10010);

    let StmtKind::Load(_, place) = &program.processes[0].body[1].kind else { panic!() };
    assert_eq!((place.first, place.len), (VarId(0), 3));
    let index = |address: i128| place.index.as_ref().unwrap().eval(&mut |_| address).unwrap();
    for (address, want) in [(0xfff8, 0), (0x10000, 1), (0x10010, 3), (0xfff0, -1)] {
        assert_eq!(index(address), want, "{address:#x} + 8");
    }
    for misplaced in (0..0x20000).chain(-0x20000..0).filter(|a| a % 8 != 0) {
        assert_eq!(index(misplaced), -1);
    }
    assert!(read("X86 t {} P0 ; MOV [x],$1 ; exists (x=1)").symbols.is_empty());
}

#[test]
fn propositions_bind_as_the_format_says() {
    for (text, want) in [
        ("exists a=1", "(a == 1)"),
        ("exists (a=1 \\/ b=1 /\\ c=1)", "((a == 1) or ((b == 1) and (c == 1)))"),
        ("exists a=1 => b=1 /\\ c=1", "((Not((a == 1)) or (b == 1)) and (c == 1))"),
        ("exists a=1 => b=1 => c=1", "(Not((a == 1)) or (Not((b == 1)) or (c == 1)))"),
        ("exists ~a=1 /\\ not b=1", "(Not((a == 1)) and Not((b == 1)))"),
        ("exists ~(a==1 /\\ b<>1)", "Not(((a == 1) and (b != 1)))"),
        ("exists true \\/ false", "(1 or 0)"),
        ("exists a=0x10 /\\ b=-1", "((a == 16) and (b == -1))"),
        ("exists [a]=[b] /\\ a=b", "((a == b) and (a == 65544))"),
        ("exists t[1]=2 /\\ [t]=1", "((t[1] == 2) and (t[0] == 1))"),
        ("exists 0:EAX=P1:EBX /\\ P0:ZF=1", "((0:EAX == 1:EBX) and (0:ZF == 1))"),
        ("exists (a=1) with tso: ~exists;", "(a == 1)"),
        ("exists (a=1); << anything { ( é", "(a == 1)"),
        ("", "1"),
    ] {
        assert_eq!(condition(text), want, "{text}");
    }
}

#[test]
fn quantifiers_become_properties() {
    for (word, want) in [
        ("exists", Quantifier::Exists),
        ("final", Quantifier::Exists),
        ("~exists", Quantifier::Never),
        ("~ exists", Quantifier::Never),
        ("forall", Quantifier::Always),
    ] {
        let text = format!("X86 a+b-c\n{{}}\nP0 ;\n{word} (*!*)\n ( x = 0 )\n");
        let (program, source) = litmus::read("f", &text).unwrap();
        let [property] = &program.properties[..] else { panic!() };
        let PropertyKind::Final(quantifier, _) = &property.kind else { panic!() };
        assert_eq!((*quantifier, property.name.as_deref()), (want, Some("a+b-c")));
        assert!(source.text_of(property.span).starts_with(word));
        assert_eq!(litmus::condition_text(&program, &source), format!("{word} ( x = 0 )"));
    }
    let (program, source) = litmus::read("f", "X86 t {} P0 ;").unwrap();
    let always = PropertyKind::Final(Quantifier::Always, Expr::Const(1));
    assert_eq!(program.properties[0].kind, always);
    assert_eq!(litmus::condition_text(&program, &source), "forall true");
}

#[test]
fn the_frame_has_many_forms() {
    let program = litmus::read(
        "dir/file.litmus",
        "\u{feff}(* one (* two *) *)\nX86 -- (tex) \"a {doc} (* string\" ;\n\"more\"\nCom=Rf Fr\nHash=abc\nany words\n
         { x; y=-1; [z]=0x10;; int u=3; uint64_t v; int64_t P0:EAX; 1:EBX=7; int *p=&x; int *1:ECX=x;
           _Atomic int w=1; atomic_t q=ATOMIC_INIT(5); int s[3]={1,2}; x.$1=4 } ;
         P0 | P1 ;
         | MOV [n],EAX ;
         L0: L1: | ;
         JMP L0 | ; ;
         locations [w int; 1:ECX; s; y;] filter x=0 exists (y=0 /\\ 0:EAX=0 /\\ [x]=0)",
    )
    .unwrap()
    .0;
    assert_eq!(program.name, "file");
    let vars: Vec<_> = program.vars.iter().map(|d| (d.name.as_str(), d.init.concat())).collect();
    let x = 0x10000;
    #[rustfmt::skip]
    let want = [
        ("x", vec![0]), ("y", vec![-1]), ("z", vec![16]), ("u", vec![3]), ("v", vec![0]),
        ("p", vec![x]), ("w", vec![1]), ("q", vec![5]), ("s", vec![1, 2, 0]), ("x.$1", vec![4]),
        ("n", vec![0]),
    ];
    assert_eq!(vars, want);
    let registers: Vec<_> = program.processes[1]
        .registers
        .iter()
        .map(|r| (r.display.as_str(), r.init, r.temporary))
        .collect();
    assert_eq!(registers, [("1:EBX", 7, false), ("1:ECX", x, false), ("1:EAX", 0, false)]);
    assert!(program.filter.is_some());

    let observed = program.observed.as_ref().unwrap().iter().map(|atom| match atom {
        Atom::Reg(p, r) => program.processes[p.index()].registers[r.index()].display.clone(),
        Atom::Var(var) => program.var_name(*var),
        Atom::At(..) => panic!(),
    });
    let observed: Vec<_> = observed.collect();
    assert_eq!(observed, ["0:EAX", "1:ECX", "s[0]", "s[1]", "s[2]", "w", "x", "y"]);
}

#[test]
fn flags_that_the_condition_names_are_registers() {
    let program = read("X86 t {} P0 ; CMP EAX,$0 ; exists 0:ZF=1");
    assert_eq!(printed(&program), "ZF = (EAX == 0)");
    assert_eq!(program.observed, Some(vec![Atom::Reg(ProcessId(0), RegId(1))]));
    assert!(!program.processes[0].registers[1].temporary);
}

#[test]
fn every_file_is_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Tests in C are read through the C reader.
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let program = read(&text);
        assert_eq!(program.name, path.file_stem().unwrap().to_str().unwrap());
        assert!(litmus::looks_like(&text));
        assert_eq!(text.matches('"').count(), 2, "{} has a doc string", path.display());
        count += 1;
    }
    assert!(count >= 32);
}

#[test]
fn knows_a_litmus_test_when_it_sees_one() {
    for text in ["X86 SB", "(* c *) AArch64 MP+dmb", "C x {", "X86_64 a(b)"] {
        assert!(litmus::looks_like(text), "{text}");
    }
    for text in ["", "X86", "var x", "X87 SB", "process p { x = 1 }", "(* X86 SB", "C = 1"] {
        assert!(!litmus::looks_like(text), "{text}");
    }
}
