//! A future with a time limit.

use std::error::Error;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::host::Host;
use crate::nanos::{in_nanos, nanos};
use crate::wait::{DeadlineWait, When};

/// A future with a time limit.
///
/// The inner future is polled first. If it is ready, its output is returned, even after the deadline.
///
/// # Cancelling
///
/// Dropping it drops the inner future and disarms the timer.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Timeout<F, H> {
    when: When,
    wait: DeadlineWait<H>,
    /// Structurally pinned.
    future: F,
}

impl<F, H: Host> Timeout<F, H> {
    /// Limits `future` to `duration`, counted from the first poll.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::Timeout;
    ///
    /// # windlass::block_on(async {
    /// let limited = Timeout::after(Duration::from_millis(1), std::future::pending::<()>());
    /// assert!(limited.await.is_err());
    /// # });
    /// ```
    #[inline]
    pub fn after(duration: Duration, future: impl IntoFuture<IntoFuture = F>) -> Self {
        let when = When::After(in_nanos(duration));
        Self { when, wait: DeadlineWait::new(), future: future.into_future() }
    }

    /// Limits `future` to the time until `deadline`.
    ///
    /// ```
    /// use std::time::Instant;
    /// use windlass::timer::Timeout;
    ///
    /// # windlass::block_on(async {
    /// let limited = Timeout::until(Instant::now(), async { 7 });
    /// assert_eq!(limited.await, Ok(7), "the future is polled first");
    /// # });
    /// ```
    pub fn until(deadline: Instant, future: impl IntoFuture<IntoFuture = F>) -> Self {
        let when = When::At(nanos(deadline));
        Self { when, wait: DeadlineWait::new(), future: future.into_future() }
    }

    /// Returns a reference to the inner future.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::{sleep, timeout};
    ///
    /// let limited = timeout(Duration::from_secs(1), sleep(Duration::from_secs(5)));
    /// assert!(!limited.get_ref().is_armed());
    /// ```
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// Returns a mutable reference to the inner future.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::{sleep, timeout};
    ///
    /// # windlass::block_on(async {
    /// let mut limited = timeout(Duration::from_secs(60), sleep(Duration::from_secs(3600)));
    /// limited.get_mut().reset(Instant::now());
    /// assert!(limited.await.is_ok());
    /// # });
    /// ```
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// Returns the inner future, without the limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::timeout;
    ///
    /// # windlass::block_on(async {
    /// let limited = timeout(Duration::from_secs(1), async { 7 });
    /// assert_eq!(limited.into_inner().await, 7);
    /// # });
    /// ```
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future, H: Host> Future for Timeout<F, H> {
    type Output = Result<F::Output, Elapsed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is not moved out of here: it is pinned again at once, and the other fields are
        // never pinned. `Timeout` is `Unpin` only if `F` is, and has no drop of its own.
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

/// The error of a [`Timeout`] that has reached its deadline.
///
/// It converts into an [`io::Error`] of the kind [`TimedOut`](io::ErrorKind::TimedOut).
///
/// ```
/// use std::io;
/// use std::time::Duration;
/// use windlass::timer::timeout;
///
/// # windlass::block_on(async {
/// let elapsed = timeout(Duration::ZERO, std::future::pending::<()>()).await.unwrap_err();
/// assert_eq!(io::Error::from(elapsed).kind(), io::ErrorKind::TimedOut);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operation timed out")
    }
}

impl Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> Self {
        io::Error::new(io::ErrorKind::TimedOut, elapsed)
    }
}
