// The queue lock of Craig, Landin and Hagersten: each thread waits at the node of the thread before
// it.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const HAND_OVER: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

struct Node {
    locked: AtomicBool,
}

struct Lock {
    tail: AtomicPtr<Node>,
}

impl Lock {
    fn new() -> Self {
        let free = Box::new(Node { locked: AtomicBool::new(false) });
        Self { tail: AtomicPtr::new(Box::into_raw(free)) }
    }

    fn lock(&self) -> *mut Node {
        let node = Box::into_raw(Box::new(Node { locked: AtomicBool::new(true) }));
        let before = self.tail.swap(node, AcqRel);
        unsafe {
            while (*before).locked.load(Acquire) {
                std::hint::spin_loop();
            }
            // Nobody else looks at it any more.
            drop(Box::from_raw(before));
        }
        node
    }

    fn unlock(&self, node: *mut Node) {
        unsafe { (*node).locked.store(false, HAND_OVER) };
    }
}

static mut COUNT: u32 = 0;

fn main() {
    let lock = Lock::new();
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let node = lock.lock();
                unsafe { COUNT += 1 };
                lock.unlock(node);
            });
        }
    });
    assert_eq!(unsafe { COUNT }, 2);
    assert!(!lock.tail.load(Relaxed).is_null());
}
