// The queue lock of Mellor-Crummey and Scott: each thread waits at a node of its own.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const HAND_OVER: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

struct Node {
    next: AtomicPtr<Node>,
    waits: AtomicBool,
}

struct Lock {
    tail: AtomicPtr<Node>,
    count: UnsafeCell<u32>,
}

unsafe impl Sync for Lock {}

static LOCK: Lock = Lock { tail: AtomicPtr::new(ptr::null_mut()), count: UnsafeCell::new(0) };

impl Lock {
    fn lock(&self, node: *mut Node) {
        let before = self.tail.swap(node, AcqRel);
        if before.is_null() {
            return;
        }
        unsafe {
            (*before).next.store(node, Release);
            while (*node).waits.load(Acquire) {}
        }
    }

    fn unlock(&self, node: *mut Node) {
        unsafe {
            let mut next = (*node).next.load(Acquire);
            if next.is_null() {
                let none = ptr::null_mut();
                if self.tail.compare_exchange(node, none, Release, Relaxed).is_ok() {
                    return;
                }
                while next.is_null() {
                    next = (*node).next.load(Acquire);
                }
            }
            (*next).waits.store(false, HAND_OVER);
        }
    }
}

fn work() {
    let mut node = Node { next: AtomicPtr::new(ptr::null_mut()), waits: AtomicBool::new(true) };
    let node = &mut node as *mut Node;
    LOCK.lock(node);
    unsafe { *LOCK.count.get() += 1 };
    LOCK.unlock(node);
}

fn main() {
    let (a, b) = (thread::spawn(work), thread::spawn(work));
    a.join().unwrap();
    b.join().unwrap();
    assert_eq!(unsafe { *LOCK.count.get() }, 2);
}
