//! The smallest executor that can run two futures which wake each other: one thread, two flags.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Polls both until both are done. Only they may wake each other: nothing here ever sleeps.
pub(crate) fn run_pair(a: impl Future<Output = ()>, b: impl Future<Output = ()>) {
    let (a, b) = (pin!(a), pin!(b));
    let (mut a, mut b) = (Half::new(a), Half::new(b));
    while !(a.done && b.done) {
        let polled = a.poll_if_woken() | b.poll_if_woken();
        assert!(polled, "both wait and nobody is left to wake them");
    }
}

/// One of the two, with its waker.
struct Half<'a, F> {
    future: Pin<&'a mut F>,
    woken: Arc<Flag>,
    waker: Waker,
    done: bool,
}

impl<'a, F: Future<Output = ()>> Half<'a, F> {
    fn new(future: Pin<&'a mut F>) -> Half<'a, F> {
        let woken = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        Half { future, woken, waker, done: false }
    }

    fn poll_if_woken(&mut self) -> bool {
        // Acquire pairs with the release in `wake_by_ref`.
        if self.done || !self.woken.0.load(Ordering::Acquire) {
            return false;
        }
        self.woken.0.store(false, Ordering::Relaxed);
        let polled = self.future.as_mut().poll(&mut Context::from_waker(&self.waker));
        self.done = polled == Poll::Ready(());
        true
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}
