//! Rust as rustc emits it, with threads by the functions that Weir knows.

use weir::{MemoryModel, Verdict};

use super::compiled::{compile, first_of};
use crate::read;

/// Threads for closures, by two functions that are known to Weir.
const THREADS: &str = "use std::sync::atomic::*; use std::sync::atomic::Ordering::*; use std::sync::Arc;\n\
    unsafe extern \"C\" { fn weir_spawn(f: unsafe extern \"C\" fn(*mut u8), data: *mut u8) -> usize; fn weir_join(id: usize);\n\
    fn weir_lock(l: *mut u32); fn weir_unlock(l: *mut u32); }\n\
    unsafe extern \"C\" fn run<F: FnOnce()>(p: *mut u8) { unsafe { Box::from_raw(p as *mut F)() } }\n\
    #[allow(unused)] fn spawn<F: FnOnce() + Send + 'static>(f: F) -> usize { unsafe { weir_spawn(run::<F>, Box::into_raw(Box::new(f)) as *mut u8) } }\n\
    #[allow(unused)] fn join(id: usize) { unsafe { weir_join(id) } }\n\
    #[allow(unused)] fn locked(l: &'static AtomicU32, f: impl FnOnce()) { unsafe { weir_lock(l.as_ptr()); f(); weir_unlock(l.as_ptr()); } }\n";

/// Programs with their answers under SC and TSO.
const PROGRAMS: [(&str, &str, Verdict, Verdict); 6] = [
    (
        "store buffering",
        "static X: AtomicI32 = AtomicI32::new(0); static Y: AtomicI32 = AtomicI32::new(0); static R: AtomicI32 = AtomicI32::new(0);\n\
         fn main() { let v = 1; let a = spawn(move || { X.store(v, Relaxed); R.store(Y.load(Relaxed), Relaxed); });\n\
         Y.store(v, Relaxed); let r = X.load(Relaxed); join(a); assert!(r == 1 || R.load(Relaxed) == 1); }",
        Verdict::Holds,
        Verdict::Violated,
    ),
    (
        "a ring behind an Arc",
        "struct Ring { slots: [AtomicUsize; 2], head: AtomicUsize, tail: AtomicUsize }\n\
         impl Ring { fn push(&self, v: usize) -> bool { let t = self.tail.load(Relaxed); if t - self.head.load(Acquire) == 2 { return false; } self.slots[t % 2].store(v, Relaxed); self.tail.store(t + 1, Release); true }\n\
         fn pop(&self) -> Option<usize> { let h = self.head.load(Relaxed); if h == self.tail.load(Acquire) { return None; } let v = self.slots[h % 2].load(Relaxed); self.head.store(h + 1, Release); Some(v) } }\n\
         fn main() { let r = Arc::new(Ring { slots: [AtomicUsize::new(0), AtomicUsize::new(0)], head: AtomicUsize::new(0), tail: AtomicUsize::new(0) });\n\
         let p = r.clone(); let a = spawn(move || { for i in 1..=3 { while !p.push(i) { std::hint::spin_loop() } } });\n\
         let mut next = 1; while next <= 3 { if let Some(v) = r.pop() { assert_eq!(v, next); next += 1; } } join(a); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "a lock that is forgotten",
        "static L: AtomicU32 = AtomicU32::new(0); static N: AtomicI32 = AtomicI32::new(0);\n\
         fn add() { N.store(N.load(Relaxed) + 1, Relaxed); }\n\
         fn main() { let a = spawn(|| locked(&L, add)); add(); join(a); assert_eq!(N.load(Relaxed), 2); }",
        Verdict::Violated,
        Verdict::Violated,
    ),
    (
        "a lock",
        "static L: AtomicU32 = AtomicU32::new(0); static N: AtomicI32 = AtomicI32::new(0);\n\
         fn add() { N.store(N.load(Relaxed) + 1, Relaxed); }\n\
         fn main() { let a = spawn(|| locked(&L, add)); locked(&L, add); join(a); assert_eq!(N.load(Relaxed), 2); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
    (
        "an overflow",
        "static N: AtomicU8 = AtomicU8::new(254);\n\
         fn main() { let a = spawn(|| { N.fetch_add(1, SeqCst); }); let n = N.load(SeqCst) + 1; join(a); assert!(n > 0); }",
        Verdict::Violated,
        Verdict::Violated,
    ),
    (
        "a trait object and an option",
        "trait Act { fn act(&self) -> Option<usize>; } struct A(usize); struct B;\n\
         impl Act for A { fn act(&self) -> Option<usize> { Some(self.0) } } impl Act for B { fn act(&self) -> Option<usize> { None } }\n\
         static N: AtomicUsize = AtomicUsize::new(0);\n\
         fn main() { let a = spawn(|| N.store(1, SeqCst)); let all: [Box<dyn Act>; 2] = [Box::new(A(7)), Box::new(B)];\n\
         let i = N.load(SeqCst); let got = all[i].act(); join(a); assert!(got == Some(7) || i == 1); }",
        Verdict::Holds,
        Verdict::Holds,
    ),
];

#[test]
fn programs_in_rust_have_their_answers() {
    let Some(rustc) = first_of(&["rustc"]) else { return };
    for level in ["opt-level=0", "opt-level=1"] {
        for (name, text, sc, tso) in PROGRAMS {
            let flags = [
                "--edition=2024",
                "-Cpanic=abort",
                "-C",
                level,
                "-Cdebuginfo=1",
                "-Coverflow-checks=on",
                "-Ccodegen-units=1",
                "-Awarnings",
                "--emit=llvm-ir",
            ];
            let module = compile(rustc, &flags, "rs", &format!("{THREADS}{text}\n"));
            for (model, answer) in [(MemoryModel::SC, sc), (MemoryModel::TSO, tso)] {
                assert_eq!(
                    read::verdict("test.ll", &module, model),
                    answer,
                    "{name}, {level}, {model}"
                );
            }
        }
    }
}
