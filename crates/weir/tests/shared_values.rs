//! What two threads of a program in C or Rust can reach is in memory.

use weir::{MemoryModel, Verdict};

use crate::read;

/// Two threads, and what is declared before them.
fn rust(declared: &str, first: &str, second: &str) -> String {
    format!(
        "use std::collections::VecDeque; use std::sync::atomic::{{AtomicU32, Ordering::*}}; use std::sync::{{Arc, Mutex}}; use std::thread;\n\
         static X: AtomicU32 = AtomicU32::new(0);\n\
         fn main() {{ {declared}; let (v, w) = (s.clone(), s.clone());\n\
         let a = thread::spawn(move || {{ {first}; }});\n let b = thread::spawn(move || {{ {second}; }});\n\
         a.join().unwrap(); b.join().unwrap(); }}\n"
    )
}

fn is(name: &str, text: &str, expected: Verdict) {
    assert_eq!(read::verdict(name, text, MemoryModel::TSO), expected, "{text}");
}

#[test]
fn collections_that_threads_change_are_in_memory() {
    let list = "let s = Arc::new(Mutex::new(Vec::<u32>::new()))";
    let push = "v.lock().unwrap().push(1)";
    for second in
        ["assert!(w.lock().unwrap().len() == 1)", "assert!(!w.lock().unwrap().is_empty())"]
    {
        is("test.rs", &rust(list, push, second), Verdict::Violated);
    }
    is("test.rs", &rust(list, push, "assert!(w.lock().unwrap().len() < 2)"), Verdict::Holds);
    let text = "use std::sync::Mutex; use std::thread; static V: Mutex<Vec<u32>> = Mutex::new(Vec::new());\n\
        fn main() { let a = thread::spawn(|| V.lock().unwrap().push(1)); assert!(V.lock().unwrap().len() == 1); a.join().unwrap(); }";
    is("test.rs", text, Verdict::Violated);
    for (declared, first, second, expected) in [
        (
            "let s = Arc::new(Mutex::new(None::<Vec<u32>>))",
            "*v.lock().unwrap() = Some(vec![1])",
            "assert!(w.lock().unwrap().is_some())",
            Verdict::Violated,
        ),
        (
            "let s = Arc::new(Mutex::new(vec![1, 2]))",
            "let x = std::mem::take(&mut *v.lock().unwrap())",
            "let x = std::mem::take(&mut *w.lock().unwrap()); assert!(x.len() != 1)",
            Verdict::Holds,
        ),
    ] {
        is("test.rs", &rust(declared, first, second), expected);
    }
}

#[test]
fn collections_whose_order_is_known_are_read() {
    let add = "v[0].fetch_add(1, SeqCst)";
    let vector = "let s = Arc::new(vec![AtomicU32::new(3), AtomicU32::new(4)])";
    let slice = "let s: Arc<[AtomicU32]> = Arc::new([AtomicU32::new(3), AtomicU32::new(4)])";
    let made = ["Arc::from(LIST)", "LIST.into()", "(0..2).map(|i| AtomicU32::new(3)).collect()"]
        .map(|made| made.replace("LIST", "vec![AtomicU32::new(3), AtomicU32::new(4)]"))
        .map(|made| format!("let s: Arc<[AtomicU32]> = {made}"));
    for declared in [vector, slice].into_iter().chain(made.iter().map(String::as_str)) {
        let text = rust(declared, add, &add.replace('v', "w"))
            .replace("b.join().unwrap();", "b.join().unwrap(); assert_eq!(s[0].load(SeqCst), 5);");
        assert_eq!(read::verdict("test.rs", &text, MemoryModel::TSO), Verdict::Holds, "{text}");
    }
    let lock = "*v[0].lock().unwrap() += 1";
    let text =
        rust("let s = Arc::new(vec![Mutex::new(5), Mutex::new(6)])", lock, &lock.replace('v', "w"))
            .replace(
                "b.join().unwrap();",
                "b.join().unwrap(); assert_eq!(*s[0].lock().unwrap(), 7);",
            );
    assert_eq!(read::verdict("test.rs", &text, MemoryModel::TSO), Verdict::Holds, "{text}");
    let text = "use std::sync::{Arc, atomic::{AtomicU32, Ordering::*}}; use std::thread; struct S { slots: Box<[AtomicU32]> }\n\
        fn main() { let s = Arc::new(S { slots: vec![AtomicU32::new(3)].into_boxed_slice() }); let t = s.clone();\n\
        let a = thread::spawn(move || t.slots[0].fetch_add(1, SeqCst)); s.slots[0].fetch_add(1, SeqCst); a.join().unwrap();\n\
        assert_eq!(s.slots[0].load(SeqCst), 5); }";
    assert_eq!(read::verdict("test.rs", text, MemoryModel::TSO), Verdict::Holds);
    // One thread after the other.
    let text = "use std::sync::{Arc, Mutex}; use std::thread;\n\
        fn main() { let v = Arc::new(Mutex::new(Vec::new())); let w = v.clone();\n\
        thread::spawn(move || w.lock().unwrap().push(1)).join().unwrap();\n\
        let u = v.clone(); thread::spawn(move || assert!(u.lock().unwrap().len() == 1)).join().unwrap();\n\
        v.lock().unwrap().push(2); assert!(v.lock().unwrap().len() == 2); }";
    assert_eq!(read::verdict("test.rs", text, MemoryModel::TSO), Verdict::Holds);
}

