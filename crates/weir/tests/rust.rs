//! What is read of Rust, feature by feature: each program answers as Rust would have it.

use weir::{MemoryModel, Verdict};

use crate::read;

fn verdict(text: &str, model: MemoryModel) -> Verdict {
    read::verdict("test.rs", text, model)
}

fn errors(text: &str) -> Vec<String> {
    read::errors("test.rs", text)
}

/// Programs of one thread in which nothing fails.
const RIGHT: &[(&str, &str)] = &[
    (
        "integers",
        "let c = 255u8; assert_eq!(c.wrapping_add(1), 0); assert_eq!(-7 / 2, -3); assert_eq!(-7 % 2, -1); \
         assert_eq!(200u8 as i8, -56); assert_eq!((1u64 << 40) as u32, 0); assert_eq!(!0u8, 255); assert_eq!(!5i32, -6);",
    ),
    (
        "methods of integers",
        "assert_eq!(3u8.checked_sub(4), None); assert_eq!(3u8.checked_sub(1), Some(2)); \
         assert_eq!(3u8.saturating_sub(4), 0); assert_eq!(7.max(9), 9); assert_eq!(2u32.pow(5), 32); \
         assert_eq!(u8::MAX, 255); assert_eq!(i32::MIN, -2147483648); assert_eq!(5u32.abs_diff(8), 3);",
    ),
    ("bits", "assert_eq!((5 ^ 3) | 8, 14); assert_eq!(6 & 3, 2); assert_eq!(1 << 3 >> 1, 4);"),
    (
        "literals take the type of what they meet",
        "let mut a = 0; a = n() - 1; a -= 1; assert!(a < 0);",
    ),
    (
        "shadowing",
        "let x = 1; { let x = x + 1; assert_eq!(x, 2); } assert_eq!(x, 1); let x = x + 4; assert_eq!(x, 5);",
    ),
    (
        "values of branches",
        "let x = if n() > 0 { 10 } else { 20 }; assert_eq!(x, 10); let y = { let z = x; z + 1 }; assert_eq!(y, 11);",
    ),
    (
        "lazy operators",
        "let mut i = n(); if i > 5 && { i = 9; true } {} assert_eq!(i, 1); if i == 1 || { i = 9; true } {} assert_eq!(i, 1);",
    ),
    (
        "loops",
        "let mut sum = 0; for i in 0..10 { if i == 5 { continue; } if i == 8 { break; } sum += i; } assert_eq!(sum, 23); \
         let mut k = 4; let mut f = 1; while k > 0 { f *= k; k -= 1; } assert_eq!(f, 24); \
         let v = loop { k += 1; if k == 7 { break k * 2; } }; assert_eq!(v, 14);",
    ),
    (
        "labels",
        "let mut c = 0; 'a: for i in 0..3 { for j in 0..3 { if j == 2 { continue 'a; } if i == 2 { break 'a; } c += 1; } } \
         assert_eq!(c, 4); let x = 'b: { if c == 4 { break 'b 1; } 2 }; assert_eq!(x, 1);",
    ),
    (
        "match",
        "let x = n(); let r = match x { 0 => 1, 1 | 2 => 2, 3..=5 => 3, _ => 4 }; assert_eq!(r, 2); \
         let s = match (x, r) { (1, y) if y > 5 => 0, (1, y) => y, _ => 9 }; assert_eq!(s, 2);",
    ),
    (
        "options",
        "let o = Some(n()); assert!(o.is_some()); if let Some(v) = o { assert_eq!(v, 1); } else { panic!(); } \
         let Some(w) = o else { panic!() }; assert_eq!(w, 1); assert_eq!(o.map(|x| x + 1).unwrap_or(0), 2); \
         let e: Option<i32> = None; assert_eq!(e.unwrap_or(7), 7); let mut t = Some(3); assert_eq!(t.take(), Some(3)); assert!(t.is_none());",
    ),
    (
        "results",
        "fn half(x: i32) -> Result<i32, i32> { if x % 2 == 0 { Ok(x / 2) } else { Err(x) } } \
         fn twice(x: i32) -> Result<i32, i32> { let y = half(x)?; Ok(half(y)? + 100) } \
         assert_eq!(twice(8), Ok(102)); assert_eq!(twice(6), Err(3)); assert!(matches!(half(n()), Err(1))); assert_eq!(half(4).unwrap(), 2);",
    ),
    (
        "patterns",
        "let (a, (b, ..)) = (1, (2, 3, 4)); let [x, .., y] = [5, 6, 7]; assert_eq!(a + b + x + y, 15); let v @ 1..=9 = 4 else { panic!() }; assert_eq!(v, 4);",
    ),
    (
        "chains of conditions",
        "let o = Some(n()); if matches!(o, Some(v) if v == 1) && n() == 1 { assert_eq!(o, Some(1)); } else { panic!(); } if matches!(o, Some(2)) { panic!(); }",
    ),
    (
        "arrays",
        "let mut a = [1, 2, 3]; a[n() as usize] = 5; assert_eq!(a[1], 5); assert_eq!(a.len(), 3); let b = [0u8; 4]; assert_eq!(b[3], 0); let mut s = 0; for x in a { s += x; } for x in &a { s += *x; } assert_eq!(s, 18);",
    ),
    (
        "structs",
        "let p = Point { x: 1, y: 2 }; let q = Point { y: 5, ..p }; assert_eq!(q.x + q.y, 6); assert_eq!(p.sum(), 3); let mut r = p; r.x = 9; assert_eq!(p.x, 1); assert_eq!(r, Point { x: 9, y: 2 }); assert_eq!(Point::ORIGIN.x, 0);",
    ),
    (
        "enums",
        "let s = Shape::Rect { w: n(), h: 3 }; assert_eq!(s.area(), 3); assert_eq!(Shape::Dot.area(), 0); assert_eq!(Shape::Line(4).area(), 4); assert_eq!(Color::Blue as u8, 6);",
    ),
    (
        "references",
        "let mut x = 1; { let r = &mut x; *r += 1; } assert_eq!(x, 2); fn add(r: &mut i32, n: i32) { *r += n; } add(&mut x, 3); assert_eq!(x, 5); let y = &&x; assert_eq!(**y, 5);",
    ),
    (
        "raw pointers",
        "let mut a = [1, 2, 3]; let p = a.as_mut_ptr(); unsafe { *p.add(1) = 7; assert_eq!(p.add(2).read(), 3); } assert_eq!(a[1], 7); let q: *const i32 = std::ptr::null(); assert!(q.is_null());",
    ),
    (
        "boxes",
        "let b = Box::new(Point { x: 3, y: 4 }); assert_eq!(b.x, 3); let c = *b; assert_eq!(c.y, 4); let raw = Box::into_raw(Box::new(5)); unsafe { *raw = 6; let back = Box::from_raw(raw); assert_eq!(*back, 6); }",
    ),
    (
        "lists",
        "struct L { v: i32, next: Option<Box<L>> } let l = L { v: 1, next: Some(Box::new(L { v: 2, next: None })) }; assert_eq!(l.next.as_ref().unwrap().v, 2); assert!(l.next.as_ref().unwrap().next.is_none()); assert_eq!(l.v, 1);",
    ),
    (
        "generics",
        "struct W<T> { t: T } impl<T: Copy> W<T> { fn new(t: T) -> Self { W { t } } fn get(&self) -> T { self.t } } assert_eq!(W::new(3u8).get(), 3); assert!(W::new(true).get()); fn id<T>(t: T) -> T { t } assert_eq!(id::<i32>(n()), 1);",
    ),
    (
        "numbers as parameters",
        "struct R<const N: usize> { a: [u32; N] } impl<const N: usize> R<N> { fn new() -> Self { R { a: [1; N] } } fn len(&self) -> usize { N } } let r = R::<3>::new(); assert_eq!(r.len() + r.a[2] as usize, 4);",
    ),
    (
        "traits",
        "trait Area { fn area(&self) -> i32; fn double(&self) -> i32 { self.area() * 2 } } impl Area for Point { fn area(&self) -> i32 { self.x * self.y } } fn of(a: &impl Area) -> i32 { a.double() } assert_eq!(of(&Point { x: 2, y: 3 }), 12);",
    ),
    (
        "closures",
        "let k = 10; let add = |x| x + k; assert_eq!(add(n()), 11); let mut c = 0; let mut inc = || { c += 1; c }; inc(); assert_eq!(inc(), 2); assert_eq!(c, 2); fn apply<F: Fn(i32) -> i32>(f: F) -> i32 { f(5) } assert_eq!(apply(add), 15); let b: Box<dyn Fn(i32) -> i32> = Box::new(|x| x * 2); assert_eq!(b(4), 8);",
    ),
    (
        "moved closures",
        "let mut c = 5; let mut f = move || { c += 1; c }; assert_eq!(f(), 6); assert_eq!(f(), 7); assert_eq!(c, 5);",
    ),
    (
        "vectors",
        "let mut v = Vec::new(); v.push(1); v.push(2); v.push(3); assert_eq!(v.len(), 3); assert_eq!(v[1], 2); v[1] = 9; assert_eq!(v.iter().sum::<i32>(), 13); let w: Vec<i32> = (0..3).map(|i| i * i).collect(); assert_eq!(w, vec![0, 1, 4]);",
    ),
    (
        "iterators",
        "let mut s = 0; for (i, x) in [5, 6].iter().enumerate() { s += i as i32 * x; } assert_eq!(s, 6); for i in (0..6).rev().step_by(2) { s += i; } assert_eq!(s, 15); assert!([1, 2].iter().all(|x| *x > 0)); assert_eq!((1..=3).fold(0, |a, b| a + b), 6);",
    ),
    (
        "drops",
        "static D: AtomicI32 = AtomicI32::new(0); struct G(i32); impl Drop for G { fn drop(&mut self) { let d = D.load(Relaxed); D.store(d * 10 + self.0, Relaxed); } } { let _a = G(1); let _b = G(2); let _ = G(3); G(4); let c = G(5); drop(c); let d = G(6); std::mem::forget(d); } assert_eq!(D.load(Relaxed), 34521);",
    ),
    (
        "moved values are not dropped",
        "static D: AtomicI32 = AtomicI32::new(0); struct G; impl Drop for G { fn drop(&mut self) { D.fetch_add(1, Relaxed); } } fn take(_g: G) {} { let g = G; if n() == 1 { take(g); } } assert_eq!(D.load(Relaxed), 1); { let h; if n() == 1 { h = G; let _ = &h; } } assert_eq!(D.load(Relaxed), 2);",
    ),
    (
        "guards",
        "let m = std::sync::Mutex::new(1); *m.lock().unwrap() += 1; { let mut g = m.lock().unwrap(); *g += 1; } if *m.lock().unwrap() == 3 { *m.lock().unwrap() = 7; } let x = *m.lock().unwrap(); assert_eq!(x, 7); assert!(m.try_lock().is_ok()); let g = m.lock().unwrap(); assert!(m.try_lock().is_err()); drop(g);",
    ),
    (
        "dereferences",
        "struct W(Point); impl std::ops::Deref for W { type Target = Point; fn deref(&self) -> &Point { &self.0 } } let w = W(Point { x: 4, y: 1 }); assert_eq!(w.x, 4); assert_eq!(w.sum(), 5);",
    ),
    (
        "cells",
        "use std::cell::{Cell, UnsafeCell}; let c = Cell::new(1); c.set(c.get() + 1); assert_eq!(c.get(), 2); let u = UnsafeCell::new(3); unsafe { *u.get() += 1; } assert_eq!(u.into_inner(), 4); let mut m = std::mem::MaybeUninit::<i32>::uninit(); m.write(8); assert_eq!(unsafe { m.assume_init() }, 8);",
    ),
    (
        "memory functions",
        "let mut a = 1; let mut b = 2; std::mem::swap(&mut a, &mut b); assert_eq!((a, b), (2, 1)); assert_eq!(std::mem::replace(&mut a, 9), 2); assert_eq!(a, 9); assert_eq!(std::mem::take(&mut a), 9); assert_eq!(a, 0);",
    ),
    (
        "atomics",
        "let x = AtomicI32::new(3); assert_eq!(x.fetch_add(2, SeqCst), 3); assert_eq!(x.swap(9, AcqRel), 5); \
         assert_eq!(x.compare_exchange(1, 2, AcqRel, Acquire), Err(9)); assert_eq!(x.compare_exchange_weak(9, 2, Release, Relaxed), Ok(9)); \
         assert_eq!(x.load(Acquire), 2); x.store(12, Release); assert_eq!(x.fetch_or(3, Relaxed), 12); assert_eq!(x.fetch_and(6, Relaxed), 15); \
         assert_eq!(x.fetch_xor(5, Relaxed), 6); assert_eq!(x.fetch_max(9, Relaxed), 3); assert_eq!(x.fetch_min(4, Relaxed), 9); assert_eq!(x.into_inner(), 4);",
    ),
    (
        "atomics wrap",
        "let x = std::sync::atomic::AtomicI8::new(127); x.fetch_add(1, Relaxed); assert_eq!(x.load(Relaxed), -128); let u = std::sync::atomic::AtomicUsize::new(0); u.fetch_sub(1, Relaxed); assert_eq!(u.load(Relaxed), usize::MAX);",
    ),
    (
        "fetch_update",
        "let x = AtomicI32::new(1); assert_eq!(x.fetch_update(SeqCst, Relaxed, |v| if v < 3 { Some(v + 1) } else { None }), Ok(1)); x.store(3, Relaxed); assert_eq!(x.fetch_update(SeqCst, Relaxed, |v| if v < 3 { Some(v + 1) } else { None }), Err(3));",
    ),
    (
        "modules",
        "mod inner { pub const K: i32 = 4; pub fn f() -> i32 { K + super_n() } fn super_n() -> i32 { 1 } pub mod deep { pub fn g() -> i32 { super::f() } } } use inner::deep::g as h; assert_eq!(inner::f(), 5); assert_eq!(h(), 5);",
    ),
    (
        "ignored",
        "println!(\"{} {n}\", 3, n = n()); std::thread::yield_now(); std::thread::sleep(std::time::Duration::from_millis(1)); std::hint::spin_loop(); let _s = String::from(\"a\") + \"b\"; let _t = std::time::Instant::now().elapsed();",
    ),
];

