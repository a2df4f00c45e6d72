//! Waiting for a point in time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::host::now;
use crate::nanos::{in_nanos, instant, nanos};
use crate::wait::{Wait, When};

/// Waits until `duration` from now is over. It counts from this call, not from the first poll.
///
/// Never early; late by some 100 µs at the most while the machine has a CPU to spare. A zero duration is
/// ready at its first poll, and one that the clock can't say (`Duration::MAX`) never ends.
///
/// # Cancelling
///
/// Dropping the future disarms the timer, in constant time.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use windlass_timer::sleep;
///
/// # windlass_runtime::block_on(async {
/// let start = Instant::now();
/// sleep(Duration::from_millis(5)).await;
/// assert!(start.elapsed() >= Duration::from_millis(5));
/// # });
/// ```
pub fn sleep(duration: Duration) -> Sleep {
    Sleep::at(nanos(now()).saturating_add(in_nanos(duration)))
}

/// Waits until `deadline`; not at all if that is past.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use windlass_timer::sleep_until;
///
/// # windlass_runtime::block_on(async {
/// let deadline = Instant::now() + Duration::from_millis(5);
/// sleep_until(deadline).await;
/// assert!(Instant::now() >= deadline);
/// # });
/// ```
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::at(nanos(deadline))
}

/// Waits for a point in time. Made by [`sleep`] and [`sleep_until`].
///
/// Nothing is armed before the first poll that has to wait. From then on the timer belongs to the runtime
/// that was current in that poll, also if the future moves to another one, which it then wakes. When
/// that runtime shuts down, whoever waits is polled again, and the timer moves to the runtime that is
/// current there, or to the global one.
///
/// Polling it after it was ready gives ready again, until [`reset`](Self::reset).
///
/// # Panics
///
/// When it is polled by the executor of another library before the process has had any windlass runtime.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Sleep {
    /// In nanoseconds.
    deadline: u64,
    wait: Wait,
}

impl Sleep {
    pub(crate) fn at(deadline: u64) -> Self {
        Self { deadline, wait: Wait::new() }
    }

    /// When it ends; `None` if that is never, because the clock can't say it.
    pub fn deadline(&self) -> Option<Instant> {
        instant(self.deadline)
    }

    /// Moves the deadline. A task that waits already is woken at the new time without having to poll
    /// again; a sleep that has ended begins anew.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass_timer::sleep;
    ///
    /// # windlass_runtime::block_on(async {
    /// let mut idle = sleep(Duration::from_secs(3600));
    /// idle.reset(Instant::now() + Duration::from_millis(1));
    /// idle.await;
    /// # });
    /// ```
    pub fn reset(&mut self, deadline: Instant) {
        self.set(nanos(deadline));
    }

    pub(crate) fn set(&mut self, deadline: u64) {
        self.deadline = deadline;
        self.wait.reset(deadline);
    }

    /// True while a timer is armed: from the first poll that had to wait until the time has come.
    pub fn is_armed(&self) -> bool {
        self.wait.is_armed()
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { deadline, wait } = self.get_mut();
        wait.poll(cx, &mut When::At(*deadline))
    }
}
