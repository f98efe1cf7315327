//! Litmus tests that are wrong: what is said, and at which words.

use weir_front::litmus;

/// Each error of a text as `message @ words`.
fn errors(text: &str) -> Vec<String> {
    let errors = litmus::read("file.litmus", text).expect_err(text);
    let shown = |e: &weir_front::Diagnostic| format!("{} @ {}", e.message, &text[e.range.clone()]);
    errors.iter().map(shown).collect()
}

/// The only error of a text.
fn error(text: &str) -> String {
    let errors = errors(text);
    assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    errors[0].clone()
}

#[test]
fn errors_in_the_frame() {
    for (text, want) in [
        ("AArch64 t {}", "this is a test for AArch64; Weir reads X86, X86_64 and C @ AArch64"),
        ("RISCV t {}", "this is a test for RISCV; Weir reads X86, X86_64 and C @ RISCV"),
        ("C t { x=0;", "the initial section is not closed @ {"),
        ("C t {} exists (x=0)", "there is no function `P0` after the initial section @ }"),
        ("C t {} P1(int *x) {}", "this function should be `P0` @ P1"),
        ("C t {} P0(int x) {}", "`int x` is not a pointer to a variable of the test @ (int x)"),
        ("C t {} P0(int *x) { *x = 1;", "this is not closed @ {"),
        ("C t {} P0(int *x) { *x = z; }", "there is no variable `z` @ z"),
        (
            "C t {} P0(int *x) { srcu_read_lock(x); }",
            "Weir does not read the function `srcu_read_lock` @ srcu_read_lock",
        ),
        ("x86 t {}", "a litmus test begins with its architecture, not with `x86` @ x86"),
        ("X86 {}", "the test has no name @ "),
        ("X86 a,b {}", "`a,b` is not a test's name @ a,b"),
        ("X86 t P0 ;", "there is no initial section `{ … }` @ "),
        ("X86 t { x=0;", "the initial section is not closed @ {"),
        ("X86 t {} (* (* *)", "this comment is not closed @ (*"),
        ("X86 t {}", "the code is a table that begins with `P0 | P1 | … ;` @ "),
        ("X86 t {} MOV [x],$1 ;", "the code is a table that begins with `P0 | P1 | … ;` @ MOV"),
        ("X86 t {} P0 | P2 ;", "this column should be `P1`, not `P2` @ P2"),
        ("X86 t {} P0 ; # no", "`# no` has no meaning here @ # no"),
        ("X86 t {} P0 | P1 ; NOP ;", "the table has 2 columns, this row has 1 @ NOP ;"),
        ("X86 t {} P0 ; NOP", "this row of the table does not end in `;` @ NOP"),
    ] {
        assert_eq!(error(text), want, "{text}");
    }
}

#[test]
fn errors_in_c() {
    let unordered = "and C leaves open which of them does first";
    for (code, want) in [
        ("r = s;", "there is no variable `s` @ s".to_owned()),
        ("x = 1;", "`x` is a parameter, which points to a variable @ x".to_owned()),
        ("int r; int r;", "`r` is declared already @ r".to_owned()),
        ("int r[2];", "Weir does not read local arrays in a litmus test @ r".to_owned()),
        ("for (;;) {}", "Weir does not read `for` in a litmus test @ for".to_owned()),
        ("break;", "`break` is in no loop @ break".to_owned()),
        ("r = READ_ONCE(x);", "the first argument is a place in memory @ x".to_owned()),
        (
            "r = READ_ONCE(*x) + READ_ONCE(*y);",
            format!(
                "two operands of one operator access memory, {unordered} @ READ_ONCE(*x) + READ_ONCE(*y)"
            ),
        ),
        (
            "r = atomic_load_explicit(x, memory_order_release);",
            "C does not allow `memory_order_release` for this access @ memory_order_release"
                .to_owned(),
        ),
        (
            "r = atomic_load_explicit(x, memory_order_strong);",
            "there is no memory order `memory_order_strong` @ memory_order_strong".to_owned(),
        ),
        (
            "r = 1; s = 2; t = atomic_fetch_add(r, s);",
            "it is not clear which argument is the pointer @ atomic_fetch_add".to_owned(),
        ),
        (
            "rcu_read_lock(); synchronize_rcu();",
            "Weir does not read `synchronize_rcu` together with `rcu_read_lock` @ synchronize_rcu"
                .to_owned(),
        ),
        ("call_rcu(x, y);", "Weir does not read the function `call_rcu` @ call_rcu".to_owned()),
        ("smp_memb();", "Weir does not read the function `smp_memb` @ smp_memb".to_owned()),
    ] {
        let text = format!("C t {{}} P0(int *x, int *y) {{ {code} }} exists (x=0)");
        assert_eq!(error(&text), want, "{code}");
    }
    // A register of the condition that its function does not have.
    let text = "C t {} P0(int *x) { r1 = READ_ONCE(*x); } exists (0:r2=0)";
    assert_eq!(error(text), "`P0` has no local variable `r2` @ r2");
}

