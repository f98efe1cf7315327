// A reference count: who drops the last reference frees the object.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::fence;
use std::thread;

struct Data<T> {
    count: AtomicUsize,
    value: T,
}

struct Shared<T> {
    data: NonNull<Data<T>>,
}

unsafe impl<T: Send + Sync> Send for Shared<T> {}

impl<T> Shared<T> {
    fn new(value: T) -> Self {
        let data = Box::new(Data { count: AtomicUsize::new(1), value });
        Shared { data: NonNull::from(Box::leak(data)) }
    }

    fn count(&self) -> &AtomicUsize {
        unsafe { &self.data.as_ref().count }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        self.count().fetch_add(1, Relaxed);
        Shared { data: self.data }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { &self.data.as_ref().value }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.count().fetch_sub(1, Release) == 1 {
            fence(Acquire);
            unsafe { drop(Box::from_raw(self.data.as_ptr())) };
        }
    }
}

fn main() {
    let mine = Shared::new(7);
    let yours = mine.clone();
    let t = thread::spawn(move || {
        assert_eq!(*yours, 7);
    });
    assert_eq!(*mine, 7);
    drop(mine);
    t.join().unwrap();
}