#[test]
fn pointers_are_numbers() {
    use Verdict::{Holds, Violated};
    for (text, expected) in [
        (
            "int n; int main() { uintptr_t p = (uintptr_t)&n | 1; assert(p != (uintptr_t)&n); }",
            Holds,
        ),
        (
            "int n; int main() { uintptr_t p = (uintptr_t)&n | 1; assert((int *)(p & ~1ul) == &n); }",
            Holds,
        ),
        (
            "struct s { int a; } x; struct s *_Atomic p; int main() { p = (struct s *)1; assert(p != &x); }",
            Holds,
        ),
        (
            "int n; void *_Atomic p; void *w(void *a) { p = &n; return 0; }\n\
             int main() { pthread_t t; pthread_create(&t, 0, w, 0); assert((long)p < 2); pthread_join(t, 0); }",
            Violated,
        ),
        (
            "int n; void *_Atomic p; void *w(void *a) { p = &n; return 0; }\n\
             int main() { pthread_t t; pthread_create(&t, 0, w, 0); assert(p != (void *)1); pthread_join(t, 0); }",
            Holds,
        ),
        (
            "int n; int *_Atomic q; void *_Atomic p; void *w(void *a) { p = q; q = &n; return 0; }\n\
             int main() { pthread_t t; pthread_create(&t, 0, w, 0); assert((uintptr_t)p < 2); pthread_join(t, 0); }",
            Holds,
        ),
        (
            "int n; int *_Atomic p; void *_Atomic slot; void *w(void *a) { p = a; slot = (void *)7L; return 0; }\n\
             int main() { pthread_t t; pthread_create(&t, 0, w, &n); pthread_join(t, 0); assert((long)slot == 7 && p == &n); }",
            Holds,
        ),
        // A stale pointer may be equal to a new one.
        (
            "_Atomic(int *) slot; atomic_int version;\n\
             void *w(void *a) { int *p = slot; int before = version; if (p && slot == p && before == 0 && slot == p) assert(version == 0 || slot != p); return 0; }\n\
             void *v(void *a) { int *old = atomic_exchange(&slot, 0); free(old); int *new = malloc(4); version = 1; slot = new; return 0; }\n\
             int main() { slot = malloc(4); pthread_t t, u; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, v, 0); }",
            Violated,
        ),
    ] {
        is("test.c", &read::c(text), expected);
    }
    let text = "fn main() { let n = 1u32; let p = &n as *const u32; assert!(p as usize | 1 != p as usize); }";
    is("test.rs", text, Holds);
}

/// Two threads `w` and `v` in C.
fn c(text: &str) -> String {
    read::c(&format!(
        "{text}\nint main(void) {{ pthread_t t, u; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, v, 0);\n\
         pthread_join(t, 0); pthread_join(u, 0); }}\n"
    ))
}

