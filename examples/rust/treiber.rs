// Treiber's stack: the top is exchanged if it is still the one that was seen. Nodes are not freed.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

struct Node<T> {
    value: T,
    next: *mut Node<T>,
}

struct Stack<T> {
    top: AtomicPtr<Node<T>>,
}

impl<T: Copy> Stack<T> {
    fn new() -> Self {
        Stack { top: AtomicPtr::new(ptr::null_mut()) }
    }

    fn push(&self, value: T) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        let mut top = self.top.load(Relaxed);
        loop {
            unsafe { (*node).next = top };
            match self.top.compare_exchange_weak(top, node, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    fn pop(&self) -> Option<T> {
        let mut top = self.top.load(Acquire);
        loop {
            let node = unsafe { top.as_ref() }?;
            match self.top.compare_exchange_weak(top, node.next, Acquire, Acquire) {
                Ok(_) => return Some(node.value),
                Err(now) => top = now,
            }
        }
    }
}

fn main() {
    let stack = Arc::new(Stack::new());
    let threads: Vec<_> = (1..3)
        .map(|i| {
            let stack = stack.clone();
            thread::spawn(move || {
                stack.push(i);
                let value = stack.pop().expect("one was pushed for each pop");
                assert!(value == 1 || value == 2);
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    assert!(stack.pop().is_none());
}
