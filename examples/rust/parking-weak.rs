// The lock that lets threads sleep, freed by a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::thread;

static STATE: AtomicU32 = AtomicU32::new(0);
static mut INSIDE: u32 = 0;

/// What a futex does: returns when the word is not the expected one any more.
fn wait(word: &AtomicU32, expected: u32) {
    while word.load(Relaxed) == expected {
        thread::yield_now();
    }
}

fn lock() {
    if STATE.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
        while STATE.swap(2, Acquire) != 0 {
            wait(&STATE, 2);
        }
    }
}

fn unlock() {
    STATE.store(0, Relaxed);
}

fn work() {
    lock();
    unsafe {
        INSIDE += 1;
        assert!(INSIDE == 1);
        INSIDE -= 1;
    }
    unlock();
}

fn main() {
    thread::scope(|s| {
        s.spawn(work);
        s.spawn(work);
    });
}