/// The same, in which an assertion fails, or something that a debug build stops at happens.
const WRONG: &[(&str, &str)] = &[
    ("assertion", "assert!(n() == 2);"),
    ("equality", "assert_eq!(n(), 2);"),
    ("inequality", "assert_ne!(n(), 1);"),
    ("panic", "if n() == 1 { panic!(\"no\"); }"),
    ("unreachable", "match n() { 1 => unreachable!(), _ => {} }"),
    ("unwrap", "let o: Option<i32> = if n() == 2 { Some(1) } else { None }; o.unwrap();"),
    ("abort", "if n() == 1 { std::process::abort(); }"),
    ("overflow", "let x = i32::MAX - 1 + n(); let _y = x + 1;"),
    ("underflow", "let x = n() as usize; let _y = x - 2;"),
    ("division", "let zero = n() - 1; let _x = 1 / zero;"),
    ("shift", "let k = 31 + n(); let _x = 1i32 << k;"),
    ("null", "let p: *mut i32 = std::ptr::null_mut(); unsafe { *p = n(); }"),
    ("bounds", "let a = [1, 2]; let i = n() as usize + 1; let _x = a[i];"),
    (
        "use after free",
        "let p = Box::into_raw(Box::new(n())); unsafe { drop(Box::from_raw(p)); assert!(*p < 9); }",
    ),
    (
        "double free",
        "let p = Box::into_raw(Box::new(n())); unsafe { drop(Box::from_raw(p)); drop(Box::from_raw(p)); }",
    ),
];

