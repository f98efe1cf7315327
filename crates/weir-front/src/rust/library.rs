// What the standard library does, as far as it is written here. It is read together with every
// program; accesses in it count as accesses of the line that calls it.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, AtomicU32, Ordering};
use std::sync::atomic::Ordering::*;

enum Option<T> {
    None,
    Some(T),
}

use Option::*;

impl<T> Option<T> {
    fn is_some_and<F>(self, f: F) -> bool {
        match self {
            Some(value) => f(value),
            None => false,
        }
    }
    fn is_none_or<F>(self, f: F) -> bool {
        match self {
            Some(value) => f(value),
            None => true,
        }
    }
    fn unwrap_or(self, other: T) -> T {
        match self {
            Some(value) => value,
            None => other,
        }
    }
    fn unwrap_or_else<F>(self, f: F) -> T {
        match self {
            Some(value) => value,
            None => f(),
        }
    }
    fn map<U, F>(self, f: F) -> Option<U> {
        match self {
            Some(value) => Some(f(value)),
            None => None,
        }
    }
    fn map_or<U, F>(self, other: U, f: F) -> U {
        match self {
            Some(value) => f(value),
            None => other,
        }
    }
    fn and_then<U, F>(self, f: F) -> Option<U> {
        match self {
            Some(value) => f(value),
            None => None,
        }
    }
    fn or(self, other: Option<T>) -> Option<T> {
        match self {
            Some(value) => Some(value),
            None => other,
        }
    }
    fn filter<F>(self, f: F) -> Option<T> {
        match self {
            Some(value) => {
                if f(&value) { Some(value) } else { None }
            }
            None => None,
        }
    }
    fn ok_or<E>(self, error: E) -> Result<T, E> {
        match self {
            Some(value) => Ok(value),
            None => Err(error),
        }
    }
    fn take(&mut self) -> Option<T> {
        let value = weir_read(self);
        weir_write(self, None);
        value
    }
    fn replace(&mut self, new: T) -> Option<T> {
        let value = weir_read(self);
        weir_write(self, Some(new));
        value
    }
    fn insert(&mut self, new: T) -> &mut T {
        weir_write(self, Some(new));
        match self {
            Some(value) => value,
            None => unreachable!(),
        }
    }
    fn as_ref(&self) -> Option<&T> {
        match self {
            Some(value) => Some(value),
            None => None,
        }
    }
    fn as_mut(&mut self) -> Option<&mut T> {
        match self {
            Some(value) => Some(value),
            None => None,
        }
    }
    fn as_deref(&self) -> Option<&T> {
        match self {
            Some(value) => Some(&**value),
            None => None,
        }
    }
    fn copied<U>(self) -> Option<U> {
        match self {
            Some(value) => Some(*value),
            None => None,
        }
    }
    fn cloned<U>(self) -> Option<U> {
        match self {
            Some(value) => Some(value.clone()),
            None => None,
        }
    }
}

enum Result<T, E> {
    Ok(T),
    Err(E),
}

use Result::*;

impl<T, E> Result<T, E> {
    fn ok(self) -> Option<T> {
        match self {
            Ok(value) => Some(value),
            Err(_) => None,
        }
    }
    fn err(self) -> Option<E> {
        match self {
            Ok(_) => None,
            Err(error) => Some(error),
        }
    }
    fn is_ok_and<F>(self, f: F) -> bool {
        match self {
            Ok(value) => f(value),
            Err(_) => false,
        }
    }
    fn is_err_and<F>(self, f: F) -> bool {
        match self {
            Ok(_) => false,
            Err(error) => f(error),
        }
    }
    fn unwrap_or(self, other: T) -> T {
        match self {
            Ok(value) => value,
            Err(_) => other,
        }
    }
    fn unwrap_or_else<F>(self, f: F) -> T {
        match self {
            Ok(value) => value,
            Err(error) => f(error),
        }
    }
    fn map<U, F>(self, f: F) -> Result<U, E> {
        match self {
            Ok(value) => Ok(f(value)),
            Err(error) => Err(error),
        }
    }
    fn map_err<U, F>(self, f: F) -> Result<T, U> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(f(error)),
        }
    }
    fn and_then<U, F>(self, f: F) -> Result<U, E> {
        match self {
            Ok(value) => f(value),
            Err(error) => Err(error),
        }
    }
}

