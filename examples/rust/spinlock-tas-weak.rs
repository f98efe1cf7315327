// The test-and-set lock that is freed by a relaxed store: the counter may reach memory later.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const UNLOCK: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("spinlock-tas.rs");
