// A barrier that turns its sense: the last thread to arrive lets the others go.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const GO: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

const THREADS: usize = 2;

struct Barrier {
    waiting: AtomicUsize,
    sense: AtomicU32,
}

impl Barrier {
    fn wait(&self, turn: u32) {
        if self.waiting.fetch_add(1, AcqRel) == THREADS - 1 {
            self.waiting.store(0, Relaxed);
            self.sense.store(turn, GO);
        } else {
            while self.sense.load(Acquire) != turn {
                std::hint::spin_loop();
            }
        }
    }
}

fn main() {
    let barrier = Arc::new(Barrier { waiting: AtomicUsize::new(0), sense: AtomicU32::new(0) });
    let written = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let mut threads = vec![];
    for me in 0..THREADS {
        let barrier = barrier.clone();
        let written = written.clone();
        threads.push(thread::spawn(move || {
            written[me].store(1, Relaxed);
            barrier.wait(1);
            assert_eq!(written[1 - me].load(Relaxed), 1);
            barrier.wait(2);
        }));
    }
    for t in threads {
        t.join().unwrap();
    }
}