struct PoisonError;

impl PoisonError {
    fn into_inner(self) -> bool {
        false
    }
}

struct Mutex<T> {
    locked: AtomicBool,
    data: UnsafeCell<T>,
}

struct MutexGuard<T> {
    lock: &Mutex<T>,
}

impl<T> Mutex<T> {
    fn new(value: T) -> Mutex<T> {
        Mutex { locked: AtomicBool::new(false), data: UnsafeCell::new(value) }
    }
    fn default() -> Mutex<T> {
        Mutex { locked: AtomicBool::new(false), data: UnsafeCell::new(Default::default()) }
    }
    fn lock(&self) -> Result<MutexGuard<T>, PoisonError> {
        weir_wait_for(&self.locked, false, true);
        Ok(MutexGuard { lock: self })
    }
    fn try_lock(&self) -> Result<MutexGuard<T>, PoisonError> {
        if self.locked.swap(true, Acquire) {
            Err(PoisonError)
        } else {
            Ok(MutexGuard { lock: self })
        }
    }
    fn get_mut(&mut self) -> Result<&mut T, PoisonError> {
        Ok(&mut *self.data.get())
    }
    fn into_inner(self) -> Result<T, PoisonError> {
        Ok(self.data.into_inner())
    }
    fn is_poisoned(&self) -> bool {
        false
    }
}

impl<T> Deref for MutexGuard<T> {
    fn deref(&self) -> &T {
        &*self.lock.data.get()
    }
}

impl<T> Drop for MutexGuard<T> {
    fn drop(&mut self) {
        self.lock.locked.store(false, Release);
    }
}

// 0 is free, -1 is written, and every reader counts 1.
struct RwLock<T> {
    state: AtomicI32,
    data: UnsafeCell<T>,
}

use std::sync::atomic::AtomicI32;

struct RwLockReadGuard<T> {
    lock: &RwLock<T>,
}

struct RwLockWriteGuard<T> {
    lock: &RwLock<T>,
}

impl<T> RwLock<T> {
    fn new(value: T) -> RwLock<T> {
        RwLock { state: AtomicI32::new(0), data: UnsafeCell::new(value) }
    }
    fn read(&self) -> Result<RwLockReadGuard<T>, PoisonError> {
        weir_wait_to_read(&self.state);
        Ok(RwLockReadGuard { lock: self })
    }
    fn write(&self) -> Result<RwLockWriteGuard<T>, PoisonError> {
        weir_wait_for(&self.state, 0, -1);
        Ok(RwLockWriteGuard { lock: self })
    }
    fn try_write(&self) -> Result<RwLockWriteGuard<T>, PoisonError> {
        if self.state.compare_exchange(0, -1, Acquire, Relaxed).is_ok() {
            Ok(RwLockWriteGuard { lock: self })
        } else {
            Err(PoisonError)
        }
    }
    fn get_mut(&mut self) -> Result<&mut T, PoisonError> {
        Ok(&mut *self.data.get())
    }
    fn into_inner(self) -> Result<T, PoisonError> {
        Ok(self.data.into_inner())
    }
}

impl<T> Deref for RwLockReadGuard<T> {
    fn deref(&self) -> &T {
        &*self.lock.data.get()
    }
}

impl<T> Deref for RwLockWriteGuard<T> {
    fn deref(&self) -> &T {
        &*self.lock.data.get()
    }
}

impl<T> Drop for RwLockReadGuard<T> {
    fn drop(&mut self) {
        self.lock.state.fetch_sub(1, Release);
    }
}

