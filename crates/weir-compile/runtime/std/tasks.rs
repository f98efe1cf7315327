//! Runs a future on the thread that waits for it. `std` has no such function; the stand-ins of loom and shuttle do.

use crate::future::Future;
use crate::pin::pin;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sys;
use crate::task::{Context, Poll, Wake, Waker};

/// Whether somebody has woken the task since it was polled.
struct Woken(AtomicU32);

impl Wake for Woken {
    #[inline]
    fn wake(self: Arc<Self>) {
        self.0.store(1, Ordering::Release);
    }
    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(1, Ordering::Release);
    }
}

/// Polls a future until it is ready, and waits in between until somebody wakes it.
#[inline]
pub fn block_on<F: Future>(f: F) -> F::Output {
    let mut f = pin!(f);
    let woken = Arc::new(Woken(AtomicU32::new(0)));
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        match f.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => {
                unsafe { sys::weir_wait_ne(woken.0.as_ptr(), 0) };
                // The swap reads the last waking, so all that happened before it is seen.
                woken.0.swap(0, Ordering::Acquire);
            }
        }
    }
}
