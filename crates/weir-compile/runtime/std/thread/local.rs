//! `thread_local!`: variables of each thread, and dropping them when it ends.
//!
//! A variable whose value needs `Drop` enters itself in a list of its thread when it is made. A
//! thread walks through its list when it has ended, the last variable first. The first thread does
//! not: the program is over.

use core::cell::{Cell, RefCell, UnsafeCell};
use core::fmt;
use core::mem::{MaybeUninit, needs_drop};

/// An entry of the list.
struct Entry {
    next: Cell<*const Entry>,
    /// What drops the variable at this address.
    drop: unsafe fn(*const Entry),
}

#[thread_local]
static LAST: Cell<*const Entry> = Cell::new(core::ptr::null());

/// Drops all variables of this thread, and those that are made while they are dropped.
#[inline]
pub(super) fn drop_all() {
    loop {
        let entry = LAST.get();
        if entry.is_null() {
            return;
        }
        unsafe {
            LAST.set((*entry).next.get());
            ((*entry).drop)(entry);
        }
    }
}

/// A variable that is made when it is used first. The entry comes first, so that its address is
/// that of the variable.
#[repr(C)]
pub struct Lazy<T> {
    entry: Entry,
    state: Cell<State>,
    value: UnsafeCell<MaybeUninit<T>>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Alive,
    Dropped,
}

impl<T> Lazy<T> {
    /// A variable that has not been made.
    #[inline]
    pub const fn new() -> Lazy<T> {
        Lazy {
            entry: Entry { next: Cell::new(core::ptr::null()), drop: Self::drop_value },
            state: Cell::new(State::New),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    unsafe fn drop_value(entry: *const Entry) {
        let this = unsafe { &*entry.cast::<Lazy<T>>() };
        this.state.set(State::Dropped);
        unsafe { (*this.value.get()).assume_init_drop() };
    }

    /// Where the value is; null when it has been dropped.
    #[inline]
    pub fn get(&self, given: Option<&mut Option<T>>, init: fn() -> T) -> *const T {
        match self.state.get() {
            State::Alive => {}
            State::Dropped => return core::ptr::null(),
            State::New => {
                let value = match given {
                    Some(given) => match given.take() {
                        Some(value) => value,
                        None => init(),
                    },
                    None => init(),
                };
                if self.state.get() == State::Alive {
                    // Making the value has made it already: as in the real one, the newer value
                    // stays.
                    unsafe { *(*self.value.get()).assume_init_mut() = value };
                } else {
                    unsafe { (*self.value.get()).write(value) };
                    self.state.set(State::Alive);
                    if needs_drop::<T>() {
                        self.entry.next.set(LAST.replace(&self.entry));
                    }
                }
            }
        }
        self.value.get().cast()
    }
}

/// A variable whose value the compiler knows.
#[repr(C)]
pub struct Eager<T> {
    entry: Entry,
    state: Cell<State>,
    value: UnsafeCell<T>,
}

impl<T> Eager<T> {
    /// A variable with a value.
    #[inline]
    pub const fn new(value: T) -> Eager<T> {
        Eager {
            entry: Entry { next: Cell::new(core::ptr::null()), drop: Self::drop_value },
            state: Cell::new(State::New),
            value: UnsafeCell::new(value),
        }
    }

    unsafe fn drop_value(entry: *const Entry) {
        let this = unsafe { &*entry.cast::<Eager<T>>() };
        this.state.set(State::Dropped);
        unsafe { core::ptr::drop_in_place(this.value.get()) };
    }

    /// Where the value is; null when it has been dropped.
    #[inline]
    pub fn get(&self) -> *const T {
        if needs_drop::<T>() {
            match self.state.get() {
                State::Alive => {}
                State::Dropped => return core::ptr::null(),
                State::New => {
                    self.state.set(State::Alive);
                    self.entry.next.set(LAST.replace(&self.entry));
                }
            }
        }
        self.value.get()
    }
}

/// A variable of each thread.
pub struct LocalKey<T: 'static> {
    inner: fn(Option<&mut Option<T>>) -> *const T,
}

/// The variable has been dropped already.
#[derive(Clone, Copy, Eq, PartialEq)]
#[non_exhaustive]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessError")
    }
}
impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}
impl core::error::Error for AccessError {}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

impl<T: 'static> LocalKey<T> {
    /// Only for `thread_local!`.
    #[doc(hidden)]
    #[inline]
    pub const unsafe fn new(inner: fn(Option<&mut Option<T>>) -> *const T) -> LocalKey<T> {
        LocalKey { inner }
    }

    #[inline]
    fn reference(&'static self, given: Option<&mut Option<T>>) -> &'static T {
        match unsafe { (self.inner)(given).as_ref() } {
            Some(value) => value,
            None => crate::sys::fail("a thread-local variable is used after it was dropped"),
        }
    }

    /// Calls `f` with the variable of this thread.
    #[inline]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        f(self.reference(None))
    }

    /// The same, unless it has been dropped.
    #[inline]
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match unsafe { (self.inner)(None).as_ref() } {
            Some(value) => Ok(f(value)),
            None => Err(AccessError),
        }
    }

    /// Uses `value` if the variable has not been made; otherwise `f` is given it.
    #[inline]
    fn initialize_with<F, R>(&'static self, value: T, f: F) -> R
    where
        F: FnOnce(Option<T>, &T) -> R,
    {
        let mut value = Some(value);
        let reference = self.reference(Some(&mut value));
        f(value, reference)
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the variable.
    #[inline]
    pub fn set(&'static self, value: T) {
        self.initialize_with(Cell::new(value), |value, cell| {
            if let Some(value) = value {
                cell.set(value.into_inner());
            }
        })
    }
    /// Its value.
    #[inline]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }
    /// Takes its value.
    #[inline]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }
    /// Replaces its value.
    #[inline]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Borrows it.
    #[inline]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }
    /// Borrows it to change it.
    #[inline]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
    /// Sets the variable.
    #[inline]
    pub fn set(&'static self, value: T) {
        self.initialize_with(RefCell::new(value), |value, cell| {
            if let Some(value) = value {
                *cell.borrow_mut() = value.into_inner();
            }
        })
    }
    /// Takes its value.
    #[inline]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }
    /// Replaces its value.
    #[inline]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}
