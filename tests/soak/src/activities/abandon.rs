//! Giving up: a future that is polled a number of times and then dropped.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Polls the future until it is ready or has been pending more than `patience` times, and drops it.
pub(crate) async fn abandon<F: Future>(future: F, mut patience: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if patience == 0 => {
            // Others have to run, or what was waited for never comes.
            patience = usize::MAX;
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        Poll::Pending if patience == usize::MAX => Poll::Ready(None),
        Poll::Pending => {
            patience -= 1;
            Poll::Pending
        }
    })
    .await
}
