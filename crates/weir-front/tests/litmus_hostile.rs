//! Litmus tests from somebody who means harm: whatever the text, there is an
//! answer, it comes soon, and every place in it lies in the text.

use weir_front::{MAX_NESTING, litmus};
use weir_model::program::{Expr, Program, PropertyKind};

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % below.max(1)
    }
}

/// Reads a text and looks at all that comes back; returns how many errors it has.
fn survive(text: &str) -> usize {
    litmus::looks_like(text);
    match litmus::read("file.litmus", text) {
        Ok((program, source)) => {
            litmus::condition_text(&program, &source);
            for stmt in program.processes.iter().flat_map(|p| &p.body) {
                source.text_of(stmt.span);
            }
            0
        }
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= 100);
            for error in &errors {
                assert!(text.get(error.range.clone()).is_some(), "{error:?}");
            }
            errors[0].render("file.litmus", text, false);
            errors.len()
        }
    }
}

/// Says with which seed and text a test fails.
fn survive_seed(seed: u64, text: &str) {
    let outcome = std::panic::catch_unwind(|| survive(text));
    assert!(outcome.is_ok(), "seed {seed}, text {text:?}");
}

/// Tests in C, with something of everything.
const IN_C: [&str; 3] = [
    "C MP \"a test\" { atomic_t z = ATOMIC_INIT(1); int a[2] = {3,4}; int *p = &x; } // c
     P0(int *x, int **p, int *a) { int *q = *p; while (READ_ONCE(*x) != 1) { } a[1] = *q; smp_wmb(); }
     P1(int *x, atomic_t *z) { if (atomic_add_unless(z, 1, 5) && !READ_ONCE(*x)) r1 = cmpxchg(x, 0, 1); }
     locations [x; 1:r1;] filter (z=2) exists (a[1]=0 /\\ ~(1:r1=1))",
    "C LOCK {} P0(spinlock_t *l, int *x) { do { spin_lock(l); int r0 = (*x) + -1; spin_unlock(l); } while (r0 == 2); }
     void P1(spinlock_t *l, int *x) { /* try */ if (spin_trylock(l)) return; else WRITE_ONCE(*x, ~3); }
     forall (0:r0=1 \\/ x=y)",
    "C CAS { [y]=0; } P0 (atomic_int* x, volatile int* y) { int e = 0, r1 = *y;
       int r0 = atomic_compare_exchange_weak_explicit(x, &e, 1, memory_order_acq_rel, memory_order_relaxed);
       atomic_thread_fence(memory_order_seq_cst); r2 = atomic_fetch_add(x, (int) e * (r1 & 7)); }
     ~exists (0:r0=0 /\\ 0:e=0)",
];

fn files() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let files = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
    files.chain(IN_C.map(str::to_owned)).collect()
}

fn depth<A>(e: &Expr<A>) -> usize {
    match e {
        Expr::Const(_) | Expr::Atom(_) => 1,
        Expr::Unary(_, e) => 1 + depth(e),
        Expr::Binary(_, a, b) => 1 + depth(a).max(depth(b)),
    }
}

fn condition_depth(program: &Program) -> usize {
    let PropertyKind::Final(_, formula) = &program.properties[0].kind else { panic!() };
    depth(formula)
}

#[test]
fn random_characters() {
    for seed in 1..2000 {
        let mut random = Random::new(seed);
        let text: String = (0..random.next(200))
            .map(|_| match random.next(8) {
                0 => char::from_u32(u32::try_from(random.next(0x11_0000)).unwrap()).unwrap_or('é'),
                _ => char::from(u8::try_from(random.next(128)).unwrap()),
            })
            .collect();
        survive_seed(seed, &text);
        survive_seed(seed, &format!("X86 t {{ {text}"));
        survive_seed(seed, &format!("X86_64 t {{}} P0 | P1 ; {text}"));
        survive_seed(seed, &format!("C t {{}} P0(int *x) {{ {text}"));
    }
}

#[test]
fn random_words() {
    #[rustfmt::skip]
    let words = [
        "X86", "X86_64", "t", "{", "}", "P0", "P1", "|", ";", "MOV", "LOCK", "XADD", "CMPXCHG",
        "XCHG", "SETE", "CMOVE", "SHL", "NEG", "JNE", "L0", ":", "[", "]", "(", ")", "x", "EAX",
        "rax", "%", "$", "-", "1", "8", "9223372036854775807", "0:", "1:", "=", "/\\", "\\/",
        "=>", "~", "exists", "forall", "locations", "filter", "int", "*", "&", ",", "(*", "*)",
        "\"", "<<", "with", "not", "true", "é", "\n",
    ];
    for seed in 1..4000 {
        let mut random = Random::new(seed);
        let start = ["", "X86 t {", "X86 t {} P0 |", "X86_64 t { x; } P0 ; "][random.next(4)];
        let words = (0..random.next(60)).map(|_| words[random.next(words.len())]);
        survive_seed(seed, &format!("{start} {}", words.collect::<Vec<_>>().join(" ")));
    }
}

#[test]
fn random_words_in_c() {
    #[rustfmt::skip]
    let words = [
        "{", "}", "(", ")", "[", "]", ";", ",", "=", "*", "&", "!", "~", "-", "+", "&&", "||", "==", "<",
        "x", "y", "r0", "r1", "int", "int *", "(int)", "0", "1", "9223372036854775807", "NULL", "if", "else",
        "while", "do", "return", "break", "continue", "for", "READ_ONCE(", "WRITE_ONCE(", "cmpxchg(",
        "atomic_add_unless(", "atomic_fetch_add(", "atomic_compare_exchange_weak(", "spin_lock(", "smp_mb()",
        "atomic_thread_fence(", "memory_order_relaxed", "rcu_read_lock()", "synchronize_rcu()", "/*", "*/",
        "//", "\n", "P1", "exists", "0:r0", "\"", "é",
    ];
    for seed in 1..6000 {
        let mut random = Random::new(seed);
        let words = (0..random.next(40)).map(|_| words[random.next(words.len())]);
        let code = words.collect::<Vec<_>>().join(" ");
        let end = ["", "} exists (x=0)", "; } P1() {} forall (0:r0=1)"][random.next(3)];
        survive_seed(seed, &format!("C t {{ y=x; }} P0(int *x, atomic_int *y) {{ {code} {end}"));
    }
}

