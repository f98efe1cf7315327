// Publication with a relaxed store: the pointer may be seen before the version that it leads to.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const PUBLISH: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("publish.rs");
