// Dekker's lock for two threads, with fences.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize, fence};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, SeqCst};
    pub const ENTER: Ordering = SeqCst;
}
#[allow(unused_imports)]
use order::*;

static WANTS: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
static TURN: AtomicUsize = AtomicUsize::new(0);
static mut INSIDE: u32 = 0;

fn work(me: usize) {
    let other = 1 - me;
    WANTS[me].store(true, Relaxed);
    fence(ENTER);
    while WANTS[other].load(Acquire) {
        if TURN.load(Relaxed) != me {
            WANTS[me].store(false, Relaxed);
            while TURN.load(Relaxed) != me {
                thread::yield_now();
            }
            WANTS[me].store(true, Relaxed);
            fence(ENTER);
        }
    }
    unsafe {
        INSIDE += 1;
        assert!(INSIDE == 1);
        INSIDE -= 1;
    }
    TURN.store(other, Release);
    WANTS[me].store(false, Release);
}

fn main() {
    let threads: Vec<_> = (0..2).map(|me| thread::spawn(move || work(me))).collect();
    for t in threads {
        t.join().unwrap();
    }
}
