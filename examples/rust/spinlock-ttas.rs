// A test-and-test-and-set lock: threads wait by reading, and swap when the lock looks free.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const UNLOCK: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

static HELD: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicU32 = AtomicU32::new(0);

fn lock() {
    loop {
        while HELD.load(Relaxed) {
            thread::yield_now();
        }
        if !HELD.swap(true, Acquire) {
            return;
        }
    }
}

fn unlock() {
    HELD.store(false, UNLOCK);
}

fn work() {
    lock();
    let inside = INSIDE.load(Relaxed);
    INSIDE.store(inside + 1, Relaxed);
    assert_eq!(INSIDE.load(Relaxed), 1);
    INSIDE.store(inside, Relaxed);
    unlock();
}

fn main() {
    let threads = [thread::spawn(work), thread::spawn(work)];
    for t in threads {
        t.join().unwrap();
    }
}
