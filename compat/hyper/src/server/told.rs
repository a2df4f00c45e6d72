//! A cancellation token that one task checks.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use windlass_sync::{CancellationToken, CancelledOwned};

/// A token for a task that checks at each poll whether it is cancelled. All connections may share the token, so the
/// wait is registered anew only if another task checks it.
#[derive(Debug)]
pub(super) struct Told {
    token: CancellationToken,
    cancelled: Pin<Box<CancelledOwned>>,
    asked_by: Option<Waker>,
}

impl Told {
    pub(super) fn new(token: CancellationToken) -> Self {
        Self { cancelled: Box::pin(token.clone().cancelled_owned()), token, asked_by: None }
    }

    /// Returns true if this task was the last one to check.
    #[inline]
    pub(super) fn is_asked_by(&self, waker: &Waker) -> bool {
        self.asked_by.as_ref().is_some_and(|asked_by| asked_by.will_wake(waker))
    }

    /// Returns true once the token is cancelled. Until then, the task is woken when that happens.
    pub(super) fn check(&mut self, cx: &mut Context<'_>) -> bool {
        if self.token.is_cancelled() {
            return true;
        }
        if self.is_asked_by(cx.waker()) {
            return false;
        }
        self.asked_by = Some(cx.waker().clone());
        self.cancelled.as_mut().poll(cx).is_ready()
    }
}
