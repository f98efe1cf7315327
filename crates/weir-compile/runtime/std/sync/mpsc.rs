//! `std::sync::mpsc`: a list of messages under a lock, and two words for which threads wait.
//!
//! * `ready` is the number of messages, or a large number when all senders are gone. The receiver
//!   waits until it is not 0. There is one receiver, so a message that it has seen stays.
//! * `taken` counts the messages that have been received, and changes when the receiver goes. A
//!   sender waits for it when the channel is full.
//!
//! A channel without room (`sync_channel(0)`) holds one message that is being handed over: its
//! sender waits until `taken` changes. `try_send` succeeds there only if the receiver waits.
//!
//! A receiver with a time limit gives up at any moment at which there is no message.

pub use real::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::sys;
use crate::time::Instant;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use real::boxed::Box;
use real::sync::Arc;
use real::time::Duration;

/// What `ready` is when no more messages come.
const CLOSED: u32 = 1 << 31;

struct Node<T> {
    message: T,
    next: *mut Node<T>,
}

/// What is under the lock.
struct State<T> {
    first: *mut Node<T>,
    last: *mut Node<T>,
    length: usize,
    senders: usize,
    receiver: bool,
    /// Whether the receiver waits, which only `try_send` without room asks.
    waits: bool,
}

struct Channel<T> {
    lock: UnsafeCell<u32>,
    ready: AtomicU32,
    taken: AtomicU32,
    /// Without a limit: `usize::MAX`.
    room: usize,
    state: UnsafeCell<State<T>>,
}

unsafe impl<T: Send> Send for Channel<T> {}
unsafe impl<T: Send> Sync for Channel<T> {}

impl<T> Channel<T> {
    #[inline]
    fn new(room: usize) -> Arc<Channel<T>> {
        let state = State {
            first: ptr::null_mut(),
            last: ptr::null_mut(),
            length: 0,
            senders: 1,
            receiver: true,
            waits: false,
        };
        Arc::new(Channel {
            lock: UnsafeCell::new(0),
            ready: AtomicU32::new(0),
            taken: AtomicU32::new(0),
            room,
            state: UnsafeCell::new(state),
        })
    }

    /// Calls `f` with the lock held.
    #[inline]
    fn locked<R>(&self, f: impl FnOnce(&mut State<T>) -> R) -> R {
        unsafe {
            sys::weir_lock(self.lock.get());
            let value = f(&mut *self.state.get());
            sys::weir_unlock(self.lock.get());
            value
        }
    }

    /// Puts a message at the end. The lock is held.
    #[inline]
    fn put(&self, state: &mut State<T>, message: T) {
        let node = Box::into_raw(Box::new(Node { message, next: ptr::null_mut() }));
        if state.first.is_null() {
            state.first = node;
        } else {
            unsafe { (*state.last).next = node };
        }
        state.last = node;
        state.length += 1;
        self.ready.store(state.length as u32, Ordering::Release);
    }

    /// Takes the first message. The lock is held.
    #[inline]
    fn take(&self, state: &mut State<T>) -> Option<T> {
        if state.first.is_null() {
            return None;
        }
        let Node { message, next } = unsafe { *Box::from_raw(state.first) };
        state.first = next;
        state.length -= 1;
        let closed = state.length == 0 && state.senders == 0;
        self.ready.store(if closed { CLOSED } else { state.length as u32 }, Ordering::Release);
        if self.room != usize::MAX {
            self.taken.store(self.taken.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        }
        Some(message)
    }

    fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut message = Some(message);
        loop {
            // What `taken` was when the message could not be put, or, without room, when it was
            // put.
            let wait = self.locked(|state| {
                if !state.receiver {
                    return None;
                }
                let taken = self.taken.load(Ordering::Relaxed);
                if state.length < self.room.max(1) {
                    self.put(state, unsafe { message.take().unwrap_unchecked() });
                    if self.room != 0 {
                        return None;
                    }
                }
                Some(taken)
            });
            match wait {
                None => break,
                Some(taken) => {
                    unsafe { sys::weir_wait_ne(self.taken.as_ptr(), taken) };
                    if message.is_none() {
                        // It was handed over, or the receiver is gone and has left it.
                        message = self
                            .locked(|state| if state.receiver { None } else { self.take(state) });
                        break;
                    }
                }
            }
        }
        match message {
            None => Ok(()),
            Some(message) => Err(SendError(message)),
        }
    }

    fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.locked(|state| {
            if !state.receiver {
                return Err(TrySendError::Disconnected(message));
            }
            let full = if self.room == 0 {
                !state.waits || state.length != 0
            } else {
                state.length >= self.room
            };
            if full {
                return Err(TrySendError::Full(message));
            }
            self.put(state, message);
            Ok(())
        })
    }

    fn recv(&self) -> Result<T, RecvError> {
        if self.room == 0 {
            self.locked(|state| state.waits = true);
        }
        unsafe { sys::weir_wait_ne(self.ready.as_ptr(), 0) };
        self.locked(|state| {
            state.waits = false;
            self.take(state).ok_or(RecvError)
        })
    }

    fn try_recv(&self) -> Result<T, TryRecvError> {
        self.locked(|state| match self.take(state) {
            Some(message) => Ok(message),
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        })
    }

    fn recv_timeout(&self) -> Result<T, RecvTimeoutError> {
        // Any time may pass before it looks, so it never waits for ever.
        if self.room == 0 {
            self.locked(|state| state.waits = true);
        }
        self.locked(|state| {
            state.waits = false;
            match self.take(state) {
                Some(message) => Ok(message),
                None if state.senders == 0 => Err(RecvTimeoutError::Disconnected),
                None => Err(RecvTimeoutError::Timeout),
            }
        })
    }

    #[inline]
    fn add_sender(&self) {
        self.locked(|state| state.senders += 1);
    }

    #[inline]
    fn remove_sender(&self) {
        self.locked(|state| {
            state.senders -= 1;
            if state.senders == 0 && state.length == 0 {
                self.ready.store(CLOSED, Ordering::Release);
            }
        });
    }

    /// The receiver is gone. Messages are dropped; without room, the one that is there goes back to
    /// its sender, who waits, unless it was sent without waiting.
    fn remove_receiver(&self) {
        let mut left = ptr::null_mut();
        self.locked(|state| {
            state.receiver = false;
            if self.room != 0 {
                left = state.first;
                state.first = ptr::null_mut();
                state.length = 0;
            }
            self.taken.store(self.taken.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        });
        drop_messages(left);
    }
}

fn drop_messages<T>(mut first: *mut Node<T>) {
    while !first.is_null() {
        let Node { message, next } = unsafe { *Box::from_raw(first) };
        drop(message);
        first = next;
    }
}

impl<T> Drop for Channel<T> {
    fn drop(&mut self) {
        drop_messages(self.state.get_mut().first);
    }
}

/// Who sends without waiting.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

/// Who sends and waits while the channel is full.
pub struct SyncSender<T> {
    channel: Arc<Channel<T>>,
}

/// Who receives.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// It can be sent to another thread, but not shared.
    not_sync: PhantomData<*const ()>,
}

unsafe impl<T: Send> Send for Sender<T> {}
unsafe impl<T: Send> Sync for Sender<T> {}
unsafe impl<T: Send> Send for SyncSender<T> {}
unsafe impl<T: Send> Send for Receiver<T> {}
impl<T> core::panic::UnwindSafe for Sender<T> {}
impl<T> core::panic::RefUnwindSafe for Sender<T> {}
impl<T> core::panic::UnwindSafe for Receiver<T> {}
impl<T> core::panic::RefUnwindSafe for Receiver<T> {}

/// A channel without a limit.
#[inline]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Channel::new(usize::MAX);
    (Sender { channel: channel.clone() }, Receiver { channel, not_sync: PhantomData })
}

/// A channel with room for `bound` messages.
#[inline]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Channel::new(bound);
    (SyncSender { channel: channel.clone() }, Receiver { channel, not_sync: PhantomData })
}

impl<T> Sender<T> {
    /// Sends a message. It comes back if the receiver is gone.
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.channel.send(message)
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, and waits for room.
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.channel.send(message)
    }

    /// Does not wait.
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(message)
    }
}

impl<T> Receiver<T> {
    /// Waits for a message. There is none if all senders are gone.
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.recv()
    }

    /// Does not wait.
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.try_recv()
    }

    /// Waits for a message, or until the time is over, which it may be at any moment.
    #[inline]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let _ = timeout;
        self.channel.recv_timeout()
    }

    /// The same.
    #[inline]
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        let _ = deadline;
        self.channel.recv_timeout()
    }

    /// All messages until all senders are gone.
    #[inline]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rx: self }
    }

    /// The messages that are there.
    #[inline]
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { rx: self }
    }
}

impl<T> Clone for Sender<T> {
    #[inline]
    fn clone(&self) -> Sender<T> {
        self.channel.add_sender();
        Sender { channel: self.channel.clone() }
    }
}
impl<T> Clone for SyncSender<T> {
    #[inline]
    fn clone(&self) -> SyncSender<T> {
        self.channel.add_sender();
        SyncSender { channel: self.channel.clone() }
    }
}
impl<T> Drop for Sender<T> {
    #[inline]
    fn drop(&mut self) {
        self.channel.remove_sender();
    }
}
impl<T> Drop for SyncSender<T> {
    #[inline]
    fn drop(&mut self) {
        self.channel.remove_sender();
    }
}
impl<T> Drop for Receiver<T> {
    #[inline]
    fn drop(&mut self) {
        self.channel.remove_receiver();
    }
}
impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}
impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// All messages until all senders are gone.
#[derive(Debug)]
pub struct Iter<'a, T: 'a> {
    rx: &'a Receiver<T>,
}
/// The messages that are there.
#[derive(Debug)]
pub struct TryIter<'a, T: 'a> {
    rx: &'a Receiver<T>,
}
/// All messages until all senders are gone.
#[derive(Debug)]
pub struct IntoIter<T> {
    rx: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        self.rx.recv().ok()
    }
}
impl<T> Iterator for TryIter<'_, T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        self.rx.try_recv().ok()
    }
}
impl<T> Iterator for IntoIter<T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        self.rx.recv().ok()
    }
}
impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    #[inline]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}
impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    #[inline]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter { rx: self }
    }
}
