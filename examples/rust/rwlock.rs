// A lock for many readers or one writer: the word counts readers, and is -1 while a writer is in.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const LEAVE: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

struct SharedLock<T> {
    state: AtomicI32,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send + Sync> Sync for SharedLock<T> {}

impl<T> SharedLock<T> {
    const fn new(value: T) -> Self {
        Self { state: AtomicI32::new(0), value: UnsafeCell::new(value) }
    }

    fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let mut readers = self.state.load(Relaxed);
        loop {
            if readers < 0 {
                readers = self.state.load(Relaxed);
                continue;
            }
            match self.state.compare_exchange_weak(readers, readers + 1, Acquire, Relaxed) {
                Ok(_) => break,
                Err(now) => readers = now,
            }
        }
        let seen = look(unsafe { &*self.value.get() });
        self.state.fetch_sub(1, Release);
        seen
    }

    fn write(&self, change: impl FnOnce(&mut T)) {
        while self.state.compare_exchange_weak(0, -1, Acquire, Relaxed).is_err() {}
        change(unsafe { &mut *self.value.get() });
        self.state.store(0, LEAVE);
    }
}

static PAIR: SharedLock<(u32, u32)> = SharedLock::new((0, 0));

fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            PAIR.write(|pair| {
                pair.0 += 1;
                pair.1 += 1;
            })
        });
        for _ in 0..2 {
            s.spawn(|| PAIR.read(|pair| assert_eq!(pair.0, pair.1)));
        }
    });
}
