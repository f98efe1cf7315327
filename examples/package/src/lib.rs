//! A value that one thread publishes to others. `weir check examples/package` checks the tests.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

#[derive(Default)]
pub struct Flag {
    value: AtomicU32,
    is_set: AtomicBool,
}

impl Flag {
    pub fn publish(&self, value: u32) {
        self.value.store(value, Ordering::Relaxed);
        self.is_set.store(true, Ordering::Release);
    }

    /// As `publish`, with an order that is too weak.
    pub fn publish_weak(&self, value: u32) {
        self.value.store(value, Ordering::Relaxed);
        self.is_set.store(true, Ordering::Relaxed);
    }

    pub fn read(&self) -> Option<u32> {
        let is_set = self.is_set.load(Ordering::Acquire);
        is_set.then(|| self.value.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn whoever_reads_finds_the_value(publish: impl Fn(&Flag) + Send) {
        let flag = &Flag::default();
        thread::scope(|scope| {
            scope.spawn(move || publish(flag));
            if let Some(value) = flag.read() {
                assert_eq!(value, 42);
            }
        });
    }

    #[test]
    fn release() {
        whoever_reads_finds_the_value(|flag| flag.publish(42));
    }

    #[test]
    fn relaxed() {
        whoever_reads_finds_the_value(|flag| flag.publish_weak(42));
    }
}
