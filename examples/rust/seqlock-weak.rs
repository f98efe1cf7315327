// A sequence lock without the fence behind its first store: the data may reach memory before the
// sequence number is odd.
// expect: sc holds
// expect: tso holds
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const BEGIN: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;
include!("seqlock.rs");
