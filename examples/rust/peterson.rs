// Peterson's lock for two threads, with sequentially consistent accesses.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::atomic::Ordering::{Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, SeqCst};
    pub const ENTER: Ordering = SeqCst;
}
#[allow(unused_imports)]
use order::*;

static FLAG: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
static TURN: AtomicUsize = AtomicUsize::new(0);
static mut INSIDE: u32 = 0;

fn work(me: usize) {
    let other = 1 - me;
    FLAG[me].store(true, ENTER);
    TURN.store(other, ENTER);
    while FLAG[other].load(SeqCst) && TURN.load(SeqCst) == other {}
    unsafe {
        INSIDE += 1;
        assert!(INSIDE == 1);
        INSIDE -= 1;
    }
    FLAG[me].store(false, Release);
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| work(0));
        s.spawn(|| work(1));
    });
}
