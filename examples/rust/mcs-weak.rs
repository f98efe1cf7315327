// The queue lock of Mellor-Crummey and Scott that hands over with a relaxed store.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const HAND_OVER: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("mcs.rs");