/// What nests is refused, in code as in conditions.
#[test]
fn deep_code_is_refused() {
    let test = |code: &str| format!("C t {{}} P0(int *x) {{ {code} }} exists (x=0)");
    for (open, middle, close) in [
        ("{", "", "}"),
        ("if (1) ", ";", ""),
        ("while (1) {", "", "}"),
        ("do ", ";", " while (1);"),
    ] {
        let nested = |n: usize| test(&(open.repeat(n) + middle + &close.repeat(n)));
        assert_eq!(survive(&nested(5)), 0, "{open}");
        assert!(survive(&nested(20_000)) > 0, "{open}");
    }
    for (open, close) in [
        ("(", ")"),
        ("!", ""),
        ("-", ""),
        ("*", ""),
        ("q+(", ")"),
        ("q+", ""),
        ("READ_ONCE(*", ")"),
    ] {
        let nested =
            |n: usize| test(&format!("int q; r = {}x{};", open.repeat(n), close.repeat(n)));
        assert!(survive(&nested(20_000)) > 0 || open == "(", "{open}");
    }
}

#[test]
fn changed_files() {
    let files = files();
    for seed in 1..4000 {
        let mut random = Random::new(seed);
        let mut text: Vec<char> = files[random.next(files.len())].chars().collect();
        let other: Vec<char> = files[random.next(files.len())].chars().collect();
        for _ in 0..=random.next(4) {
            let at = random.next(text.len());
            let end = (at + random.next(12)).min(text.len());
            let from = random.next(other.len());
            let to = (from + random.next(12)).min(other.len());
            match random.next(3) {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..end, other[from..to].iter().copied())),
                _ => text.truncate(at.max(1)),
            }
        }
        survive_seed(seed, &text.into_iter().collect::<String>());
    }
}

#[test]
fn deep_conditions_are_refused() {
    let deep = 100_000;
    let nested = |open: &str, close: &str, times: usize| {
        format!("X86 t {{}} P0 ; exists {}x=0{}", open.repeat(times), close.repeat(times))
    };
    for (open, close) in [("(", ")"), ("~", ""), ("not ", ""), ("~(", ")"), ("x=0 => ", "")] {
        let errors = litmus::read("f", &nested(open, close, deep)).unwrap_err();
        assert_eq!(errors[0].message, "the condition nests more than 100 deep", "{open}");
        let (program, _) = litmus::read("f", &nested(open, close, 40)).unwrap();
        assert!(condition_depth(&program) <= MAX_NESTING);
    }
    survive(&nested("(", "", deep));
    survive(&nested("x=0 \\/ (x=1 /\\ ", ")", deep));
    survive(&nested("x=0 \\/ (x=1 /\\ ", ")", 99));
}

#[test]
fn long_conditions_become_flat_trees() {
    for op in ["/\\", "\\/"] {
        let text = format!("X86 t {{}} P0 ; exists x=0{}", format!(" {op} x=1").repeat(100_000));
        let (program, _) = litmus::read("f", &text).unwrap();
        assert!(condition_depth(&program) < 25);
    }
}

#[test]
fn long_tables_are_read_and_wide_ones_refused() {
    let rows = "MOV [x],$1 | MOV EAX,[x] ;\n".repeat(100_000);
    let (program, _) = litmus::read("f", &format!("X86 t {{}} P0 | P1 ;\n{rows}")).unwrap();
    assert_eq!(program.processes[1].body.len(), 100_000);

    let columns = |n: usize| (0..n).map(|i| format!("P{i}")).collect::<Vec<_>>().join("|");
    assert!(litmus::read("f", &format!("X86 t {{}} {} ;", columns(64))).is_ok());
    let errors = litmus::read("f", &format!("X86 t {{}} {} ;", columns(100_000))).unwrap_err();
    assert_eq!(errors[0].message, "at most 64 threads are read");
}

#[test]
fn many_of_anything_is_read_or_refused_soon() {
    let many = 100_000;
    let numbered = |format: &dyn Fn(usize) -> String| (0..many).map(format).collect::<String>();
    for text in [
        "(*".repeat(many),
        "X86 t ".to_owned() + &"{".repeat(many),
        "X86 t {} P0 ; ".to_owned() + &"? ".repeat(many),
        "X86 t {} P0 ; ".to_owned() + &"FOO ;".repeat(many),
        "X86 t {} P0 ; ".to_owned() + &"LOCK; ".repeat(many),
        "X86 t {} P0 ; NOP".to_owned() + &",1".repeat(many),
        "X86 t { int t[65535]; } P0 ; locations [".to_owned() + &"t;".repeat(many) + "]",
        format!("X86 t {{ {} }} P0 ;", numbered(&|i| format!("int x{i}[65535];"))),
        format!("X86 t {{}} P0 ; {}", numbered(&|i| format!("MOV [x{i}],$1 ;"))),
        format!("X86 t {{}} P0 ; {}", numbered(&|i| format!("L{i}: JMP K{i} ;"))),
        format!("X86 t {{}} P0 ; exists ({}", numbered(&|i| format!("x{i}=1 /\\ "))),
    ] {
        assert!(survive(&text) > 0 || text.contains("locations"));
    }
}
