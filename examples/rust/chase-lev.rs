// The work-stealing deque of Chase and Lev: the owner pushes and takes at the bottom, a thief steals
// at the top. For the last item both try a compare-exchange.
// expect: sc holds
// expect: tso holds
// expect: pso holds
// expect: nsw holds
// expect: c11 holds

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, fence};
use std::thread;

mod order {
    use std::sync::atomic::Ordering::{self, SeqCst};
    pub const TAKE: Ordering = SeqCst;
}
#[allow(unused_imports)]
use order::*;

const SIZE: i64 = 4;

struct Deque {
    top: AtomicI64,
    bottom: AtomicI64,
    items: [AtomicUsize; SIZE as usize],
}

static DEQUE: Deque = Deque {
    top: AtomicI64::new(0),
    bottom: AtomicI64::new(0),
    items: [const { AtomicUsize::new(0) }; SIZE as usize],
};
static TAKEN: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

impl Deque {
    fn item(&self, at: i64) -> &AtomicUsize {
        &self.items[(at % SIZE) as usize]
    }

    fn push(&self, item: usize) {
        let bottom = self.bottom.load(Relaxed);
        self.item(bottom).store(item, Relaxed);
        self.bottom.store(bottom + 1, Release);
    }

    fn take(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, Relaxed);
        fence(TAKE);
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Relaxed);
            return None;
        }
        let item = self.item(bottom).load(Relaxed);
        if top < bottom {
            return Some(item);
        }
        let is_mine = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(bottom + 1, Relaxed);
        if is_mine { Some(item) } else { None }
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(Acquire);
        fence(SeqCst);
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return None;
        }
        let item = self.item(top).load(Relaxed);
        match self.top.compare_exchange(top, top + 1, SeqCst, Relaxed) {
            Ok(_) => Some(item),
            Err(_) => None,
        }
    }
}

fn once(item: Option<usize>) {
    if let Some(item) = item {
        assert!(!TAKEN[item].swap(true, Relaxed));
    }
}

fn main() {
    let owner = thread::spawn(|| {
        DEQUE.push(1);
        DEQUE.push(2);
        once(DEQUE.take());
        once(DEQUE.take());
    });
    let thief = thread::spawn(|| {
        once(DEQUE.steal());
        once(DEQUE.steal());
    });
    owner.join().unwrap();
    thief.join().unwrap();
}
