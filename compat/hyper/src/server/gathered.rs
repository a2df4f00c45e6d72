//! A connection of HTTP/2 that lets its streams go first.
//!
//! The task of the connection writes what the tasks of its streams have left for it, and each of these
//! wakes it when it has left something. A task that is woken by another runs next, so it would write one
//! answer at a time, with a call of the OS for each. Instead it queues up again, once for each wake-up:
//! what is ready by then goes out in one write.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::activity::Activity;

pin_project! {
    /// A connection that is polled after the tasks that are ready, as long as it has streams.
    pub(super) struct Gathered<C> {
        #[pin]
        connection: C,
        activity: Arc<Activity>,
        has_queued: bool,
    }
}

impl<C> Gathered<C> {
    pub(super) fn new(connection: C, activity: Arc<Activity>) -> Self {
        Self { connection, activity, has_queued: false }
    }

    pub(super) fn connection(self: Pin<&mut Self>) -> Pin<&mut C> {
        self.project().connection
    }
}

impl<C: Future> Future for Gathered<C> {
    type Output = C::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Output> {
        let this = self.project();
        *this.has_queued = !*this.has_queued && this.activity.is_answering();
        if *this.has_queued {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.connection.poll(cx)
    }
}
