//! A future that runs in a scope.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A value or an account that is in force while a closure runs.
pub trait Enter: Unpin {
    /// Runs `f` with it in force.
    fn enter<R>(&self, f: impl FnOnce() -> R) -> R;
}

/// A future that runs on an [`Account`](super::Account), or with the value of a [`LocalKey`](super::LocalKey) or of an
/// [`InheritedKey`](super::InheritedKey). Returned by their `scope` methods.
///
/// Dropping it drops the future in the scope, and then what the scope holds.
#[must_use = "futures do nothing unless polled"]
pub struct Scoped<E: Enter, F> {
    scope: E,
    /// Pinned with the whole; `None` when it is done.
    future: Option<F>,
}

impl<E: Enter, F> Scoped<E, F> {
    pub(super) fn new(scope: E, future: F) -> Self {
        Self { scope, future: Some(future) }
    }

    /// Returns the scope, which is never pinned.
    pub(super) fn scope_mut(self: Pin<&mut Self>) -> &mut E {
        // SAFETY: the future is neither moved nor handed out.
        unsafe { &mut self.get_unchecked_mut().scope }
    }

    /// Runs `f` on the future, in the scope.
    fn enter<R>(self: Pin<&mut Self>, f: impl FnOnce(Pin<&mut Option<F>>) -> R) -> R {
        // SAFETY: the future is not moved below: it is pinned again, and the scope never was.
        let Self { scope, future } = unsafe { self.get_unchecked_mut() };
        // SAFETY: pinned with the whole.
        let future = unsafe { Pin::new_unchecked(future) };
        scope.enter(|| f(future))
    }
}

impl<E: Enter, F: Future> Future for Scoped<E, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.enter(|mut place| {
            let future = place.as_mut().as_pin_mut();
            let polled = future.expect("a future of a scope was polled after its end").poll(cx);
            if polled.is_ready() {
                place.set(None);
            }
            polled
        })
    }
}

impl<E: Enter, F> Drop for Scoped<E, F> {
    fn drop(&mut self) {
        if self.future.is_some() {
            // SAFETY: not moved any more: this is its drop.
            unsafe { Pin::new_unchecked(self) }.enter(|mut future| future.set(None));
        }
    }
}

windlass_sync::opaque_debug!([E: Enter, F] Scoped<E, F>);
