//! Memory that was never set may be copied. Whatever else is done with it is a failure, in words of its own.

use weir::{MemoryModel, Verdict, Verifier};
use weir_gen::tools::are_installed;

use crate::read;

/// What a failure says.
const WORDS: [&str; 3] = [
    "memory is used that was never set",
    "a branch depends on a value that was never set",
    "a pointer that was never set is followed",
];

/// The verdict, and whether the run that was found ends with one of the words.
fn says(name: &str, text: &str, model: MemoryModel) -> (Verdict, bool) {
    let verdict = read::verdict(name, text, model);
    let report = Verifier::new(text).name(name).model(model).check().unwrap();
    let shown = format!("{:?}", report.findings);
    (verdict, WORDS.iter().any(|words| shown.contains(words)))
}

fn is_found(name: &str, text: &str) {
    for model in [MemoryModel::SC, MemoryModel::TSO, MemoryModel::C11] {
        assert_eq!(says(name, text, model), (Verdict::Violated, true), "{model}\n{text}");
    }
}

fn is_right(name: &str, text: &str) {
    for model in [MemoryModel::SC, MemoryModel::TSO, MemoryModel::C11] {
        assert_eq!(says(name, text, model).0, Verdict::Holds, "{model}\n{text}");
    }
}

/// A node that one thread makes and another one reads.
fn published(write: &str, read: &str) -> String {
    read::c(&format!(
        "struct node {{ int a; int b; unsigned low : 1, high : 3; }};\n_Atomic(struct node *) top; int other;\n\
         void *w(void *u) {{ struct node *n = malloc(sizeof *n); {write} return 0; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); struct node *n = atomic_load(&top);\n\
         if (n) {{ {read} }} pthread_join(t, 0); }}"
    ))
}

#[test]
fn what_is_never_set_and_used_is_a_failure() {
    if !are_installed(&["clang-19"]) {
        return;
    }
    let publish = "n->a = 1; atomic_store(&top, n);";
    is_right("test.c", &published(publish, "assert(n->a == 1);"));
    for used in
        ["if (n->b) other = 1;", "other = n->b + 1;", "int x[2]; x[0] = 0; other = x[n->b];"]
    {
        is_found("test.c", &published(publish, used));
    }
    // It is copied, and nothing else.
    is_right("test.c", &published(publish, "struct node m = *n; assert(m.a == 1);"));
    is_right(
        "test.c",
        &published(
            publish,
            "struct node *m = malloc(sizeof *m); *m = *n; m->b = n->b; assert(m->a == 1);",
        ),
    );
    is_found(
        "test.c",
        &published(
            publish,
            "struct node *m = malloc(sizeof *m); *m = *n; if (m->b == 0) other = 1;",
        ),
    );
    is_found("test.c", &published(publish, "if (n->b & 1) other = 1;"));
    // Fields of some bits.
    let fields = "n->low = 1; n->high = 5; atomic_store(&top, n);";
    is_found("test.c", &published("n->a = 1; atomic_store(&top, n);", "if (n->low) other = 1;"));
    is_right("test.c", &published(fields, "assert(n->low == 1 && n->high == 5);"));
}

#[test]
fn what_is_set_too_late_is_found() {
    if !are_installed(&["clang-19"]) {
        return;
    }
    // Published first. Under C11 this is a race as well.
    let late = published("atomic_store(&top, n); n->a = 1;", "assert(n->a == 0 || n->a == 1);");
    for model in [MemoryModel::SC, MemoryModel::TSO] {
        assert_eq!(says("test.c", &late, model), (Verdict::Violated, true), "{model}");
    }
    assert_eq!(says("test.c", &late, MemoryModel::C11).0, Verdict::Violated);
    // It may be seen before it is set, although it is set before.
    let weak = published(
        "n->a = 1; atomic_store_explicit(&top, n, memory_order_relaxed);",
        "assert(n->a >= 0);",
    );
    assert_eq!(says("test.c", &weak, MemoryModel::TSO).0, Verdict::Holds);
    assert_eq!(says("test.c", &weak, MemoryModel::PSO), (Verdict::Violated, true));
}

