// A bounded queue for many producers and consumers, by Vyukov: each place has a number that says whose turn it is.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const FULL: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

struct Place<T> {
    turn: AtomicUsize,
    item: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Place<T> {
    const fn new() -> Self {
        Place { turn: AtomicUsize::new(0), item: UnsafeCell::new(MaybeUninit::uninit()) }
    }
}

struct Queue<T, const N: usize> {
    places: [Place<T>; N],
    head: AtomicUsize,
    tail: AtomicUsize,
}

unsafe impl<T: Send, const N: usize> Sync for Queue<T, N> {}

impl<T, const N: usize> Queue<T, N> {
    fn new() -> Self {
        let mut places = [const { Place::new() }; N];
        for (i, place) in places.iter_mut().enumerate() {
            *place.turn.get_mut() = i;
        }
        Queue { places, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) }
    }

    fn push(&self, item: T) -> Result<(), T> {
        let mut tail = self.tail.load(Relaxed);
        loop {
            let place = &self.places[tail % N];
            let turn = place.turn.load(Acquire);
            if turn == tail {
                match self.tail.compare_exchange_weak(tail, tail + 1, Relaxed, Relaxed) {
                    Ok(_) => {
                        unsafe { (*place.item.get()).write(item) };
                        place.turn.store(tail + 1, FULL);
                        return Ok(());
                    }
                    Err(now) => tail = now,
                }
            } else if turn < tail {
                return Err(item);
            } else {
                tail = self.tail.load(Relaxed);
            }
        }
    }

    fn pop(&self) -> Option<T> {
        let mut head = self.head.load(Relaxed);
        loop {
            let place = &self.places[head % N];
            let turn = place.turn.load(Acquire);
            if turn == head + 1 {
                match self.head.compare_exchange_weak(head, head + 1, Relaxed, Relaxed) {
                    Ok(_) => {
                        let item = unsafe { (*place.item.get()).assume_init_read() };
                        place.turn.store(head + N, Release);
                        return Some(item);
                    }
                    Err(now) => head = now,
                }
            } else if turn < head + 1 {
                return None;
            } else {
                head = self.head.load(Relaxed);
            }
        }
    }
}

fn main() {
    let queue = Arc::new(Queue::<u32, 2>::new());
    let threads = [1, 2].map(|item| {
        let queue = queue.clone();
        thread::spawn(move || queue.push(item).unwrap())
    });
    let mut sum = queue.pop().unwrap_or(0);
    for t in threads {
        t.join().unwrap();
    }
    while let Some(item) = queue.pop() {
        sum += item;
    }
    assert_eq!(sum, 3);
}
