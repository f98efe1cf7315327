// loom, shuttle, kani and weir: their stand-ins.
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering, fence};
use loom::sync::{Arc, Condvar, Mutex, Notify};

loom::lazy_static! {
    static ref MADE: Mutex<u32> = Mutex::new(1);
}
loom::thread_local! {
    static OWN: std::cell::Cell<u32> = std::cell::Cell::new(2);
}

fn main() {
    loom::model(|| {
        let a = Arc::new(AtomicUsize::new(0));
        let cell = Arc::new(UnsafeCell::new(5));
        let (b, other) = (a.clone(), cell.clone());
        let t = loom::thread::spawn(move || {
            other.with_mut(|p| unsafe { *p = 6 });
            fence(Ordering::Release);
            b.store(1, Ordering::Relaxed);
            OWN.with(|o| o.get())
        });
        while a.load(Ordering::Acquire) == 0 {
            loom::thread::yield_now();
        }
        assert_eq!(cell.with(|p| unsafe { *p }), 6);
        assert_eq!(unsafe { cell.get().deref() }, &6);
        assert_eq!(t.join().unwrap(), 2);
        let mut a = Arc::try_unwrap(a).unwrap();
        a.with_mut(|n| *n += 1);
        assert_eq!(unsafe { a.unsync_load() }, 2);
    });
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let notify = Arc::new(Notify::new());
        let n = notify.clone();
        let t = loom::thread::spawn(move || n.notify());
        notify.wait();
        t.join().unwrap();
        *MADE.lock().unwrap() += 1;
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let p = pair.clone();
        let t = loom::thread::spawn(move || {
            *p.0.lock().unwrap() = true;
            p.1.notify_one();
        });
        let mut done = pair.0.lock().unwrap();
        while !*done {
            done = pair.1.wait(done).unwrap();
        }
        drop(done);
        t.join().unwrap();
        assert_eq!(loom::future::block_on(async { 7 }), 7);
    });
    shuttle::check_random(
        || {
            let m = shuttle::sync::Arc::new(shuttle::sync::Mutex::new(0));
            let n = m.clone();
            let t = shuttle::thread::spawn(move || *n.lock().unwrap() += 1);
            *m.lock().unwrap() += 1;
            t.join().unwrap();
            assert_eq!(*m.lock().unwrap(), 2);
            use shuttle::rand::Rng;
            assert!(shuttle::rand::thread_rng().gen_range(0..3u32) < 3);
            let value = shuttle::future::block_on(async { shuttle::future::spawn(async { 3 }).await.unwrap() });
            assert_eq!(value, 3);
        },
        100,
    );
    let n: u8 = weir::any_in(3..=4);
    assert!(n == 3 || n == 4);
    let b: (bool, Option<u16>) = kani::any();
    weir::assume(b.0 || !b.0);
    assert!(kani::any_where(|n: &i8| *n == *n) as i32 <= 127);
    assert_eq!(weir::any_in(u64::MAX..=u64::MAX), u64::MAX);
}
