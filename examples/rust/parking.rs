// A lock that lets threads sleep: 0 is free, 1 is held, 2 is held and somebody sleeps. A thread that
// sleeps wakes when the state is not 2 any more, and looks again.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
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
    STATE.swap(0, Release);
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
