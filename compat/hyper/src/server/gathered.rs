//! An HTTP/2 connection that lets its streams go first.
//!
//! The tasks of the streams leave their output for the task of the connection, and wake it, and it writes the output. A
//! task that is woken by another runs next, so it would write one answer at a time, with a system call for each.
//! Instead it queues up again, once for each wake-up, and everything that is ready by then goes out in one write.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::activity::Activity;

pin_project! {
    /// A connection that, while it has streams, is polled only after the tasks that are ready.
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
