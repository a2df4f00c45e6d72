//! Waiting for a condition that events announce, for any number of tasks at a time.
//!
//! An operation on a socket takes something away: one task gets it, and a task that comes too late waits for the
//! next event. A condition that holds for *all* waiting tasks (a signal has come, a counter has moved) needs more care,
//! because the first task that has seen it clears the readiness that the others rely on:
//!
//! 1. B looks at the condition: nothing yet.
//! 2. The condition becomes true, and the event says so.
//! 3. A wakes up, finds the condition true, returns, comes back, finds nothing new and clears the readiness.
//! 4. B waits, for an event that has come and gone.
//!
//! So a waiter gets into the list first and looks at the condition after that. An event that comes later finds the
//! waker in the list. If it came before, and another thread has cleared it, the list's lock orders that before the
//! look, and the condition is seen to be true.
//!
//! The other side makes the condition true first and raises the event after it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::registration::{Registration, checked};
use super::source::{Direction, Source, WaiterKey};

impl Registration {
    /// Waits until `condition` returns `Some`. It is called again after each event of the direction. An event wakes all
    /// tasks that wait this way, and none of them takes it from the others.
    ///
    /// `condition` must not try an operation whose `WouldBlock` matters: [`io`](Self::io) is for that.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
    pub async fn until<R>(
        &self,
        direction: Direction,
        condition: impl FnMut() -> Option<R> + Unpin,
    ) -> io::Result<R> {
        Until::new(&self.source, direction, condition).await
    }

    /// Returns true if it belongs to the current runtime or, outside of any runtime, to the global one.
    pub fn is_current(&self) -> bool {
        crate::context::with_pool(|pool| self.is_of(pool.poller()))
    }
}

/// The wait behind [`Registration::until`].
pub(super) struct Until<'a, C> {
    source: &'a Source,
    direction: Direction,
    key: Option<WaiterKey>,
    condition: C,
}

impl<'a, C> Until<'a, C> {
    pub(super) fn new(source: &'a Source, direction: Direction, condition: C) -> Self {
        Self { source, direction, key: None, condition }
    }
}

impl<R, C: FnMut() -> Option<R> + Unpin> Future for Until<'_, C> {
    type Output = io::Result<R>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        // This also comes before anything is known of the source, and after it has gone.
        if let Some(result) = (this.condition)() {
            return Poll::Ready(Ok(result));
        }
        while let Some(seen) = this.source.wait(this.direction, &mut this.key, cx.waker()) {
            let seen = checked(seen)?;
            this.source.clear(this.direction, seen);
        }
        // The waiter is in the list by now, so this is the look that counts.
        match (this.condition)() {
            Some(result) => Poll::Ready(Ok(result)),
            None => Poll::Pending,
        }
    }
}

impl<C> Drop for Until<'_, C> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.source.forget(self.direction, key);
        }
    }
}
