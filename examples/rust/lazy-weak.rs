// The lazy initializer that says with a relaxed store that the value is ready.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const READY: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("lazy.rs");
