// Dekker's lock with fences that order too little: the read of the other's wish may overtake the
// write of one's own.
// expect: sc holds
// expect: tso violated
// expect: pso violated
// expect: nsw violated
// expect: c11 violated

const ENTER: std::sync::atomic::Ordering = std::sync::atomic::Ordering::AcqRel;
include!("dekker.rs");
