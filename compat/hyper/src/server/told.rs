//! A token as one task sees it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use windlass_sync::{CancellationToken, CancelledOwned};

/// Whether a token is cancelled, for a task that asks at each poll. The token may be shared by all connections, so the wait in
/// it is renewed only if another task asks.
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

    /// True once the token is cancelled. Until then, the task is woken when that happens.
    pub(super) fn is_told(&mut self, cx: &mut Context<'_>) -> bool {
        if self.token.is_cancelled() {
            return true;
        }
        if self.asked_by.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return false;
        }
        self.asked_by = Some(cx.waker().clone());
        self.cancelled.as_mut().poll(cx).is_ready()
    }
}