const HEAD: &str = "
#![allow(dead_code, unused)]
use std::sync::atomic::{AtomicI32, Ordering::*};
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point { x: i32, y: i32 }
impl Point {
    const ORIGIN: Point = Point { x: 0, y: 0 };
    fn sum(&self) -> i32 { self.x + self.y }
}
#[derive(Clone, Copy)]
enum Shape { Dot, Line(i32), Rect { w: i32, h: i32 } }
impl Shape {
    fn area(&self) -> i32 {
        match self { Shape::Dot => 0, Self::Line(n) => *n, Shape::Rect { w, h } => w * h }
    }
}
enum Color { Red = 5, Blue }
static ONE: AtomicI32 = AtomicI32::new(1);
fn n() -> i32 { ONE.load(Relaxed) }
";

#[test]
fn programs_of_one_thread_do_what_rust_says() {
    for (expected, list) in [(Verdict::Holds, RIGHT), (Verdict::Violated, WRONG)] {
        for (name, body) in list {
            let text = format!("{HEAD}\nfn main() {{\n{body}\n}}\n");
            assert_eq!(verdict(&text, MemoryModel::SC), expected, "{name}: {body}");
        }
    }
}

#[test]
fn the_same_happens_where_nothing_is_known_before() {
    // In a thread, with a number that another thread writes, so that nothing is computed.
    for (expected, list) in [(Verdict::Holds, RIGHT), (Verdict::Violated, WRONG)] {
        for (name, body) in list {
            let text = format!(
                "{HEAD}\nfn main() {{ let t = std::thread::spawn(|| ONE.store(1, Relaxed)); \
                 let u = std::thread::spawn(|| {{\n{body}\n}}); t.join().unwrap(); \
                 u.join().unwrap(); }}\n"
            );
            assert_eq!(verdict(&text, MemoryModel::SC), expected, "{name}: {body}");
        }
    }
}

