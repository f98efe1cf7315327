// Variables of each thread: each has its own, and they are dropped when it ends, the last one first.
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Counted(usize);
impl Drop for Counted {
    fn drop(&mut self) {
        assert_eq!(DROPPED.fetch_add(1, Ordering::SeqCst), self.0);
    }
}

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(1) };
    pub static NAMES: RefCell<Vec<u32>> = RefCell::new(vec![7]);
    static FIRST: Counted = Counted(1);
    static SECOND: Counted = const { Counted(0) };
}

fn main() {
    COUNT.set(5);
    thread::spawn(|| {
        assert_eq!(COUNT.get(), 1);
        COUNT.with(|c| c.set(c.get() + 1));
        assert_eq!(COUNT.replace(9), 2);
        NAMES.with_borrow_mut(|n| n.push(8));
        assert_eq!(NAMES.take(), [7, 8]);
        FIRST.with(|_| ());
        SECOND.with(|_| ());
        assert!(COUNT.try_with(|c| c.get()).is_ok());
    })
    .join()
    .unwrap();
    assert_eq!(DROPPED.load(Ordering::SeqCst), 2);
    assert_eq!(COUNT.get(), 5);
    NAMES.set(vec![1]);
    NAMES.with_borrow(|n| assert_eq!(n.len(), 1));
}
