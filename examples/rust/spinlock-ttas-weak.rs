// The test-and-test-and-set lock that is freed by a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const UNLOCK: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("spinlock-ttas.rs");
