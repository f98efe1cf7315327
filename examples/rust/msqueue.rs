// The queue of Michael and Scott: one compare-exchange links a node, another one moves the tail,
// and everybody helps with the second. Nodes are not freed.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

struct Node {
    value: u32,
    next: AtomicPtr<Node>,
}

impl Node {
    fn new(value: u32) -> *mut Node {
        Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(ptr::null_mut()) }))
    }
}

struct Queue {
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
}

impl Queue {
    fn new() -> Self {
        let dummy = Node::new(0);
        Queue { head: AtomicPtr::new(dummy), tail: AtomicPtr::new(dummy) }
    }

    fn push(&self, value: u32) {
        let node = Node::new(value);
        loop {
            let tail = self.tail.load(Acquire);
            let last = unsafe { &(*tail).next };
            let next = last.load(Acquire);
            if !next.is_null() {
                let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
            } else if last.compare_exchange(next, node, Release, Relaxed).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, Release, Relaxed);
                return;
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        loop {
            let head = self.head.load(Acquire);
            let tail = self.tail.load(Acquire);
            let next = unsafe { (*head).next.load(Acquire) };
            if next.is_null() {
                return None;
            }
            if head == tail {
                let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
                continue;
            }
            let value = unsafe { (*next).value };
            if self.head.compare_exchange(head, next, Release, Relaxed).is_ok() {
                return Some(value);
            }
        }
    }
}

fn main() {
    let queue = Queue::new();
    thread::scope(|s| {
        s.spawn(|| {
            queue.push(1);
            queue.push(2);
        });
        s.spawn(|| {
            if let Some(a) = queue.pop() {
                assert_eq!(a, 1);
                if let Some(b) = queue.pop() {
                    assert_eq!(b, 2);
                }
            }
        });
    });
}
