// A ring buffer with one producer and one consumer.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const PUBLISH: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

struct Ring<T, const N: usize> {
    slots: [UnsafeCell<MaybeUninit<T>>; N],
    head: AtomicUsize,
    tail: AtomicUsize,
}

unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    const fn new() -> Self {
        Self {
            slots: [const { UnsafeCell::new(MaybeUninit::uninit()) }; N],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    fn push(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == N {
            return Err(value);
        }
        unsafe { (*self.slots[tail % N].get()).write(value) };
        self.tail.store(tail + 1, PUBLISH);
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None;
        }
        let value = unsafe { (*self.slots[head % N].get()).assume_init_read() };
        self.head.store(head + 1, Release);
        Some(value)
    }
}

static RING: Ring<u32, 2> = Ring::new();

fn main() {
    let producer = thread::spawn(|| {
        for i in 1..=3 {
            while RING.push(i).is_err() {}
        }
    });
    for i in 1..=3 {
        let value = loop {
            if let Some(value) = RING.pop() {
                break value;
            }
        };
        assert_eq!(value, i);
    }
    producer.join().unwrap();
}
