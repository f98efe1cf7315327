// RwLock, Once, OnceLock, LazyLock and Barrier.
use std::sync::{Arc, Barrier, LazyLock, Mutex, Once, OnceLock, RwLock, TryLockError};
use std::thread;

static ONCE: Once = Once::new();
static CELL: OnceLock<u32> = OnceLock::new();
static LAZY: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![1]));

fn main() {
    let lock = Arc::new(RwLock::new((0, 0)));
    let barrier = Arc::new(Barrier::new(2));
    let threads: Vec<_> = (0..2)
        .map(|i| {
            let (lock, barrier) = (lock.clone(), barrier.clone());
            thread::spawn(move || {
                let mut w = lock.write().unwrap();
                w.0 += 1;
                w.1 += 1;
                drop(w);
                let r = lock.read().unwrap();
                assert_eq!(r.0, r.1);
                drop(r);
                ONCE.call_once(|| LAZY.lock().unwrap().push(2));
                assert!(ONCE.is_completed());
                let leader = barrier.wait().is_leader();
                assert_eq!(LAZY.lock().unwrap().len(), 2);
                assert!(*CELL.get_or_init(|| i) < 2);
                leader
            })
        })
        .collect();
    let leaders = threads.into_iter().map(|t| t.join().unwrap()).filter(|&l| l).count();
    assert_eq!(leaders, 1);
    let first = lock.read().unwrap();
    let second = lock.try_read().unwrap();
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    drop((first, second));
    let mut w = lock.try_write().unwrap();
    assert!(lock.try_read().is_err());
    *w = (7, 7);
    drop(w);
    let lock = Arc::into_inner(lock).unwrap();
    assert_eq!(lock.into_inner().unwrap(), (7, 7));
    let mut cell = OnceLock::from(3);
    assert_eq!(cell.set(4), Err(4));
    assert_eq!(cell.take(), Some(3));
    assert_eq!(cell.into_inner(), None);
}
