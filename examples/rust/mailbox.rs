// A mailbox: one thread writes a message and then a flag, another one waits for the flag and reads
// the message. Both use the flag without any order.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread;

static MESSAGE: AtomicU32 = AtomicU32::new(0);
static FULL: AtomicBool = AtomicBool::new(false);

fn send() {
    MESSAGE.store(42, Relaxed);
    FULL.store(true, Relaxed);
}

fn receive() {
    while !FULL.load(Relaxed) {
        thread::yield_now();
    }
    assert_eq!(MESSAGE.load(Relaxed), 42);
}

fn main() {
    thread::scope(|s| {
        s.spawn(send);
        s.spawn(receive);
    });
}