#[test]
fn functions_that_threads_set_are_called() {
    use Verdict::{Holds, Violated};
    let declared = "int r; void one(void) { r = 1; } void two(void) { r = 2; }";
    for (text, expected) in [
        (
            "void (*_Atomic f)(void); void *w(void *a) { atomic_store(&f, one); return 0; } void *v(void *a) { assert(atomic_load(&f) != 0); return 0; }",
            Violated,
        ),
        (
            "struct o { void (*go)(void); } o[2]; void *w(void *a) { o[0].go = one; return 0; } void *v(void *a) { if (o[0].go) { o[0].go(); assert(r == 1); } return 0; }",
            Holds,
        ),
        (
            "void (*f[2])(void) = { one, two }; int i; void *w(void *a) { i = 1; return 0; } void *v(void *a) { f[i](); assert(r == 1); return 0; }",
            Violated,
        ),
        (
            "void (*f[2])(void) = { one, two }; int i; void *w(void *a) { i = 1; return 0; } void *v(void *a) { f[i](); assert(r == 1 || r == 2); return 0; }",
            Holds,
        ),
        // It may be 0 by now.
        (
            "void (*f)(void) = one; void *w(void *a) { f = 0; return 0; } void *v(void *a) { if (f) f(); return 0; }",
            Violated,
        ),
    ] {
        is("test.c", &c(&format!("{declared}\n{text}")), expected);
    }
    // Set before the threads start, and by the thread that uses it.
    let text = c("int r; void one(void) { r = 1; } void (*f)(void) = one; void (*g)(void);\n\
        void *w(void *a) { f(); return 0; } void *v(void *a) { g = one; g(); return 0; }");
    is("test.c", &text, Holds);
}

#[test]
fn what_the_text_alone_does_not_show_is_read() {
    use Verdict::{Holds, Violated};
    for (text, expected) in [
        (
            "struct b { int n; int data[]; } *p; int main() { p = malloc(12); p->data[1] = 4; assert(p->data[1] == 4); }",
            Holds,
        ),
        (
            "struct b { int n; int data[]; } *p; int main() { p = malloc(12); p->data[2] = 4; }",
            Violated,
        ),
        ("char *s; int main() { s = \"ab\"; assert(s[0] == 'a'); }", Holds),
        ("char s[3] = \"ab\"; int main() { assert(s[1] == 'b' && s[2] == 0); }", Holds),
        ("union u { int a; char b; } x; int main() { x.a = 258; assert(x.b == 2); }", Holds),
        (
            "int x; int main() { int y = 3; __atomic_store(&x, &y, __ATOMIC_SEQ_CST); assert(x == 3); }",
            Holds,
        ),
        ("int main() { char *p = malloc(7); p[6] = 1; assert(p[6] == 1); }", Holds),
        ("int main() { char *p = malloc(7); p[7] = 1; }", Violated),
        ("int f(int x) { return x ? f(x - 1) : 0; } int main() { assert(f(3) == 0); }", Holds),
        ("int f(int x) { return f(x + 1); } int main() { f(3); }", Verdict::Unknown),
    ] {
        is("test.c", &read::c(text), expected);
    }
    for (text, expected) in [
        ("fn main() { let mut v = vec![1, 2]; v.truncate(1); assert!(v.len() == 1); }", Holds),
        ("fn main() { assert!(vec![1, 2].binary_search(&1) == Ok(0)); }", Holds),
        (
            "union U { a: u32, b: u8 } fn main() { let u = U { a: 258 }; assert!(unsafe { u.b } == 2); }",
            Holds,
        ),
        (
            "fn main() { let mut m = std::collections::BTreeMap::new(); m.insert(1, 2); m.insert(0, 5); assert!(m[&1] == 2); }",
            Holds,
        ),
        ("fn f() { f() } fn main() { f() }", Verdict::Unknown),
    ] {
        is("test.rs", text, expected);
    }
}

/// A thread that is not started in a run is no deadlock, and what is asserted in the end is asserted without it.
#[test]
fn threads_may_be_started_or_not() {
    let text = |then: &str| {
        read::c(&format!(
            "atomic_int x, y; void *w(void *a) {{ y = 1; return 0; }} void *v(void *a) {{ x = 1; return 0; }}\n\
             int main() {{ pthread_t t, u; pthread_create(&u, 0, v, 0);\n\
             if (x) {{ pthread_create(&t, 0, w, 0); pthread_join(t, 0); }}\n\
             pthread_join(u, 0); {then} }}"
        ))
    };
    is("test.c", &text(""), Verdict::Holds);
    is("test.c", &text("assert(x == 1);"), Verdict::Holds);
    is("test.c", &text("assert(y == 1);"), Verdict::Violated);
}

/// A lock that only one thread uses, also one that is tried first.
#[test]
fn locks_of_one_thread_are_free_again() {
    let text = "use std::sync::Mutex; fn main() { let m = Mutex::new(1); assert!(m.try_lock().is_ok()); let g = m.lock().unwrap(); \
        assert!(m.try_lock().is_err()); drop(g); assert!(m.try_lock().is_ok()); }";
    is("test.rs", text, Verdict::Holds);
}

