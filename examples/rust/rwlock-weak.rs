// The lock for readers and a writer whose writer leaves with a relaxed store: a reader may find half of what was written.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated
const LEAVE: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("rwlock.rs");
