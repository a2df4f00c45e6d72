//! The future that waits for a point in time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::host::{Host, now};
use crate::nanos::{in_nanos, instant, nanos};
use crate::wait::{DeadlineWait, When};

/// Waits for a point in time.
///
/// The first poll that has to wait arms a timer. From then on the timer belongs to the runtime that was current in that
/// poll, even if the future moves to a task of another runtime. When the runtime shuts down, the waiting task is polled
/// again, and the timer moves to the runtime that is current there, or to the global one.
///
/// Once the future is ready, it stays ready until [`reset`](Self::reset).
///
/// # Cancelling
///
/// Dropping the future disarms the timer, in constant time.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Sleep<H> {
    /// In nanoseconds.
    deadline: u64,
    wait: DeadlineWait<H>,
}

impl<H: Host> Sleep<H> {
    /// Creates a future that waits for `duration`, counted from now.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::Sleep;
    ///
    /// # windlass::block_on(async {
    /// let start = Instant::now();
    /// Sleep::after(Duration::from_millis(1)).await;
    /// assert!(start.elapsed() >= Duration::from_millis(1));
    /// # });
    /// ```
    pub fn after(duration: Duration) -> Self {
        Self::at(nanos(now::<H>()).saturating_add(in_nanos(duration)))
    }

    /// Creates a future that waits until `deadline`. If the deadline has already passed, the future is ready at once.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::Sleep;
    ///
    /// # windlass::block_on(async {
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// Sleep::until(deadline).await;
    /// assert!(Instant::now() >= deadline);
    /// # });
    /// ```
    pub fn until(deadline: Instant) -> Self {
        Self::at(nanos(deadline))
    }

    pub(crate) fn at(deadline: u64) -> Self {
        Self { deadline, wait: DeadlineWait::new() }
    }

    /// Returns the time at which the sleep ends, or `None` if it never does because the clock cannot represent that
    /// time.
    ///
    /// A sleep that outlives a runtime with virtual time uses the OS's time from its next poll on, and its deadline
    /// changes accordingly.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::{sleep, sleep_until};
    ///
    /// let deadline = Instant::now() + Duration::from_secs(60);
    /// assert_eq!(sleep_until(deadline).deadline(), Some(deadline));
    /// assert_eq!(sleep(Duration::MAX).deadline(), None);
    /// ```
    pub fn deadline(&self) -> Option<Instant> {
        instant(self.deadline)
    }

    /// Moves the deadline. A task that already waits is woken at the new time, without another poll. A sleep that has
    /// ended starts again.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::sleep;
    ///
    /// # windlass::block_on(async {
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

    /// Returns true if the deadline has passed.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::sleep;
    ///
    /// # windlass::block_on(async {
    /// let mut nap = sleep(Duration::from_millis(1));
    /// (&mut nap).await;
    /// assert!(nap.is_elapsed());
    /// assert!(!sleep(Duration::MAX).is_elapsed());
    /// # });
    /// ```
    pub fn is_elapsed(&self) -> bool {
        self.deadline().is_some() && self.deadline <= nanos(now::<H>())
    }

    /// Returns true while a timer is armed: from the first poll that has to wait until the first poll after the
    /// deadline.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::sleep;
    ///
    /// # windlass::block_on(async {
    /// let mut nap = sleep(Duration::from_millis(1));
    /// assert!(!nap.is_armed());
    /// (&mut nap).await;
    /// assert!(!nap.is_armed());
    /// # });
    /// ```
    pub fn is_armed(&self) -> bool {
        self.wait.is_armed()
    }
}

impl<H: Host> Future for Sleep<H> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { deadline, wait } = self.get_mut();
        let mut when = When::At(*deadline);
        let polled = wait.poll(cx, &mut when);
        // It has changed if the timer has left a runtime with virtual time.
        if let When::At(time) = when {
            *deadline = time;
        }
        polled
    }
}