#[test]
fn what_was_misread_is_read() {
    for (text, expected) in [
        // Bytes without `sizeof`.
        (
            "int *b; void *w(void *a) { b[9] = 3; return 0; }\n\
             int main() { pthread_t t; b = malloc(40); pthread_create(&t, 0, w, 0); pthread_join(t, 0); assert(b[9] == 3); }",
            Verdict::Holds,
        ),
        // Nobody else writes what a thread waits for.
        (
            "int x; void *w(void *a) { while (!x); x = 42; return 0; }\n\
             int main() { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); }",
            Verdict::Violated,
        ),
        (
            "int x; void *w(void *a) { return 0; } int main() { pthread_t t; pthread_create(&t, 0, w, 0); while (!x); x = 42; }",
            Verdict::Violated,
        ),
        // Messages of assertions.
        ("int main() { int x = 1; assert(x == 1 && \"x is 1\"); }", Verdict::Holds),
        // A local variable that others reach.
        (
            "int *g; void *w(void *a) { *g = 1; return 0; }\n\
             int main() { pthread_t t; int i; g = &i; pthread_create(&t, 0, w, 0); i++; pthread_join(t, 0); assert(i == 1); }",
            Verdict::Violated,
        ),
        (
            "struct s { int *p; } g[2]; int **q; void *w(void *a) { *g[1].p = 1; **q = 3; return 0; }\n\
             int main() { pthread_t t; int i = 5; int *r = &i; q = &r; struct s s = { &i }; g[1] = s;\n\
             pthread_create(&t, 0, w, 0); pthread_join(t, 0); assert(i == 3); }",
            Verdict::Holds,
        ),
        // A thread that waits for itself, and two that wait for one.
        (
            "void *w(void *a) { pthread_join(pthread_self(), 0); return 0; }\n\
             int main() { _Atomic pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); }",
            Verdict::Violated,
        ),
        (
            "int x; pthread_t t, u; void *w(void *a) { x = 1; return 0; } void *v(void *a) { pthread_join(t, 0); assert(x == 1); return 0; }\n\
             int main() { pthread_create(&t, 0, w, 0); pthread_create(&u, 0, v, 0); pthread_join(t, 0); pthread_join(u, 0); assert(x == 1); }",
            Verdict::Holds,
        ),
    ] {
        is("test.c", &read::c(text), expected);
    }
    let text = "use loom::sync::{Arc, atomic::AtomicUsize}; use loom::thread; use std::sync::atomic::Ordering::*;\n\
        fn main() { let a = Arc::new(AtomicUsize::new(0)); let c = a.clone();\n\
        loom::model(move || { let b = c.clone(); thread::spawn(move || { b.store(1, SeqCst); }).join().unwrap(); });\n\
        assert_eq!(a.load(SeqCst), 1); }";
    assert_eq!(read::verdict("test.rs", text, MemoryModel::SC), Verdict::Holds);
}

#[test]
fn a_guard_that_is_printed_is_dropped() {
    let text = "use std::sync::Mutex; use std::thread; static M: Mutex<u32> = Mutex::new(0);\n\
        fn main() { let t = thread::spawn(|| { println!(\"{}\", M.lock().unwrap()); *M.lock().unwrap() += 1; });\n\
        println!(\"{:?}\", *M.lock().unwrap()); println!(\"{}\", M.lock().unwrap()); t.join().unwrap(); }";
    assert_eq!(read::verdict("test.rs", text, MemoryModel::SC), Verdict::Holds);
}

#[test]
fn what_is_printed_is_read() {
    let text = "atomic_int x; int y; void *w(void *a) { printf(\"%d %d\", x, (int)y); return 0; }\n\
        int main() { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; y = 1; pthread_join(t, 0); }";
    let (program, _) = read::read("test.c", &read::c(text)).unwrap();
    let printed = weir_front::weir::print(&program);
    assert_eq!(
        printed.matches("= x.load").count() + printed.matches("= y.load").count(),
        2,
        "{printed}"
    );
}

/// What is printed of a program can be read again.
#[test]
fn numbers_at_the_ends_of_their_types_are_printed() {
    for (ty, number) in [("AtomicI8", "-128"), ("AtomicU8", "255"), ("AtomicU8", "!0")] {
        let text = format!(
            "use std::sync::atomic::{{{ty}, Ordering::SeqCst}}; use std::thread;\n\
             static X: {ty} = {ty}::new({number});\n\
             fn main() {{ let t = thread::spawn(|| {{ X.fetch_add(0, SeqCst); }}); t.join().unwrap(); }}"
        );
        let (program, _) = read::read("test.rs", &text).unwrap();
        let printed = weir_front::weir::print(&program);
        assert!(weir_front::read("printed.weir", &printed, None).is_ok(), "{printed}");
    }
}
