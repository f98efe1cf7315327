// A lazy initializer: the first thread that finds no value makes one, the others wait for it
// (double-checked locking).
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const READY: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

struct Lazy<T> {
    ready: AtomicBool,
    making: Mutex<()>,
    value: UnsafeCell<Option<T>>,
}

unsafe impl<T: Send + Sync> Sync for Lazy<T> {}

impl<T> Lazy<T> {
    fn new() -> Self {
        Self { ready: AtomicBool::new(false), making: Mutex::new(()), value: UnsafeCell::new(None) }
    }

    fn get_or_init<F: FnOnce() -> T>(&self, make: F) -> &T {
        if !self.ready.load(Acquire) {
            let _making = self.making.lock().unwrap();
            if !self.ready.load(Relaxed) {
                unsafe { *self.value.get() = Some(make()) };
                self.ready.store(true, READY);
            }
        }
        unsafe { (*self.value.get()).as_ref().unwrap() }
    }
}

fn main() {
    let lazy = Arc::new(Lazy::new());
    let made = Arc::new(AtomicU32::new(0));
    let mut threads = Vec::new();
    for _ in 0..2 {
        let (lazy, made) = (lazy.clone(), made.clone());
        threads.push(thread::spawn(move || {
            let value = lazy.get_or_init(|| {
                made.fetch_add(1, Relaxed);
                42u32
            });
            assert_eq!(*value, 42);
        }));
    }
    for t in threads {
        t.join().unwrap();
    }
    assert_eq!(made.load(Relaxed), 1);
}
