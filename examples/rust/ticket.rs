// A ticket lock: threads enter in the order in which they take tickets.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const UNLOCK: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

struct TicketLock {
    next: AtomicUsize,
    serving: AtomicUsize,
    owner: UnsafeCell<usize>,
}

unsafe impl Sync for TicketLock {}

impl TicketLock {
    fn new() -> Self {
        Self { next: AtomicUsize::new(0), serving: AtomicUsize::new(0), owner: UnsafeCell::new(0) }
    }

    fn with<R>(&self, inside: impl FnOnce(&mut usize) -> R) -> R {
        let ticket = self.next.fetch_add(1, Relaxed);
        while self.serving.load(Acquire) != ticket {
            std::hint::spin_loop();
        }
        let result = inside(unsafe { &mut *self.owner.get() });
        self.serving.store(ticket.wrapping_add(1), UNLOCK);
        result
    }
}

fn main() {
    let lock = Arc::new(TicketLock::new());
    let threads: Vec<_> = (1..=2)
        .map(|me| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                lock.with(|owner| {
                    *owner = me;
                    assert_eq!(*owner, me);
                });
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    assert_eq!(lock.serving.load(Relaxed), 2);
}
