//! Waiting for a point in time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::host::{Host, now};
use crate::nanos::{in_nanos, instant, nanos};
use crate::wait::{Wait, When};

/// Waits for a point in time.
///
/// Nothing is armed before the first poll that has to wait. From then on the timer belongs to the runtime
/// that was current in that poll, also if the future moves to another one, which it then wakes. When
/// that runtime shuts down, whoever waits is polled again, and the timer moves to the runtime that is
/// current there, or to the global one.
///
/// Polling it after it was ready gives ready again, until [`reset`](Self::reset).
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Sleep<H> {
    /// In nanoseconds.
    deadline: u64,
    wait: Wait<H>,
}

impl<H: Host> Sleep<H> {
    /// Until `duration` from now is over.
    pub fn after(duration: Duration) -> Self {
        Self::at(nanos(now::<H>()).saturating_add(in_nanos(duration)))
    }

    /// Until `deadline`; not at all if that is past.
    pub fn until(deadline: Instant) -> Self {
        Self::at(nanos(deadline))
    }

    pub(crate) fn at(deadline: u64) -> Self {
        Self { deadline, wait: Wait::new() }
    }

    /// When it ends; `None` if that is never, because the clock can't say it.
    ///
    /// A sleep that outlives a runtime with virtual time counts in the OS's time from its next poll
    /// on, and so does its deadline.
    pub fn deadline(&self) -> Option<Instant> {
        instant(self.deadline)
    }

    /// Moves the deadline. A task that waits already is woken at the new time without having to poll
    /// again; a sleep that has ended begins anew.
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

    /// True while a timer is armed: from the first poll that had to wait until the time has come.
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
        // Another one, if the timer has left a runtime whose time was not the OS's.
        if let When::At(time) = when {
            *deadline = time;
        }
        polled
    }
}
