//! `std::time`: any time may pass, and no clock of this machine is read.
//!
//! `Instant::now()` is the same moment every time, which is called now. How now is related to another
//! moment is chosen anew whenever it is asked: a time limit that begins now may be over or not, and
//! since now no time has passed or a very long one. So both sides of a test for a time limit are
//! analyzed, and there is no clock in the state. Two moments that are not now are compared as they are.
//! The time of day (`SystemTime`) stands still.

use crate::sys;
use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};
pub use real::time::{Duration, TryFromFloatSecsError};

/// A moment: the time that has been added to the moment of `now`.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Instant {
    /// Time since a moment that is long before `now`, so that something can be subtracted.
    since: Duration,
}

/// What `now` is.
const NOW: Duration = Duration::from_secs(1 << 40);

/// Longer than any time limit.
const LONG: Duration = Duration::from_secs(1 << 36);

impl Instant {
    /// Now.
    #[inline]
    pub fn now() -> Instant {
        Instant { since: NOW }
    }
    /// Time from an earlier moment to this one.
    #[inline]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }
    /// Time from an earlier moment to this one, if it is earlier.
    #[inline]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        if self.since == NOW && earlier.since >= NOW {
            // What was `now` there, or was to come then, may be long ago.
            if sys::maybe() {
                return Some(LONG);
            }
        } else if earlier.since == NOW && sys::maybe() {
            // The other moment was to come, and has passed.
            return None;
        }
        self.since.checked_sub(earlier.since)
    }
    /// Time from an earlier moment to this one, or none.
    #[inline]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        match self.checked_duration_since(earlier) {
            Some(time) => time,
            None => Duration::ZERO,
        }
    }
    /// Time from this moment to now.
    #[inline]
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(*self)
    }
    /// A later moment.
    #[inline]
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        Some(Instant { since: self.since.checked_add(duration)? })
    }
    /// An earlier moment.
    #[inline]
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        Some(Instant { since: self.since.checked_sub(duration)? })
    }
}

impl PartialOrd for Instant {
    #[inline]
    fn partial_cmp(&self, other: &Instant) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Instant {
    #[inline]
    fn cmp(&self, other: &Instant) -> Ordering {
        let order = self.since.cmp(&other.since);
        // A moment that was to come may have passed.
        let later = if self.since == NOW { other } else { self };
        let with_now = self.since == NOW || other.since == NOW;
        if with_now && later.since > NOW && sys::maybe() { order.reverse() } else { order }
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, other: Duration) -> Instant {
        Instant { since: self.since + other }
    }
}
impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        self.since += other;
    }
}
impl Sub<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn sub(self, other: Duration) -> Instant {
        Instant { since: self.since - other }
    }
}
impl SubAssign<Duration> for Instant {
    #[inline]
    fn sub_assign(&mut self, other: Duration) {
        self.since -= other;
    }
}
impl Sub<Instant> for Instant {
    type Output = Duration;
    #[inline]
    fn sub(self, other: Instant) -> Duration {
        self.duration_since(other)
    }
}
impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instant").field(&self.since).finish()
    }
}

/// A time of day: the time since 1970, or before it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime {
    /// Time since a moment long before 1970.
    since: Duration,
}

/// The beginning of 1970.
pub const UNIX_EPOCH: SystemTime = SystemTime { since: NOW };

/// An earlier time was a later one, by this much.
#[derive(Clone, Debug)]
pub struct SystemTimeError(Duration);

impl SystemTime {
    /// The beginning of 1970.
    pub const UNIX_EPOCH: SystemTime = UNIX_EPOCH;

    /// The beginning of 2025, every time.
    #[inline]
    pub fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_735_689_600)
    }
    /// Time from an earlier time to this one.
    #[inline]
    pub fn duration_since(&self, earlier: SystemTime) -> Result<Duration, SystemTimeError> {
        match self.since.checked_sub(earlier.since) {
            Some(time) => Ok(time),
            None => Err(SystemTimeError(earlier.since.saturating_sub(self.since))),
        }
    }
    /// Time from this time to now.
    #[inline]
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        SystemTime::now().duration_since(*self)
    }
    /// A later time.
    #[inline]
    pub fn checked_add(&self, duration: Duration) -> Option<SystemTime> {
        Some(SystemTime { since: self.since.checked_add(duration)? })
    }
    /// An earlier time.
    #[inline]
    pub fn checked_sub(&self, duration: Duration) -> Option<SystemTime> {
        Some(SystemTime { since: self.since.checked_sub(duration)? })
    }
}

impl Add<Duration> for SystemTime {
    type Output = SystemTime;
    #[inline]
    fn add(self, other: Duration) -> SystemTime {
        SystemTime { since: self.since + other }
    }
}
impl AddAssign<Duration> for SystemTime {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        self.since += other;
    }
}
impl Sub<Duration> for SystemTime {
    type Output = SystemTime;
    #[inline]
    fn sub(self, other: Duration) -> SystemTime {
        SystemTime { since: self.since - other }
    }
}
impl SubAssign<Duration> for SystemTime {
    #[inline]
    fn sub_assign(&mut self, other: Duration) {
        self.since -= other;
    }
}
impl fmt::Debug for SystemTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SystemTime").field(&self.since).finish()
    }
}

impl SystemTimeError {
    /// By how much.
    #[inline]
    pub fn duration(&self) -> Duration {
        self.0
    }
}
impl fmt::Display for SystemTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("second time provided was later than self")
    }
}
impl core::error::Error for SystemTimeError {}
