//! A future that has to be ready in time.

use std::error::Error;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::nanos::{in_nanos, nanos};
use crate::wait::{Wait, When};

/// Waits for `future`, but no longer than `duration`.
///
/// The future is polled first, so one that is ready gives its output however late it is, and never
/// costs a timer. The time runs from the first poll, as the future itself does.
///
/// # Errors
///
/// [`Elapsed`], when the time is over. The future is dropped with the `Timeout`.
///
/// # Cancelling
///
/// Dropping it drops the future and disarms the timer.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass_timer::{sleep, timeout};
///
/// # windlass_runtime::block_on(async {
/// let quick = timeout(Duration::from_secs(60), async { 42 }).await;
/// assert_eq!(quick, Ok(42));
///
/// let slow = timeout(Duration::from_millis(1), sleep(Duration::from_secs(60))).await;
/// assert!(slow.is_err());
/// # });
/// ```
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout {
        when: When::After(in_nanos(duration)),
        wait: Wait::new(),
        future: future.into_future(),
    }
}

/// Waits for `future`, but not beyond `deadline`. See [`timeout`].
///
/// # Errors
///
/// [`Elapsed`], when the time has come.
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { when: When::At(nanos(deadline)), wait: Wait::new(), future: future.into_future() }
}

/// Time-outs for all futures.
pub trait FutureExt: Future {
    /// Waits for the future, but no longer than `duration`; see [`timeout`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io;
    /// use std::time::Duration;
    /// use windlass_timer::{FutureExt, sleep};
    ///
    /// # windlass_runtime::block_on(async {
    /// async fn answer() -> io::Result<u32> {
    ///     sleep(Duration::from_secs(60)).await;
    ///     Ok(42)
    /// }
    ///
    /// async fn in_time() -> io::Result<u32> {
    ///     answer().timeout(Duration::from_millis(1)).await?
    /// }
    /// assert_eq!(in_time().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    /// # });
    /// ```
    fn timeout(self, duration: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        timeout(duration, self)
    }

    /// Waits for the future, but not beyond `deadline`; see [`timeout_at`].
    fn timeout_at(self, deadline: Instant) -> Timeout<Self>
    where
        Self: Sized,
    {
        timeout_at(deadline, self)
    }
}

impl<F: Future> FutureExt for F {}

/// A future that has to be ready in time. Made by [`timeout`], [`timeout_at`] and [`FutureExt`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Timeout<F> {
    when: When,
    wait: Wait,
    /// Pinned with the whole.
    future: F,
}

impl<F> Timeout<F> {
    /// The future.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future, to be changed while it is not pinned.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// The future, without the time-out.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is not moved out of here: it is pinned anew at once, and the other fields are
        // not pinned ever. `Timeout` is `Unpin` only if `F` is, and has no drop of its own.
        let (future, when, wait) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), &mut this.when, &mut this.wait)
        };
        if let Poll::Ready(output) = future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        wait.poll(cx, when).map(|()| Err(Elapsed(())))
    }
}

/// The time was over. As an [`io::Error`] it is [`TimedOut`](io::ErrorKind::TimedOut).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was over before the operation had ended")
    }
}

impl Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> Self {
        io::Error::new(io::ErrorKind::TimedOut, elapsed)
    }
}
