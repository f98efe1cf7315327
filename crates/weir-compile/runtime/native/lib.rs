//! The functions that Weir knows, with real threads: a program that was compiled for Weir then also
//! runs.
//!
//! Locks and waits poll and yield. `weir_any` gives random numbers; the variable `WEIR_SEED`
//! chooses them. A failed assertion prints its text and aborts. A run that `weir_assume` leaves out
//! ends with status 0.
#![allow(clippy::all)]

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Who is inside `weir_atomic_begin`: its number plus 1.
static ATOMIC: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    static RANDOM: Cell<u64> = const { Cell::new(0) };
}

/// Whether a thread has ended. A type of our own: what is generic and is compiled for it here has
/// no other user.
struct Flag(AtomicBool);

/// Whether threads have ended, by number. An entry stays, since a thread may be joined twice.
static ENDED: Mutex<Vec<&'static Flag>> = Mutex::new(Vec::new());

fn flag(id: usize) -> Option<&'static Flag> {
    ENDED.lock().unwrap_or_else(|e| e.into_inner()).get(id.wrapping_sub(1)).copied()
}

/// Sets the flag of its thread when that ends.
struct End(&'static Flag);

impl Drop for End {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Release);
    }
}

/// Polls. The first polls are quick, since most waits are short.
fn wait_until(mut condition: impl FnMut() -> bool) {
    let mut polls = 0_u32;
    while !condition() {
        polls = polls.saturating_add(1);
        match polls {
            0..64 => std::hint::spin_loop(),
            64..4096 => std::thread::yield_now(),
            _ => std::thread::sleep(std::time::Duration::from_micros(100)),
        }
    }
}

struct Data(*mut u8);
unsafe impl Send for Data {}

#[unsafe(no_mangle)]
pub extern "C" fn weir_spawn(f: unsafe extern "C" fn(*mut u8), data: *mut u8) -> usize {
    let flag: &'static Flag = Box::leak(Box::new(Flag(AtomicBool::new(false))));
    let id = {
        let mut ended = ENDED.lock().unwrap_or_else(|e| e.into_inner());
        ended.push(flag);
        ended.len()
    };
    let data = Data(data);
    let started = std::thread::Builder::new().spawn(move || {
        let data = data;
        CURRENT.set(id);
        let _end = End(flag);
        unsafe { f(data.0) }
    });
    if let Err(error) = started {
        eprintln!("weir: a thread cannot be started: {error}");
        std::process::abort();
    }
    id
}

#[unsafe(no_mangle)]
pub extern "C" fn weir_join(id: usize) {
    let Some(flag) = flag(id) else {
        eprintln!("weir: there is no thread {id}");
        std::process::abort();
    };
    wait_until(|| flag.0.load(Ordering::Acquire));
}

#[unsafe(no_mangle)]
pub extern "C" fn weir_has_ended(id: usize) -> bool {
    flag(id).is_some_and(|f| f.0.load(Ordering::Acquire))
}

#[unsafe(no_mangle)]
pub extern "C" fn weir_current() -> usize {
    CURRENT.get()
}

unsafe fn word<'a>(p: *const u32) -> &'a AtomicU32 {
    unsafe { AtomicU32::from_ptr(p.cast_mut()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_lock(l: *mut u32) {
    wait_until(|| unsafe { weir_try_lock(l) });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_try_lock(l: *mut u32) -> bool {
    unsafe { word(l) }.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_unlock(l: *mut u32) {
    unsafe { word(l) }.store(0, Ordering::Release);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_wait_ne(p: *const u32, v: u32) {
    wait_until(|| unsafe { word(p) }.load(Ordering::Acquire) != v);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_wait_eq(p: *const u32, v: u32) {
    wait_until(|| unsafe { word(p) }.load(Ordering::Acquire) == v);
}

#[unsafe(no_mangle)]
pub extern "C" fn weir_assume(b: bool) {
    if !b {
        std::process::exit(0);
    }
}

/// A random number by Marsaglia's xorshift.
#[unsafe(no_mangle)]
pub extern "C" fn weir_any(lo: i64, hi: i64) -> i64 {
    static SEED: AtomicU64 = AtomicU64::new(0);
    let mut x = RANDOM.get();
    if x == 0 {
        if SEED.load(Ordering::Relaxed) == 0 {
            let given = std::env::var("WEIR_SEED").ok().and_then(|s| s.parse::<u64>().ok());
            let now = || {
                std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(1, |d| d.as_nanos() as u64)
            };
            SEED.store(given.unwrap_or_else(now) | 1, Ordering::Relaxed);
        }
        let seed = SEED.load(Ordering::Relaxed);
        x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add((CURRENT.get() as u64) << 20) | 1;
    }
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    RANDOM.set(x);
    let size = (hi as i128 - lo as i128 + 1).max(1);
    (lo as i128 + i128::from(x >> 1) % size) as i64
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn weir_fail(text: *const u8, len: usize) -> ! {
    let text = unsafe { std::slice::from_raw_parts(text, len) };
    eprintln!("weir: {}", String::from_utf8_lossy(text));
    std::process::abort()
}

#[unsafe(no_mangle)]
pub extern "C" fn weir_exit() -> ! {
    if CURRENT.get() == 0 {
        std::process::exit(0);
    }
    if let Some(flag) = flag(CURRENT.get()) {
        flag.0.store(true, Ordering::Release);
    }
    loop {
        std::thread::park();
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn weir_spin_hint() {
    std::thread::yield_now();
}

#[unsafe(no_mangle)]
pub extern "C" fn weir_atomic_begin() {
    let me = CURRENT.get() + 1;
    wait_until(|| ATOMIC.compare_exchange(0, me, Ordering::AcqRel, Ordering::Relaxed).is_ok());
}

#[unsafe(no_mangle)]
pub extern "C" fn weir_atomic_end() {
    ATOMIC.store(0, Ordering::Release);
}
