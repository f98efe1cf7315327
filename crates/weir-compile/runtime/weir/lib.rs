//! What a program can say to Weir: numbers that may be any, and runs that are left out.

unsafe extern "C" {
    fn weir_any(lo: i64, hi: i64) -> i64;
    fn weir_assume(b: bool);
    fn weir_atomic_begin();
    fn weir_atomic_end();
    fn weir_spin_hint();
}

/// A type of which any value can be chosen.
pub trait Arbitrary: Sized {
    /// Any value.
    fn any() -> Self;
}

/// Any value of a type.
#[inline]
pub fn any<T: Arbitrary>() -> T {
    T::any()
}

/// Any number of a range.
#[inline]
pub fn any_in<T: Number>(range: std::ops::RangeInclusive<T>) -> T {
    let (lo, hi) = range.into_inner();
    if lo.to_i64() <= hi.to_i64() {
        return T::from_i64(unsafe { weir_any(lo.to_i64(), hi.to_i64()) });
    }
    // Large numbers without sign, or no number at all.
    let value = T::from_i64(unsafe { weir_any(i64::MIN, i64::MAX) });
    assume(lo <= value && value <= hi);
    value
}

/// Leaves out all runs in which this is false.
#[inline]
pub fn assume(b: bool) {
    unsafe { weir_assume(b) }
}

/// Nobody else takes a step while `f` runs.
#[inline]
pub fn atomic<R>(f: impl FnOnce() -> R) -> R {
    unsafe { weir_atomic_begin() };
    let value = f();
    unsafe { weir_atomic_end() };
    value
}

/// This loop waits for another thread.
#[inline]
pub fn spin_hint() {
    unsafe { weir_spin_hint() }
}

/// A type of numbers that fit into 64 bits.
pub trait Number: Copy + PartialOrd {
    #[doc(hidden)]
    fn to_i64(self) -> i64;
    #[doc(hidden)]
    fn from_i64(n: i64) -> Self;
}

macro_rules! numbers {
    ($($t:ident)+) => {$(
        impl Number for $t {
            #[inline]
            fn to_i64(self) -> i64 { self as i64 }
            #[inline]
            fn from_i64(n: i64) -> $t { n as $t }
        }
    )+};
}
numbers! { u8 u16 u32 i8 i16 i32 i64 u64 usize isize }

macro_rules! small {
    ($($t:ident)+) => {$(
        impl Arbitrary for $t {
            #[inline]
            fn any() -> $t { unsafe { weir_any($t::MIN as i64, $t::MAX as i64) as $t } }
        }
    )+};
}
small! { u8 u16 u32 i8 i16 i32 i64 isize }

macro_rules! large {
    ($($t:ident)+) => {$(
        impl Arbitrary for $t {
            #[inline]
            fn any() -> $t { unsafe { weir_any(i64::MIN, i64::MAX) as $t } }
        }
    )+};
}
large! { u64 usize }

impl Arbitrary for bool {
    #[inline]
    fn any() -> bool {
        unsafe { weir_any(0, 1) != 0 }
    }
}
impl Arbitrary for () {
    #[inline]
    fn any() {}
}
impl Arbitrary for char {
    #[inline]
    fn any() -> char {
        let n = unsafe { weir_any(0, 0x10_F7FF) as u32 };
        // Surrogates are no characters.
        unsafe { char::from_u32_unchecked(if n < 0xD800 { n } else { n + 0x800 }) }
    }
}
impl<T: Arbitrary> Arbitrary for Option<T> {
    #[inline]
    fn any() -> Option<T> {
        if bool::any() { Some(T::any()) } else { None }
    }
}
impl<T: Arbitrary, E: Arbitrary> Arbitrary for Result<T, E> {
    #[inline]
    fn any() -> Result<T, E> {
        if bool::any() { Ok(T::any()) } else { Err(E::any()) }
    }
}
impl<T: Arbitrary, const N: usize> Arbitrary for [T; N] {
    #[inline]
    fn any() -> [T; N] {
        std::array::from_fn(|_| T::any())
    }
}
impl<A: Arbitrary, B: Arbitrary> Arbitrary for (A, B) {
    #[inline]
    fn any() -> (A, B) {
        (A::any(), B::any())
    }
}
impl<A: Arbitrary, B: Arbitrary, C: Arbitrary> Arbitrary for (A, B, C) {
    #[inline]
    fn any() -> (A, B, C) {
        (A::any(), B::any(), C::any())
    }
}