impl<T> Drop for RwLockWriteGuard<T> {
    fn drop(&mut self) {
        self.lock.state.store(0, Release);
    }
}

// Who waits may wake at any time, and locks again.
struct Condvar;

impl Condvar {
    fn new() -> Condvar {
        Condvar
    }
    fn wait<T>(&self, guard: MutexGuard<T>) -> Result<MutexGuard<T>, PoisonError> {
        let lock = guard.lock;
        drop(guard);
        lock.lock()
    }
    fn wait_while<T, F>(&self, guard: MutexGuard<T>, f: F) -> Result<MutexGuard<T>, PoisonError> {
        let mut guard = guard;
        while f(&mut *guard) {
            guard = self.wait(guard).unwrap();
        }
        Ok(guard)
    }
    fn notify_one(&self) {}
    fn notify_all(&self) {}
}

struct Barrier {
    size: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

struct BarrierWaitResult {
    leader: bool,
}

impl BarrierWaitResult {
    fn is_leader(&self) -> bool {
        self.leader
    }
}

impl Barrier {
    fn new(size: usize) -> Barrier {
        Barrier { size, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) }
    }
    fn wait(&self) -> BarrierWaitResult {
        let round = self.round.load(Relaxed);
        if self.arrived.fetch_add(1, AcqRel) + 1 == self.size {
            self.arrived.store(0, Relaxed);
            self.round.store(round + 1, Release);
            BarrierWaitResult { leader: true }
        } else {
            while self.round.load(Acquire) == round {}
            BarrierWaitResult { leader: false }
        }
    }
}

// 0: not begun, 1: somebody is in it, 2: done.
struct Once {
    state: AtomicU32,
}

impl Once {
    fn new() -> Once {
        Once { state: AtomicU32::new(0) }
    }
    fn call_once<F>(&self, f: F) {
        if self.state.load(Acquire) == 2 {
            return;
        }
        if self.state.compare_exchange(0, 1, Acquire, Acquire).is_ok() {
            f();
            self.state.store(2, Release);
        } else {
            while self.state.load(Acquire) != 2 {}
        }
    }
    fn is_completed(&self) -> bool {
        self.state.load(Acquire) == 2
    }
}

struct OnceLock<T> {
    once: Once,
    value: UnsafeCell<T>,
}

impl<T> OnceLock<T> {
    fn new() -> OnceLock<T> {
        OnceLock { once: Once::new(), value: weir_uninit() }
    }
    fn get(&self) -> Option<&T> {
        if self.once.is_completed() { Some(&*self.value.get()) } else { None }
    }
    fn get_or_init<F>(&self, f: F) -> &T {
        self.once.call_once(|| *self.value.get() = f());
        &*self.value.get()
    }
    fn set(&self, value: T) -> Result<(), T> {
        if self.once.state.compare_exchange(0, 1, Acquire, Acquire).is_ok() {
            *self.value.get() = value;
            self.once.state.store(2, Release);
            Ok(())
        } else {
            while self.once.state.load(Acquire) != 2 {}
            Err(value)
        }
    }
}

impl<T> Atomic<T> {
    fn fetch_update<F>(&self, set: Ordering, fetch: Ordering, f: F) -> Result<T, T> {
        let mut old = self.load(fetch);
        loop {
            match f(old) {
                Some(new) => match self.compare_exchange_weak(old, new, set, fetch) {
                    Ok(value) => return Ok(value),
                    Err(value) => old = value,
                },
                None => return Err(old),
            }
        }
    }
}

use std::sync::atomic::Atomic;

mod atomic_wait {
    use std::sync::atomic::Atomic;
    use std::sync::atomic::Ordering::Relaxed;

    fn wait(word: &Atomic<u32>, expected: u32) {
        while word.load(Relaxed) == expected {}
    }
    fn wake_one<P>(word: P) {}
    fn wake_all<P>(word: P) {}
}