#[test]
fn errors_in_the_initial_section() {
    for (item, want) in [
        ("x=1; x=2", "`x` has an initial value already @ x"),
        ("0:EAX=1; P0:EAX=2", "`0:EAX` has an initial value already @ EAX"),
        ("1:EAX=1", "there is no thread 1 @ 1"),
        ("0:EAY=1", "there is no register `EAY` @ EAY"),
        ("0:eax=1", "Weir does not read the register `eax` @ eax"),
        ("EAX=1", "`EAX` is a register @ EAX"),
        ("x[1]=3", "the elements of `x` get their values together @ x[1]="),
        ("int x[1]={1,2}", "2 values do not fit the array `x` of length 1 @ x[1]={1,2}"),
        ("int x[0]", "an array has 1 to 1024 elements, not 0 @ 0"),
        ("int x[99999]", "an array has 1 to 1024 elements, not 99999 @ 99999"),
        ("x=", "a number or a variable is expected here, not `;` @ ;"),
        ("x y z 1", "a variable or a register is expected here, not `1` @ 1"),
        ("x=1 2", "`;` is expected here, not `2` @ 2"),
        ("x=99999999999999999999", "`99999999999999999999` does not fit 64 bits"),
    ] {
        let text = format!("X86 t {{ {item}; }} P0 ;");
        assert!(errors(&text).iter().any(|e| e.starts_with(want)), "{item}: {:?}", errors(&text));
    }
}

#[test]
fn errors_in_instructions() {
    let destination = "has a register or memory for its destination, not a constant";
    for (x86, x86_64, want) in [
        ("MOVV EAX,$1", "MOVV $1,EAX", "Weir does not know the instruction `MOVV` @ MOVV".into()),
        (
            "CLFLUSH [x]",
            "CLFLUSH (x)",
            "Weir does not know the instruction `CLFLUSH` @ CLFLUSH".into(),
        ),
        ("MOV $1,EAX", "MOV EAX,$1", format!("`MOV` {destination} @ $1")),
        ("CMP $1,EAX", "CMP EAX,$1", format!("`CMP` {destination} @ $1")),
        ("MOV EAX,x", "MOV x,EAX", "`x` is not a register @ x".into()),
        ("MOV [x],EAX,", "MOV EAX,[x],", "an operand is expected here, not nothing @ ".into()),
        ("MOV EAX", "MOV EAX", "`MOV` takes two operands; there is one @ MOV EAX".into()),
        ("MFENCE EAX", "MFENCE EAX", "`MFENCE` takes no operand; there is one @ MFENCE EAX".into()),
        ("ADD [x],[y]", "ADD [y],[x]", "`ADD` has at most one operand in memory @ [y]".into()),
        ("XADD [x],$1", "XADD $1,[x]", "`XADD` has a register for its source @ $1".into()),
        ("XCHG EAX,$1", "XCHG $1,EAX", "`XCHG` has no constant operand @ $1".into()),
        ("CMOVE [x],EAX", "CMOVE EAX,[x]", "`CMOVE` writes to a register only @ [x]".into()),
        ("LOCK MOV [x],EAX", "LOCK MOV EAX,[x]", "`MOV` cannot be locked here @ LOCK MOV".into()),
        ("LOCK INC EAX", "LOCK INC EAX", "`INC` cannot be locked here @ LOCK INC EAX".into()),
        ("LOCK MFENCE", "LOCK MFENCE", "`MFENCE` cannot be locked here @ LOCK MFENCE".into()),
        ("JMP L9", "JMP L9", "there is no label `L9` in this thread @ L9".into()),
        ("JMP $1", "JMP $1", "a label is expected here, not `$` @ $".into()),
        (
            "L: NOP ; L: NOP",
            "L: NOP ; L: NOP",
            "there are two labels `L` in this thread @ L".into(),
        ),
        ("NOP NOP", "NOP NOP", "`NOP` is not a register @ NOP".into()),
        (
            "MOV EAX,0(EBX,ECX,-3)",
            "MOV 0(EBX,ECX,-3),EAX",
            "a scale is at most 4096 and not negative, not -3 @ -".into(),
        ),
    ] {
        for (arch, code) in [("X86", x86), ("X86_64", x86_64)] {
            let found = errors(&format!("{arch} t {{ x; y; }} P0 ; {code} ;"));
            assert!(found[0].starts_with(&want), "{arch} {code}: {found:?}");
        }
    }
    for (code, want) in [
        ("mov %ah,%al", "Weir does not read the register `ah` @ ah"),
        ("mov %rax,%r16", "there is no register `r16` @ r16"),
        ("mov (x),(y)", "`mov` has at most one operand in memory @ (x)"),
    ] {
        assert_eq!(error(&format!("X86_64 t {{ x; y; }} P0 ; {code} ;")), want);
    }
    let alone = "the test has no variable that this could be the address of @ MOV EAX,[EBX]";
    assert_eq!(error("X86 t {} P0 ; MOV EAX,[EBX] ;"), alone);
}

