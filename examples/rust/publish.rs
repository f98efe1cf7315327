// Publication as read-copy-update does it: a writer fills a new version and then publishes the
// pointer to it; a reader follows the pointer and sees one version as a whole.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Acquire;
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, Release};
    pub const PUBLISH: Ordering = Release;
}
#[allow(unused_imports)]
use order::*;

struct Version {
    left: u32,
    right: u32,
}

fn main() {
    let mut first = Version { left: 1, right: 1 };
    let current = AtomicPtr::new(&mut first);
    thread::scope(|s| {
        s.spawn(|| {
            let next = Box::new(Version { left: 2, right: 2 });
            current.store(Box::into_raw(next), PUBLISH);
        });
        s.spawn(|| {
            let seen = unsafe { &*current.load(Acquire) };
            let (left, right) = (seen.left, seen.right);
            assert!(left == right && left != 0);
        });
    });
}
