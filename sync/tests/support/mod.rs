//! Wakers that count, panic or call back, and a way to poll by hand.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// A deadline that ends a test that hangs. Nothing here takes that long, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// Counts how often it was woken.
#[derive(Default)]
pub(crate) struct Counter(AtomicUsize);

impl Counter {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let counter = Arc::new(Self::default());
        (counter.clone(), counter.into())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Runs a closure when woken.
pub(crate) struct OnWake<F>(F);

impl<F: Fn() + Send + Sync + 'static> OnWake<F> {
    pub(crate) fn waker(f: F) -> Waker {
        Arc::new(Self(f)).into()
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for OnWake<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// Runs a closure when its last clone is dropped.
pub(crate) struct OnDrop<F: Fn() + Send + Sync + 'static>(F);

impl<F: Fn() + Send + Sync + 'static> OnDrop<F> {
    pub(crate) fn waker(f: F) -> Waker {
        Arc::new(Self(f)).into()
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for OnDrop<F> {
    fn wake(self: Arc<Self>) {}
}

impl<F: Fn() + Send + Sync + 'static> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

pub(crate) fn poll_with<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// Polls with a waker that does nothing.
pub(crate) fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

/// The message of a panic of `f`.
pub(crate) fn panic_message(f: impl FnOnce()) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f))
        .expect_err("this should have panicked");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => {
            payload.downcast::<&str>().map_or_else(|_| String::new(), |m| m.to_string())
        }
    }
}
