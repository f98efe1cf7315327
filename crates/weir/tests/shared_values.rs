//! What two threads of a program in C or Rust can reach is in memory. What is not modeled is refused.

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

const SHARED: &str =
    "one thread changes this collection and another one uses it; only the run knows who is first";

#[test]
fn a_collection_that_one_thread_changes_and_another_one_uses_is_refused() {
    let lists = [
        "let s = Arc::new(Mutex::new(Vec::<u32>::new()))",
        "let s = Arc::new(Mutex::new(VecDeque::<u32>::new()))",
    ];
    let uses = ["assert!(w.lock().unwrap().len() == 1)", "assert!(!w.lock().unwrap().is_empty())"];
    for (list, push) in lists.into_iter().zip(["push(1)", "push_back(1)"]) {
        let push = format!("v.lock().unwrap().{push}");
        for second in uses.into_iter().map(str::to_owned).chain([push.replace('v', "w")]) {
            let text = rust(list, &push, &second);
            assert_eq!(read::errors("test.rs", &text), [SHARED], "{text}");
        }
    }
    let text = "use std::sync::Mutex; use std::thread; static V: Mutex<Vec<u32>> = Mutex::new(Vec::new());\n\
        fn main() { let a = thread::spawn(|| V.lock().unwrap().push(1)); assert!(V.lock().unwrap().len() == 1); a.join().unwrap(); }";
    assert_eq!(read::errors("test.rs", text), [SHARED]);
}

#[test]
fn what_a_thread_puts_into_a_collection_is_not_known_to_others() {
    let first = "let r = X.load(SeqCst); v.lock().unwrap().push(r)";
    let text = rust("let s = Arc::new(Mutex::new(Vec::new()))", first, "X.store(7, SeqCst)")
        .replace("b.join().unwrap();", "b.join().unwrap(); assert!(s.lock().unwrap()[0] < 9);");
    let message =
        "what another thread has put into this collection is only known when the program runs";
    assert_eq!(read::errors("test.rs", &text), [message], "{text}");
}

