// A reference count that is decremented and then read again: both threads may read 0, and the object
// is freed twice, or is read after it was freed.
// expect: sc violated
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::thread;

struct Data {
    count: AtomicUsize,
    value: u32,
}

struct Shared(*mut Data);

unsafe impl Send for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        unsafe {
            (*self.0).count.fetch_sub(1, AcqRel);
            if (*self.0).count.load(Acquire) == 0 {
                drop(Box::from_raw(self.0));
            }
        }
    }
}

fn main() {
    let data = Box::into_raw(Box::new(Data { count: AtomicUsize::new(2), value: 7 }));
    let (mine, yours) = (Shared(data), Shared(data));
    let t = thread::spawn(move || {
        let yours = yours;
        assert_eq!(unsafe { (*yours.0).value }, 7);
    });
    assert_eq!(unsafe { (*mine.0).value }, 7);
    drop(mine);
    t.join().unwrap();
}
