// Channels with and without a limit, and without room; senders and receivers that go.
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::thread;
use std::time::Duration;

fn main() {
    let (tx, rx) = mpsc::channel();
    let senders: Vec<_> = (0..2)
        .map(|i| {
            let tx = tx.clone();
            thread::spawn(move || tx.send(i).unwrap())
        })
        .collect();
    drop(tx);
    let mut got: Vec<i32> = rx.iter().collect();
    got.sort();
    assert_eq!(got, [0, 1]);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    for s in senders {
        s.join().unwrap();
    }

    let (tx, rx) = mpsc::sync_channel::<Box<u32>>(1);
    assert!(tx.try_send(Box::new(1)).is_ok());
    assert!(matches!(tx.try_send(Box::new(2)), Err(TrySendError::Full(_))));
    let sender = thread::spawn(move || {
        tx.send(Box::new(2)).unwrap();
        tx.send(Box::new(3)).unwrap();
    });
    assert_eq!((*rx.recv().unwrap(), *rx.recv().unwrap(), *rx.recv().unwrap()), (1, 2, 3));
    sender.join().unwrap();
    assert!(rx.recv().is_err());

    let (tx, rx) = mpsc::sync_channel(0);
    assert!(matches!(tx.try_send(5), Err(TrySendError::Full(5))));
    let sender = thread::spawn(move || {
        tx.send(1).unwrap();
        tx.send(2).is_err()
    });
    assert_eq!(rx.recv(), Ok(1));
    drop(rx);
    assert!(sender.join().unwrap());

    let (tx, rx) = mpsc::channel::<u8>();
    assert!(matches!(rx.try_recv(), Err(TryRecvError::Empty)));
    drop(rx);
    assert!(tx.send(1).is_err());
    let (tx, rx) = mpsc::channel::<u8>();
    drop(tx);
    assert_eq!(rx.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Disconnected));
}