#[test]
fn threads_do_what_rust_says() {
    use Verdict::{Holds, Violated};
    let cases: &[(&str, Verdict, &str)] = &[
        (
            "results of threads",
            Holds,
            "fn main() { let t = thread::spawn(|| X.fetch_add(1, Relaxed) + 10); let u = thread::spawn(|| 5); \
             assert_eq!(t.join().unwrap() + u.join().unwrap(), 15); }",
        ),
        (
            "variables that threads assign",
            Holds,
            "fn main() { let (mut a, mut b) = (0, 0); thread::scope(|s| { s.spawn(|| a = X.load(Relaxed) + 1); \
             s.spawn(|| b = 2); }); assert_eq!(a + b, 3); }",
        ),
        (
            "a count without a lock",
            Violated,
            "fn main() { let mut ts = Vec::new(); for _ in 0..2 { ts.push(thread::spawn(|| X.store(X.load(SeqCst) + 1, SeqCst))); } \
             for t in ts { t.join().unwrap(); } assert_eq!(X.load(SeqCst), 2); }",
        ),
        (
            "detached threads run to their end",
            Violated,
            "fn main() { thread::spawn(|| { assert_eq!(X.load(Relaxed), 0); }); X.store(1, Relaxed); }",
        ),
        (
            "what is written before is seen",
            Holds,
            "fn main() { X.store(1, Relaxed); let t = thread::spawn(|| assert_eq!(X.load(Relaxed), 1)); t.join().unwrap(); \
             X.store(2, Relaxed); thread::spawn(|| assert_eq!(X.load(Relaxed), 2)); }",
        ),
        (
            "clones of an Arc are one object",
            Holds,
            "fn main() { let a = Arc::new(AtomicU32::new(0)); let b = a.clone(); let c = Arc::clone(&a); \
             let t = thread::spawn(move || b.store(7, Release)); t.join().unwrap(); assert_eq!(c.load(Acquire), 7); }",
        ),
        (
            "two objects of one function",
            Holds,
            "fn make() -> Arc<AtomicU32> { Arc::new(AtomicU32::new(0)) } \
             fn main() { let (a, b) = (make(), make()); let c = a.clone(); thread::spawn(move || c.store(1, Relaxed)).join().unwrap(); \
             assert_eq!((a.load(Relaxed), b.load(Relaxed)), (1, 0)); }",
        ),
        (
            "mutexes",
            Holds,
            "fn main() { let m = Mutex::new(0); thread::scope(|s| { for _ in 0..2 { s.spawn(|| { let mut g = m.lock().unwrap(); *g += 1; }); } }); \
             assert_eq!(m.into_inner().unwrap(), 2); }",
        ),
        (
            "a lock that is dropped at once",
            Violated,
            "fn main() { let m = Mutex::new(()); thread::scope(|s| { for _ in 0..2 { s.spawn(|| { let _ = m.lock(); X.store(X.load(SeqCst) + 1, SeqCst); }); } }); \
             assert_eq!(X.load(Relaxed), 2); }",
        ),
        (
            "locks in two orders",
            Violated,
            "static A: Mutex<u32> = Mutex::new(0); static B: Mutex<u32> = Mutex::new(0); \
             fn main() { let t = thread::spawn(|| { let _a = A.lock().unwrap(); let _b = B.lock().unwrap(); }); \
             let _b = B.lock().unwrap(); let _a = A.lock().unwrap(); drop((_a, _b)); t.join().unwrap(); }",
        ),
        (
            "readers and writers",
            Holds,
            "static L: RwLock<(u32, u32)> = RwLock::new((0, 0)); \
             fn main() { thread::scope(|s| { s.spawn(|| { let mut g = L.write().unwrap(); g.0 = 1; g.1 = 1; }); \
             for _ in 0..2 { s.spawn(|| { let g = L.read().unwrap(); assert_eq!(g.0, g.1); }); } }); }",
        ),
        (
            "condition variables",
            Holds,
            "fn main() { let p = Arc::new((Mutex::new(false), Condvar::new())); let q = p.clone(); \
             let t = thread::spawn(move || { let (m, c) = &*q; *m.lock().unwrap() = true; c.notify_one(); }); \
             let (m, c) = &*p; let mut g = m.lock().unwrap(); while !*g { g = c.wait(g).unwrap(); } assert!(*g); drop(g); t.join().unwrap(); }",
        ),
        (
            "a condition variable may wake for no reason",
            Violated,
            "fn main() { let p = Arc::new((Mutex::new(false), Condvar::new())); let q = p.clone(); \
             let t = thread::spawn(move || { let (m, c) = &*q; *m.lock().unwrap() = true; c.notify_one(); }); \
             let (m, c) = &*p; let mut g = m.lock().unwrap(); if !*g { g = c.wait(g).unwrap(); } assert!(*g); drop(g); t.join().unwrap(); }",
        ),
        (
            "a wait with a time limit ends",
            Holds,
            "fn main() { let m = Mutex::new(false); let c = Condvar::new(); let t = std::time::Duration::from_millis(1); \
             let (g, _) = c.wait_timeout(m.lock().unwrap(), t).unwrap(); assert!(!*g); drop(g); let (s, r) = mpsc::channel(); \
             let h = thread::spawn(move || { s.send(1).unwrap(); }); if let Ok(v) = r.recv_timeout(t) { assert_eq!(v, 1); } h.join().unwrap(); }",
        ),
        (
            "a wait with a time limit may end before anything has come",
            Violated,
            "fn main() { let t = std::time::Duration::from_millis(1); let (s, r) = mpsc::channel(); \
             let h = thread::spawn(move || { let _ = s.send(1); }); assert_eq!(r.recv_timeout(t), Ok(1)); h.join().unwrap(); }",
        ),
        (
            "barriers",
            Holds,
            "fn main() { let b = Arc::new(Barrier::new(2)); let c = b.clone(); let t = thread::spawn(move || { X.fetch_add(1, Relaxed); c.wait(); assert_eq!(X.load(Relaxed), 2); }); \
             X.fetch_add(1, Relaxed); b.wait(); assert_eq!(X.load(Relaxed), 2); t.join().unwrap(); }",
        ),
        (
            "once",
            Holds,
            "static O: Once = Once::new(); static V: OnceLock<u32> = OnceLock::new(); \
             fn main() { let ts: Vec<_> = (0..2).map(|i| thread::spawn(move || { O.call_once(|| { X.fetch_add(1, Relaxed); }); assert_eq!(X.load(Relaxed), 1); \
             assert!(*V.get_or_init(|| i + 5) < 7); })).collect(); for t in ts { t.join().unwrap(); } }",
        ),
        (
            "parking",
            Holds,
            "fn main() { let t = thread::spawn(|| { while X.load(Acquire) == 0 { thread::park(); } }); X.store(1, Release); t.thread().unpark(); t.join().unwrap(); }",
        ),
        (
            "parking without waking",
            Violated,
            "fn main() { let t = thread::spawn(|| { while X.load(Acquire) == 0 { thread::park(); } }); X.store(1, Release); t.join().unwrap(); }",
        ),
        (
            "a pointer to a variable of the first thread",
            Holds,
            "#[derive(Clone, Copy)] struct P(*mut u32); unsafe impl Send for P {} \
             fn main() { let mut v = 0; let p = P(&mut v); let t = thread::spawn(move || { let p = p; unsafe { *p.0 = 4 } }); t.join().unwrap(); assert_eq!(v, 4); }",
        ),
        (
            "a function that starts threads",
            Holds,
            "fn start(f: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> { thread::spawn(f) } \
             fn main() { let a = start(|| { X.fetch_add(1, Relaxed); }); let b = start(|| { X.fetch_add(2, Relaxed); }); a.join().unwrap(); b.join().unwrap(); assert_eq!(X.load(Relaxed), 3); }",
        ),
        (
            "one value of each node",
            Holds,
            "struct Node { v: u32, next: *mut Node } static TOP: AtomicPtr<Node> = AtomicPtr::new(std::ptr::null_mut()); \
             fn main() { let t = thread::spawn(|| { for v in 1..3 { let n = Box::into_raw(Box::new(Node { v, next: TOP.load(Relaxed) })); TOP.store(n, Release); } }); \
             t.join().unwrap(); let n = unsafe { &*TOP.load(Acquire) }; assert_eq!(n.v, 2); unsafe { assert_eq!((*n.next).v, 1); assert!((*n.next).next.is_null()); } }",
        ),
    ];
    for (name, expected, text) in cases {
        let text = format!(
            "use std::sync::atomic::{{AtomicPtr, AtomicU32, Ordering::*}};\nuse std::sync::*;\n\
             use std::thread;\nstatic X: AtomicU32 = AtomicU32::new(0);\n{text}\n"
        );
        assert_eq!(verdict(&text, MemoryModel::SC), *expected, "{name}\n{text}");
    }
}