#[test]
fn atomic_operations_and_loops_that_wait_depend_on_what_is_there() {
    if !are_installed(&["clang-19"]) {
        return;
    }
    let text = |allocate: &str, code: &str| {
        read::c(&format!(
            "atomic_int *p; void *w(void *u) {{ {code} return 0; }}\n\
             int main(void) {{ pthread_t t; p = {allocate}; pthread_create(&t, 0, w, 0); pthread_join(t, 0); }}"
        ))
    };
    let (unset, zero) = ("malloc(sizeof *p)", "calloc(1, sizeof *p)");
    for code in [
        "atomic_fetch_add(p, 1);",
        "int e = 0; atomic_compare_exchange_strong(p, &e, 1);",
        "while (atomic_load(p) == 5);",
        "while (atomic_load(p) != 0);",
    ] {
        is_found("test.c", &text(unset, code));
        is_right("test.c", &text(zero, code));
    }
    is_right(
        "test.c",
        &text(unset, "atomic_store(p, 1); atomic_fetch_add(p, 1); assert(*p == 2);"),
    );
}

#[test]
fn locals_that_others_reach_may_be_unset() {
    if !are_installed(&["clang-19"]) {
        return;
    }
    let text = |code: &str| {
        read::c(&format!(
            "int c; void *w(void *u) {{ int *x = u; {code} return 0; }}\n\
             int main(void) {{ pthread_t t; int x; pthread_create(&t, 0, w, &x); pthread_join(t, 0); }}"
        ))
    };
    is_found("test.c", &text("if (*x) c = 1;"));
    is_right("test.c", &text("*x = 1; if (*x) c = 1;"));
    // Set on one way only.
    let ways = |then: &str| {
        read::c(&format!(
            "atomic_int c; int d; void *w(void *u) {{ c = 1; return 0; }}\n\
             int main(void) {{ pthread_t t; int x; pthread_create(&t, 0, w, 0); int y = c; if (y) x = 1; {then}\n\
             pthread_join(t, 0); }}"
        ))
    };
    is_right("test.c", &ways("if (y) assert(x == 1);"));
    is_found("test.c", &ways("if (x == 1) d = 1;"));
}

#[test]
fn rust_and_cpp_have_memory_that_was_never_set() {
    if !are_installed(&["clang-19", "rustc"]) {
        return;
    }
    let rust = |set: &str| {
        format!(
            "use std::cell::UnsafeCell; use std::mem::MaybeUninit; use std::sync::atomic::{{AtomicBool, Ordering::*}}; use std::sync::Arc; use std::thread;\n\
             struct Slot {{ full: AtomicBool, item: UnsafeCell<MaybeUninit<u64>> }}\nunsafe impl Sync for Slot {{}}\n\
             fn main() {{ let s = Arc::new(Slot {{ full: AtomicBool::new(false), item: UnsafeCell::new(MaybeUninit::uninit()) }});\n\
             let p = s.clone(); let t = thread::spawn(move || {{ {set} p.full.store(true, Release); }});\n\
             if s.full.load(Acquire) {{ let item = unsafe {{ (*s.item.get()).assume_init_read() }}; assert!(item < 9); }}\n\
             t.join().unwrap(); }}"
        )
    };
    is_right("test.rs", &rust("unsafe { (*p.item.get()).write(7); }"));
    is_found("test.rs", &rust(""));
    let cpp = |made: &str| {
        format!(
            "#include <atomic>\n#include <cassert>\n#include <thread>\nstd::atomic<int *> p{{nullptr}};\n\
             int main() {{ std::thread t([] {{ p.store({made}); }}); int *q = p; if (q) assert(*q < 9); t.join(); }}\n"
        )
    };
    is_right("test.cpp", &cpp("new int(3)"));
    is_right("test.cpp", &cpp("new int()"));
    is_found("test.cpp", &cpp("new int"));
}
