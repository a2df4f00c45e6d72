//! The timers of each peer, behind one trait that adds nothing to what they do.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::{CurrentThread, Peer, Smol, Tokio, Windlass};

/// A runtime with timers of its own. All functions are called within a task of it.
pub(crate) trait TimePeer: Peer {
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;

    /// The output, or `None` if the time was over.
    fn timeout<F>(duration: Duration, future: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F: Future + Send,
        F::Output: Send;
}

macro_rules! tokio_timers {
    ($($peer:ty),+) => {
        $(impl TimePeer for $peer {
            #[inline]
            fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
                ::tokio::time::sleep(duration)
            }

            #[inline]
            async fn timeout<F>(duration: Duration, future: F) -> Option<F::Output>
            where
                F: Future + Send,
                F::Output: Send,
            {
                ::tokio::time::timeout(duration, future).await.ok()
            }
        })+
    };
}
tokio_timers!(Tokio, CurrentThread);

impl TimePeer for Smol {
    #[inline]
    async fn sleep(duration: Duration) {
        ::smol::Timer::after(duration).await;
    }

    /// smol has no time-out: its users race the future with a timer, the future first.
    #[inline]
    async fn timeout<F>(duration: Duration, future: F) -> Option<F::Output>
    where
        F: Future + Send,
        F::Output: Send,
    {
        let mut future = pin!(future);
        let mut timer = pin!(::smol::Timer::after(duration));
        std::future::poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
            timer.as_mut().poll(cx).map(|_| None)
        })
        .await
    }
}

impl TimePeer for Windlass {
    #[inline]
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        ::windlass::timer::sleep(duration)
    }

    #[inline]
    async fn timeout<F>(duration: Duration, future: F) -> Option<F::Output>
    where
        F: Future + Send,
        F::Output: Send,
    {
        ::windlass::timer::timeout(duration, future).await.ok()
    }
}