#[test]
fn errors_in_conditions() {
    for (text, want) in [
        ("not exists (x=1)", "a condition does not begin with `not` @ not"),
        ("observed x=1;", "Weir does not read conditions with `observed` @ observed"),
        ("exists", "a proposition is expected here, not nothing @ "),
        ("exists (x=1", "`)` is expected here, not nothing @ "),
        ("exists x=1)", "the end is expected here, not `)` @ )"),
        ("exists x", "`=` or `!=` is expected here, not nothing @ "),
        ("exists x=", "a value is expected here, not nothing @ "),
        ("exists 7:EAX=1", "there is no thread 7 @ 7"),
        ("exists EAX=1", "`EAX` is a register @ EAX"),
        ("exists 0:EXX=1", "there is no register `EXX` @ EXX"),
        ("exists t=1", "`t` is an array @ t"),
        ("exists t[2]=1", "`t` has elements 0 to 1, not 2 @ 2"),
        ("exists x[0]=1", "`x` is not an array @ x"),
        ("locations [x y", "`;` or `]` is expected here, not nothing @ "),
        ("filter x=0 filter x=0", "the end is expected here, not `filter` @ filter"),
        ("~ forall x=0", "`exists` is expected here, not `forall` @ forall"),
    ] {
        assert_eq!(error(&format!("X86 t {{ x; int t[2]; }} P0 ; {text}")), want, "{text}");
    }
}

#[test]
fn all_errors_are_reported_in_order_and_with_advice() {
    let text = "X86 t { 5:EAX=1; x[1]=2; } P0 | P1 ;
        MVO EAX,$1 | ADD $1,[x] ;
        JMP L1     | L2: JMP L3 ;
        exists (0:EAZ=1 /\\ 3:EBX=0)";
    let errors = litmus::read("f", text).unwrap_err();
    let words: Vec<_> = errors.iter().map(|e| &text[e.range.clone()]).collect();
    assert_eq!(words, ["5", "x[1]=", "MVO", "$1", "L1", "L3", "EAZ", "3"]);
    let help = |i: usize| errors[i].help.as_deref().unwrap();
    assert_eq!(help(2), "did you mean `MOV`?");
    assert_eq!(help(3), "in X86 the destination comes first");
    assert_eq!(help(5), "did you mean `L2`?");
    assert_eq!(help(6), "did you mean `EAX`?");
}
