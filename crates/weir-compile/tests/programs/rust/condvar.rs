// A queue with room for one, and threads that wait for room and for items.
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Queue {
    items: Mutex<VecDeque<u32>>,
    filled: Condvar,
    emptied: Condvar,
}

fn main() {
    let queue = Arc::new(Queue { items: Mutex::default(), filled: Condvar::new(), emptied: Condvar::default() });
    let producer = {
        let queue = queue.clone();
        thread::spawn(move || {
            for i in 1..=3 {
                let mut items = queue.emptied.wait_while(queue.items.lock().unwrap(), |q| !q.is_empty()).unwrap();
                items.push_back(i);
                queue.filled.notify_one();
            }
        })
    };
    let mut sum = 0;
    for _ in 0..3 {
        let mut items = queue.items.lock().unwrap();
        while items.is_empty() {
            items = queue.filled.wait(items).unwrap();
        }
        sum += items.pop_front().unwrap();
        drop(items);
        queue.emptied.notify_all();
    }
    producer.join().unwrap();
    assert_eq!(sum, 6, "the sum is {sum}");
}
