// A linked queue for one producer and one consumer whose producer links a node with a relaxed store:
// the node may be seen before its value.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::thread;

struct Node {
    value: Cell<u32>,
    next: AtomicPtr<Node>,
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node {
        value: Cell::new(value),
        next: AtomicPtr::new(ptr::null_mut()),
    }))
}

static HEAD: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn main() {
    HEAD.store(node(0), Relaxed);
    let producer = thread::spawn(|| {
        let mut tail = HEAD.load(Relaxed);
        for i in 1..=2 {
            let new = node(i);
            unsafe { (*tail).next.store(new, Relaxed) };
            tail = new;
        }
    });
    let mut head = HEAD.load(Relaxed);
    for i in 1..=2 {
        let next = unsafe { (*head).next.load(Acquire) };
        if next.is_null() {
            break;
        }
        head = next;
        assert_eq!(unsafe { (*head).value.get() }, i);
    }
    producer.join().unwrap();
}
