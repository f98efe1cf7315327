//! Litmus tests in C: what functions and macros become, printed in the language of Weir.

use weir_front::{litmus, weir};

/// The statements of a function with parameters `x` and `y`, and whether primitives of the kernel are in it.
fn body(code: &str) -> (String, bool) {
    let text = format!("C t {{ atomic_t x; }} P0(atomic_t *x, int *y) {{ {code} }} exists (x=0)");
    let (program, source) = litmus::read("t.litmus", &text).unwrap_or_else(|errors| {
        let shown: Vec<_> = errors.iter().map(|e| e.render("t.litmus", &text, false)).collect();
        panic!("{}", shown.join("\n"))
    });
    let printed = weir::print(&program);
    let inner = printed.split_once("process P0 {").unwrap().1.split_once("\n}").unwrap().0;
    let lines = inner.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("reg "));
    let is_kernel = source.notes.iter().any(|note| note.contains("Linux kernel"));
    (lines.collect::<Vec<_>>().join("; "), is_kernel)
}

/// The table of docs/litmus.md.
#[test]
fn primitives_of_the_kernel_have_orders_of_c11() {
    let full = "seq_cst between fences";
    let either = |order: &str, when: &str, new: &str, fails: &str, result: &str| {
        format!(
            "choose {{; _0 = update(x, {when}, {new}, {order}); _1 = 1; }} or {{; _0 = x.load(relaxed); \
             assume {fails}; _1 = 0; }}; r = {result}"
        )
    };
    for (code, want) in [
        ("r = READ_ONCE(*x);", "r = x.load(relaxed)".to_owned()),
        ("WRITE_ONCE(*x, 1);", "x.store(1, relaxed)".to_owned()),
        ("r = rcu_dereference(*x);", "r = x.load(relaxed)".to_owned()),
        ("rcu_assign_pointer(*x, 1);", "x.store(1, release)".to_owned()),
        ("r = smp_load_acquire(x);", "r = x.load(acquire)".to_owned()),
        ("smp_store_release(x, 1);", "x.store(1, release)".to_owned()),
        ("smp_store_mb(*x, 1);", "x.store(1, relaxed); fence".to_owned()),
        ("smp_mb(); smp_rmb(); smp_wmb();", "fence; rfence; wfence".to_owned()),
        ("smp_mb__after_spinlock(); smp_mb__before_atomic();", "fence; fence".to_owned()),
        ("rcu_read_lock(); barrier(); rcu_read_unlock();", String::new()),
        ("synchronize_rcu();", "fence".to_owned()),
        ("r = xchg(x, 1);", format!("r = swap(x, 1, {full})")),
        ("r = xchg_release(x, 1);", "r = swap(x, 1, release)".to_owned()),
        ("r = cmpxchg(x, 0, 1);", either(full, "not _0 != 0", "1", "_0 != 0", "_0")),
        ("r = cmpxchg_acquire(x, 0, 1);", either("acquire", "not _0 != 0", "1", "_0 != 0", "_0")),
        (
            "r = atomic_add_unless(x, 1, 5);",
            either(full, "not not _0 != 5", "_0 + 1", "not _0 != 5", "_1"),
        ),
        (
            "spin_lock(x); spin_unlock(x);",
            "_0 = update(x, not _0, 1, acquire); x.store(0, release)".to_owned(),
        ),
        ("r = spin_trylock(x);", either("acquire", "not _0", "1", "_0", "_1")),
        ("atomic_inc(x);", "_0 = fetch_add(x, 1, relaxed)".to_owned()),
        ("r = atomic_inc_return(x);", format!("_0 = fetch_add(x, 1, {full}); r = _0 + 1")),
        ("r = atomic_fetch_add(2, x);", format!("r = fetch_add(x, 2, {full})")),
        (
            "r = atomic_read(x); atomic_set(x, r);",
            "r = x.load(relaxed); x.store(r, relaxed)".to_owned(),
        ),
    ] {
        assert_eq!(body(code), (want, true), "{code}");
    }
}

#[test]
fn functions_of_c11_keep_their_orders() {
    let cas = "_0 = cmpxchg(x, e, 1, acquire, relaxed); _1 = _0 == e";
    for (code, want) in [
        (
            "r = atomic_load(x); atomic_store(x, 1);",
            "r = x.load(seq_cst); x.store(1, seq_cst)".to_owned(),
        ),
        ("r = atomic_load_explicit(x, memory_order_consume);", "r = x.load(acquire)".to_owned()),
        ("atomic_store_explicit(x, 1, memory_order_release);", "x.store(1, release)".to_owned()),
        ("r = *y; *y = 1;", "r = y.load(plain); y.store(1, plain)".to_owned()),
        (
            "r = atomic_exchange_explicit(x, 1, memory_order_acq_rel);",
            "r = swap(x, 1, acq_rel)".to_owned(),
        ),
        // In the kernel the pointer is the second argument.
        ("r = atomic_fetch_add(x, 2);", "r = fetch_add(x, 2, seq_cst)".to_owned()),
        ("atomic_thread_fence(memory_order_relaxed);", String::new()),
        ("atomic_thread_fence(memory_order_acq_rel);", "rfence; wfence".to_owned()),
        ("atomic_thread_fence(memory_order_seq_cst);", "fence".to_owned()),
        (
            "int e = 0; r = atomic_compare_exchange_strong_explicit(x, &e, 1, memory_order_acquire, memory_order_relaxed);",
            format!("e = 0; {cas}; e = _0; r = _1"),
        ),
        // A weak one may fail although it has read what it expects.
        (
            "int e = 0; r = atomic_compare_exchange_weak_explicit(x, &e, 1, memory_order_acquire, memory_order_relaxed);",
            format!(
                "e = 0; choose {{; {cas}; }} or {{; _0 = x.load(relaxed); _1 = 0; }}; e = _0; r = _1"
            ),
        ),
    ] {
        assert_eq!(body(code), (want, false), "{code}");
    }
}

/// What tests of others rely on: registers without declaration, one that is used in its own first value, and
/// variables that only the initial section or the condition names.
#[test]
fn names_need_no_declaration() {
    assert_eq!(
        body("r1 = READ_ONCE(*x); if (r1) r2 = 1;").0,
        "r1 = x.load(relaxed); if r1 {; r2 = 1; }"
    );
    assert_eq!(body("intptr_t r4 = (1 != r4);").0, "r4 = 1 != r4");
    let text = "C t { z=3; } P0(int *x) { WRITE_ONCE(*x, 1); } exists (x=1 /\\ y=0 /\\ z=3)";
    let (program, _) = litmus::read("t.litmus", text).unwrap();
    let names: Vec<_> = program.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}
