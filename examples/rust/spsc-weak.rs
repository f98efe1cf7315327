// The ring buffer whose producer publishes with a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const PUBLISH: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("spsc.rs");
