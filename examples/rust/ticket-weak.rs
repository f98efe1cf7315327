// The ticket lock that serves the next ticket with a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const UNLOCK: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("ticket.rs");
