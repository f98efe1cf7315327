//! Litmus tests in C under the memory model of C11: what the literature says of them, and what reports say about how
//! they were read.

use weir::question::Listed;
use weir::report::herd;
use weir::{MemoryModel, Report, Verdict, Verifier};

fn checked(text: &str) -> Report {
    Verifier::new(text).name("t.litmus").model(MemoryModel::C11).check().unwrap()
}

/// Whether the condition of a test is allowed.
fn is_allowed(text: &str) -> bool {
    checked(text).findings[0].verdict == Verdict::Holds
}

fn mp(write: &str, read: &str) -> String {
    format!(
        "C MP {{}}
         P0(atomic_int *x, atomic_int *y) {{ atomic_store_explicit(x, 1, memory_order_relaxed); {write} }}
         P1(atomic_int *x, atomic_int *y) {{ {read} r1 = atomic_load_explicit(x, memory_order_relaxed); }}
         exists (1:r0=1 /\\ 1:r1=0)"
    )
}

#[test]
fn message_passing_by_orders_and_fences() {
    let store = |order: &str| format!("atomic_store_explicit(y, 1, memory_order_{order});");
    let load = |order: &str| format!("r0 = atomic_load_explicit(y, memory_order_{order});");
    let fence = |order: &str| format!("atomic_thread_fence(memory_order_{order});");
    let release = ["release", "acq_rel", "seq_cst"].map(|o| fence(o) + &store("relaxed"));
    let acquire = ["acquire", "acq_rel", "seq_cst"].map(|o| load("relaxed") + &fence(o));
    let wrong = [fence("acquire") + &store("relaxed"), store("relaxed") + &fence("release")];
    for write in release.iter().chain(&[store("release"), store("seq_cst")]) {
        for read in acquire.iter().chain(&[load("acquire"), load("seq_cst")]) {
            assert!(!is_allowed(&mp(write, read)), "{write} {read}");
        }
        assert!(is_allowed(&mp(write, &load("relaxed"))), "{write}");
    }
    for write in &wrong {
        assert!(is_allowed(&mp(write, &load("acquire"))), "{write}");
    }
}

/// Where C11 and the model of the kernel agree, and where they do not: the list of docs/litmus.md.
#[test]
fn tests_of_the_kernel_by_their_mapping() {
    let two = |first: &str, second: &str, condition: &str| {
        format!(
            "C t {{}} P0(int *x, int *y) {{ {first} }} P1(int *x, int *y) {{ {second} }} exists ({condition})"
        )
    };
    let sb = |fence: &str| {
        let part = |a, b| format!("WRITE_ONCE(*{a}, 1); {fence} r0 = READ_ONCE(*{b});");
        two(&part("x", "y"), &part("y", "x"), "0:r0=0 /\\ 1:r0=0")
    };
    for (fence, allowed) in
        [("", true), ("smp_wmb();", true), ("smp_mb();", false), ("synchronize_rcu();", false)]
    {
        assert_eq!(is_allowed(&sb(fence)), allowed, "{fence}");
    }
    // An atomic operation without a suffix is a full fence, if it succeeds.
    let around = |operation: &str| {
        let part = |a, b| format!("WRITE_ONCE(*{a}, 1); {operation} r0 = READ_ONCE(*{b});");
        let (first, second) = (part("x", "y"), part("y", "x"));
        let head = "(int *x, int *y, int *z)";
        format!(
            "C t {{}} P0{head} {{ {first} }} P1{head} {{ {second} }} exists (0:r0=0 /\\ 1:r0=0)"
        )
    };
    assert!(!is_allowed(&around("r1 = xchg(z, 1);")));
    assert!(is_allowed(&around("r1 = xchg_relaxed(z, 1);")));
    assert!(!is_allowed(&around("r1 = atomic_inc_return(z);")));
    assert!(is_allowed(&around("atomic_inc(z);")));
    assert!(is_allowed(&around("r1 = cmpxchg(z, 7, 1);")));
    // C11 has no dependencies: the kernel forbids this.
    let publish = "WRITE_ONCE(*x, 1); smp_wmb(); rcu_assign_pointer(*y, x);";
    let follow = "p = rcu_dereference(*y); if (p != 0) r1 = READ_ONCE(*p); else r1 = 1;";
    assert!(is_allowed(&two(publish, follow, "1:r1=0")));
    assert!(!is_allowed(&two(
        publish,
        &follow.replace("rcu_dereference(*y)", "smp_load_acquire(y)"),
        "1:r1=0"
    )));
    // Load buffering is not covered: the kernel allows it.
    let lb = |a, b| format!("r0 = READ_ONCE(*{a}); WRITE_ONCE(*{b}, 1);");
    assert!(!is_allowed(&two(&lb("x", "y"), &lb("y", "x"), "0:r0=1 /\\ 1:r0=1")));
}

#[test]
fn locks() {
    let section = "spin_lock(l); r0 = *x; *x = r0 + 1; spin_unlock(l);";
    let both = |code: &str| {
        let (first, second) = (code, code);
        format!(
            "C t {{}} P0(int *x, spinlock_t *l) {{ {first} }} P1(int *x, spinlock_t *l) {{ {second} }} forall (x=2)"
        )
    };
    let report = checked(&both(section));
    assert!(report.findings.iter().all(|f| f.verdict == Verdict::Holds), "{report:?}");
    // Without the lock it is a race, and nothing else is known.
    let report = checked(&both("r0 = *x; *x = r0 + 1;"));
    assert_eq!(report.finding("races").unwrap().verdict, Verdict::Violated);
    assert_eq!(report.findings[0].verdict, Verdict::Unknown);
    // Who does not get the lock does not write.
    let attempt = "if (spin_trylock(l)) { r0 = *x; *x = r0 + 2; spin_unlock(l); }";
    let report = checked(&both(attempt).replace("forall (x=2)", "exists (x=0)"));
    assert_eq!(report.findings[0].verdict, Verdict::Violated);
}

#[test]
fn reports_say_that_primitives_were_mapped() {
    let kernel = "C t {} P0(int *x) { WRITE_ONCE(*x, 1); } exists (x=1)";
    for model in [MemoryModel::C11, MemoryModel::TSO] {
        let report = Verifier::new(kernel).name("t.litmus").model(model).check().unwrap();
        let is_said =
            report.caveats.iter().any(|c| c.contains("not by the memory model of the kernel"));
        assert!(is_said, "{:?}", report.caveats);
    }
    let c11 =
        "C t {} P0(atomic_int *x) { atomic_store(x, 1); r = atomic_fetch_add(x, 1); } exists (x=2)";
    assert!(checked(c11).caveats.iter().all(|c| !c.contains("kernel")));
}

/// A script that looks for `Never` must not find it where nothing is defined.
#[test]
fn a_race_is_undef_for_other_tools() {
    let text = "C t {} P0(int *x) { *x = 1; } P1(int *x) { r0 = *x; } exists (1:r0=2)";
    let verifier = Verifier::new(text).name("t.litmus").model(MemoryModel::C11);
    let report = verifier.outcomes().unwrap();
    let block = herd::block(Listed::of(&report).unwrap());
    let (block, _time) = block.split_once("Time").unwrap();
    let want = "Test t Allowed\nStates 0\nUndef\nWitnesses\nPositive: 0 Negative: 0\nFlag *undef*\nCondition exists (1:r0=2)\n";
    assert_eq!(block, want);
}
