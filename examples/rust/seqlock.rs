// A sequence lock: a reader takes the two values again if a writer was there.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize, fence};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const BEGIN: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

#[derive(Default)]
struct SeqLock {
    sequence: AtomicUsize,
    left: AtomicU32,
    right: AtomicU32,
}

impl SeqLock {
    fn write(&self, value: u32) {
        let s = self.sequence.load(Relaxed);
        self.sequence.store(s + 1, Relaxed);
        if BEGIN != Relaxed {
            fence(BEGIN);
        }
        self.left.store(value, Relaxed);
        self.right.store(value, Relaxed);
        self.sequence.store(s + 2, Release);
    }

    fn read(&self) -> (u32, u32) {
        loop {
            let before = self.sequence.load(Acquire);
            let (left, right) = (self.left.load(Relaxed), self.right.load(Relaxed));
            fence(Acquire);
            let after = self.sequence.load(Relaxed);
            if before == after && before % 2 == 0 {
                return (left, right);
            }
        }
    }
}

fn main() {
    let lock = SeqLock::default();
    thread::scope(|s| {
        s.spawn(|| lock.write(1));
        s.spawn(|| {
            let (left, right) = lock.read();
            assert_eq!(left, right);
        });
    });
}
