// Scopes, results, names, parking, and handles that are dropped.
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let mut numbers = [1, 2, 3, 4];
    let (left, right) = numbers.split_at_mut(2);
    let sum = thread::scope(|s| {
        let a = s.spawn(|| {
            left[0] = 10;
            left.iter().sum::<i32>()
        });
        let b = s.spawn(|| right.iter().sum::<i32>());
        s.spawn(|| {
            s.spawn(|| ());
        });
        a.join().unwrap() + b.join().unwrap()
    });
    assert_eq!(sum, 19);
    assert_eq!(numbers[0], 10);

    let named = thread::Builder::new()
        .name("worker".to_string())
        .spawn(|| thread::current().name() == Some("worker"))
        .unwrap();
    assert_eq!(named.thread().name(), Some("worker"));
    assert!(named.join().unwrap());
    assert_eq!(thread::current().name(), Some("main"));

    let ready = Arc::new(AtomicBool::new(false));
    let seen = ready.clone();
    let waiter = thread::spawn(move || {
        while !seen.load(Ordering::Acquire) {
            thread::park();
        }
        thread::current().id()
    });
    ready.store(true, Ordering::Release);
    waiter.thread().unpark();
    let id = waiter.thread().id();
    assert_eq!(waiter.join().unwrap(), id);
    assert!(id != thread::current().id());

    let text = thread::spawn(|| String::from("abc")).join().unwrap();
    assert_eq!(text, "abc");
    let count = Arc::new(AtomicU32::new(0));
    let other = count.clone();
    drop(thread::spawn(move || {
        other.fetch_add(1, Ordering::Release);
        Box::new(5)
    }));
    while count.load(Ordering::Acquire) == 0 {
        thread::yield_now();
    }
    let list = Mutex::new(vec![1]);
    if let Ok(mut l) = list.try_lock() {
        l.push(2);
    }
    println!("{} {x} {}", list.lock().unwrap().len(), 1, x = 2);
    assert_ne!(list.into_inner().unwrap().len(), 1);
}
