// Treiber's stack with a relaxed store of the top in the place of the compare-exchange: two threads
// may push over each other, and a node may be seen before its value.
// expect: sc violated
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::thread;

struct Node {
    value: u32,
    next: *mut Node,
}

static TOP: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn push(value: u32) {
    let next = TOP.load(Relaxed);
    TOP.store(Box::into_raw(Box::new(Node { value, next })), Relaxed);
}

fn main() {
    let a = thread::spawn(|| push(1));
    let b = thread::spawn(|| push(2));
    a.join().unwrap();
    b.join().unwrap();
    let top = unsafe { &*TOP.load(Acquire) };
    assert!(!top.next.is_null());
    assert_ne!(top.value, 0);
}