#[test]
fn a_collection_that_threads_set_is_refused() {
    for (declared, first, second) in [
        (
            "let s = Arc::new(Mutex::new(None::<Vec<u32>>))",
            "*v.lock().unwrap() = Some(vec![1])",
            "assert!(w.lock().unwrap().is_some())",
        ),
        (
            "let s = Arc::new(Mutex::new(vec![1, 2]))",
            "let x = std::mem::take(&mut *v.lock().unwrap())",
            "let x = std::mem::take(&mut *w.lock().unwrap())",
        ),
    ] {
        let text = rust(declared, first, second);
        let errors = read::errors("test.rs", &text);
        assert!(
            errors.len() == 1 && errors[0].contains("is only known when the program runs"),
            "{errors:?}\n{text}"
        );
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

const POINTER_AS_NUMBER: &str = "a pointer as a number is not read: addresses have no bits here";

#[test]
fn pointers_are_no_numbers() {
    let message = POINTER_AS_NUMBER;
    for text in [
        "int n; int main() { uintptr_t p = (uintptr_t)&n | 1; assert(p != (uintptr_t)&n); }",
        "struct s { int a; } x; struct s *_Atomic p; int main() { p = (struct s *)1; assert(p != &x); }",
        "int n; int *_Atomic p; void *w(void *a) { p = &n; return 0; }\n\
         int main() { pthread_t t; pthread_create(&t, 0, w, 0); long x = (long)p; pthread_join(t, 0); }",
        "int n; void *_Atomic p; void *w(void *a) { p = &n; return 0; }\n\
         int main() { pthread_t t; pthread_create(&t, 0, w, 0); assert((long)p < 2); pthread_join(t, 0); }",
        "int n; int *_Atomic q; void *_Atomic p; void *w(void *a) { p = q; q = &n; return 0; }\n\
         int main() { pthread_t t; pthread_create(&t, 0, w, 0); assert((uintptr_t)p < 2); pthread_join(t, 0); }",
        "struct s { void *data; } s; int n; void *w(void *a) { s.data = &n; return 0; }\n\
         int main() { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); assert((long)s.data == 1); }",
    ] {
        assert_eq!(read::errors("test.c", text), [message], "{text}");
    }
    let text = "fn main() { let n = 1u32; let p = &n as *const u32; assert!(p as usize | 1 != p as usize); }";
    assert_eq!(read::errors("test.rs", text), [message]);
    let text = "int n; void *_Atomic p; void *w(void *a) { p = &n; return 0; }\n\
        int main() { pthread_t t; pthread_create(&t, 0, w, 0); assert(p != (void *)1); pthread_join(t, 0); }";
    let errors = read::errors("test.c", text);
    assert!(errors[0].contains("a pointer is compared with a number"), "{errors:?}");
}

/// A `void *` that holds a number is one, also beside others that hold addresses.
#[test]
fn numbers_pass_through_untyped_pointers() {
    let text = "#include <pthread.h>\nint n; int *_Atomic p; void *_Atomic slot;\n\
        void *w(void *a) { p = a; slot = (void *)7L; return 0; }\n\
        int main() { pthread_t t; pthread_create(&t, 0, w, &n); pthread_join(t, 0); assert((long)slot == 7); }\n";
    assert_eq!(read::errors("test.c", text), [POINTER_AS_NUMBER]);
    let text = text.replace("p = a; ", "p = 0; int *q = a; *q = 1; ");
    assert_eq!(read::verdict("test.c", &text, MemoryModel::TSO), Verdict::Holds);
}

/// Two threads `w` and `v` in C.
fn c(text: &str) -> String {
    format!(
        "#include <pthread.h>\n{text}\nint main(void) {{ pthread_t t, u; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, v, 0);\n\
         pthread_join(t, 0); pthread_join(u, 0); }}\n"
    )
}

#[test]
fn functions_that_threads_set_are_refused() {
    let declared = "int r; void one(void) { r = 1; } void two(void) { r = 2; }";
    for text in [
        "void (*_Atomic f)(void); void *w(void *a) { atomic_store(&f, one); return 0; } void *v(void *a) { assert(atomic_load(&f) != 0); return 0; }",
        "struct o { void (*go)(void); } o[2]; void *w(void *a) { o[0].go = one; return 0; } void *v(void *a) { if (o[0].go) o[0].go(); return 0; }",
        "void (*f[2])(void) = { one, two }; int i; void *w(void *a) { i = 1; return 0; } void *v(void *a) { f[i](); return 0; }",
        "void (*f)(void) = one; void *w(void *a) { f = 0; return 0; } void *v(void *a) { if (f) f(); return 0; }",
    ] {
        let text = c(&format!("{declared}\n{text}"));
        let errors = read::errors("test.c", &text);
        assert!(errors[0].contains("only known when the program runs"), "{errors:?}\n{text}");
    }
    // Set before the threads start, and by the thread that uses it.
    let text = c("int r; void one(void) { r = 1; } void (*f)(void) = one; void (*g)(void);\n\
        void *w(void *a) { f(); return 0; } void *v(void *a) { g = one; g(); return 0; }");
    assert_eq!(read::verdict("test.c", &text, MemoryModel::TSO), Verdict::Holds);
}

#[test]
fn what_would_be_misread_is_refused() {
    for (text, message) in [
        (
            "struct b { int n; int data[]; } *p; int main() {}",
            "an array without a length in a struct is not read",
        ),
        (
            "char *s; int main() { s = \"ab\"; assert(s[0] == 'a'); }",
            "the characters and addresses of strings are not read",
        ),
        ("char s[3] = \"ab\"; int main() { }", "an array that begins with a string is not read"),
        (
            "int x; void __VERIFIER_atomic_inc(void) { x++; } int main() { __VERIFIER_atomic_inc(); }",
            "`__VERIFIER_atomic_inc`, which is one step, is not read",
        ),
        (
            "pthread_mutex_t m; int main() { pthread_mutexattr_t a; pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE); pthread_mutex_init(&m, &a); }",
            "a mutex that a thread may lock twice, or whose errors are told, is not read",
        ),
        (
            "int x; int main() { int y = 0; __atomic_store(&x, &y, __ATOMIC_SEQ_CST); }",
            "`__atomic_store`, which takes pointers to values, is not read",
        ),
        (
            "int main() { int *p = malloc(7); }",
            "an allocation of part of an object, or of more than that is not read",
        ),
    ] {
        assert_eq!(read::errors("test.c", text), [message], "{text}");
    }
    let text = "fn main() { let mut v = vec![1, 2]; v.truncate(1); assert!(v.len() == 1); }";
    assert_eq!(read::errors("test.rs", text), ["`truncate` of a `Vec` is not read"]);
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
        let text = format!("#include <pthread.h>\n{text}\n");
        assert_eq!(read::verdict("test.c", &text, MemoryModel::TSO), expected, "{text}");
    }
    let text = "use loom::sync::{Arc, atomic::AtomicUsize}; use loom::thread; use std::sync::atomic::Ordering::*;\n\
        fn main() { let a = Arc::new(AtomicUsize::new(0)); let c = a.clone();\n\
        loom::model(move || { let b = c.clone(); thread::spawn(move || { b.store(1, SeqCst); }); });\n\
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
    let text = "#include <stdio.h>\n#include <pthread.h>\natomic_int x; int y; void *w(void *a) { printf(\"%d %d\", x, (int)y); return 0; }\n\
        int main() { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; y = 1; pthread_join(t, 0); }";
    let (program, _) = weir_front::read("test.c", text, None).unwrap();
    let printed = weir_front::weir::print(&program);
    assert_eq!(printed.matches("= x").count() + printed.matches("= y").count(), 2, "{printed}");
}

#[test]
fn an_array_without_elements_has_nothing_to_access() {
    let text = "use std::sync::atomic::{AtomicBool, Ordering::SeqCst}; use std::thread;\n\
        static FLAG: [AtomicBool; 0] = [];\n\
        fn main() { let t = thread::spawn(|| { FLAG[0].store(true, SeqCst); }); t.join().unwrap(); }";
    assert_eq!(read::verdict("test.rs", text, MemoryModel::TSO), Verdict::Violated);
    let (program, _) = weir_front::read("test.rs", text, None).unwrap();
    let printed = weir_front::weir::print(&program);
    assert!(weir_front::read("printed.weir", &printed, None).is_ok(), "{printed}");
}

/// Values that a type does not have are refused, and what is printed can be read again.
#[test]
fn numbers_that_their_types_do_not_have_are_refused() {
    let program = |ty: &str, first: &str, then: &str| {
        format!(
            "use std::sync::atomic::{{{ty}, Ordering::SeqCst}}; use std::thread;\n\
             static X: {ty} = {ty}::new({first});\n\
             fn main() {{ let t = thread::spawn(|| {{ X.fetch_add({then}, SeqCst); }}); t.join().unwrap(); }}"
        )
    };
    for (ty, number, range) in [
        ("AtomicUsize", "-1", "0 to 18446744073709551615"),
        ("AtomicU8", "256", "0 to 255"),
        ("AtomicI8", "128", "-128 to 127"),
        ("AtomicI8", "-129", "-128 to 127"),
        ("AtomicI32", "3000000000", "-2147483648 to 2147483647"),
    ] {
        let message = format!("the number {number} is outside of its type, {range}");
        for text in [program(ty, number, "1"), program(ty, "1", number)] {
            assert_eq!(read::errors("test.rs", &text), [message.as_str()], "{text}");
        }
    }
    for (ty, number) in [("AtomicI8", "-128"), ("AtomicU8", "255"), ("AtomicU8", "!0")] {
        let text = program(ty, number, "0");
        let (program, _) = weir_front::read("test.rs", &text, None).unwrap();
        let printed = weir_front::weir::print(&program);
        assert!(weir_front::read("printed.weir", &printed, None).is_ok(), "{printed}");
    }
}

/// The parser would take exponential time for these.
#[test]
fn many_signs_are_refused() {
    for sign in ["-", "+", "- - ", "&&"] {
        let text = format!("int main(void) {{ int i = 0; {} }}", sign.repeat(100));
        let errors = read::errors("test.c", &text);
        assert_eq!(errors, ["more than 32 signs one after the other"], "{text}");
    }
    let line = "-".repeat(100);
    let text = format!("#include <stdio.h>\nint main(void) {{ printf(\"{line}\\n\"); return 0; }}");
    assert_eq!(read::errors("test.c", &text), Vec::<String>::new());
}