#[test]
fn tests_and_models_are_entries() {
    let test = "use std::sync::Arc; use loom::sync::atomic::AtomicUsize; use loom::thread;\n\
        use std::sync::atomic::Ordering::*;\n#[test]\nfn counts() { loom::model(|| {\n\
        let n = Arc::new(AtomicUsize::new(0)); let m = n.clone();\n\
        let t = thread::spawn(move || { m.fetch_add(1, Relaxed); }); n.fetch_add(1, Relaxed);\n\
        t.join().unwrap(); assert_eq!(n.load(Relaxed), 2); }); }\n";
    assert_eq!(verdict(test, MemoryModel::PSO), Verdict::Holds);
    let wrong = test.replace("m.fetch_add(1, Relaxed);", "m.store(m.load(Relaxed) + 1, Relaxed);");
    assert_eq!(verdict(&wrong, MemoryModel::SC), Verdict::Violated);
}

#[test]
fn what_is_not_read_is_one_error_that_says_so() {
    for (text, message) in [
        ("fn main() { foo(); }", "cannot find function `foo` in this scope"),
        ("fn main() { let x = y; }", "cannot find value `y` in this scope"),
        ("static X: u32 = 1;", "there is no function `main` and no test"),
        ("#[test] fn a() {} #[test] fn b() {}", "there are 2 tests"),
        ("mod other; fn main() {}", "file not found for module `other`"),
        (
            "static X: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);\n\
             fn main() { let x = X.load(std::sync::atomic::Ordering::Relaxed) as f64; assert!(x * 2.0 > 1.0); }",
            "floating-point numbers are not read",
        ),
        (
            "fn main() { let mut n = 0u64; while n < 1000000 { n += 1; } }",
            "the program does more before it starts threads, or is larger, than is read",
        ),
    ] {
        let found = errors(text);
        assert!(found.len() == 1 && found[0].contains(message), "{text}: {found:?}");
    }
}

/// What the compiler rejects is one error of Weir, in the words of the compiler.
#[test]
fn hostile_texts_end_in_errors() {
    let nested = |open: &str, close: &str, n: usize| {
        format!("fn main() {{ let _x = {}1{}; }}", open.repeat(n), close.repeat(n))
    };
    for text in [
        nested("(", "]", 500),
        "struct S { s: S } static X: S = S { s: 1 }; fn main() {}".to_owned(),
        "const A: u32 = B; const B: u32 = A; fn main() { let x = A; }".to_owned(),
        "type A = B; type B = A; fn main() { let x: A = 1; }".to_owned(),
        "use a::b; use b::a; fn main() { a(); }".to_owned(),
        "fn main() { let a = [0u64; 99999999999]; }".to_owned(),
    ] {
        assert!(!errors(&text).is_empty(), "{}", &text[..text.len().min(80)]);
    }
}
