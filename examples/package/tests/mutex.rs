//! Two threads count.

use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn both_count() {
    let count = Arc::new(Mutex::new(0));
    let other = count.clone();
    let thread = thread::spawn(move || *other.lock().unwrap() += 1);
    *count.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*count.lock().unwrap(), 2);
}
