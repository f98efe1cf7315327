//! `std::sync`: what waits is written here, and what does not (`Arc`, atomics) is the real one.

pub use real::sync::*;

mod barrier;
mod condvar;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod rwlock;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard};
pub use once::{ONCE_INIT, Once, OnceState};
pub use once_lock::OnceLock;
pub use real::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
