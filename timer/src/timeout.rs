//! A future that has to be ready in time.

use std::error::Error;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::host::Host;
use crate::nanos::{in_nanos, nanos};
use crate::wait::{Wait, When};

/// A future that has to be ready in time.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Timeout<F, H> {
    when: When,
    wait: Wait<H>,
    /// Pinned with the whole.
    future: F,
}

impl<F, H: Host> Timeout<F, H> {
    /// Waits no longer than `duration`, from the first poll on.
    #[inline]
    pub fn after(duration: Duration, future: impl IntoFuture<IntoFuture = F>) -> Self {
        let when = When::After(in_nanos(duration));
        Self { when, wait: Wait::new(), future: future.into_future() }
    }

    /// Waits not beyond `deadline`.
    pub fn until(deadline: Instant, future: impl IntoFuture<IntoFuture = F>) -> Self {
        let when = When::At(nanos(deadline));
        Self { when, wait: Wait::new(), future: future.into_future() }
    }

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

impl<F: Future, H: Host> Future for Timeout<F, H> {
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
