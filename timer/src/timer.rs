//! The timer that is awaited again and again.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::nanos::{in_nanos, nanos};
use crate::wait::{Wait, When};

/// A timer that can be awaited any number of times. Each `(&mut timer).await` waits for its duration anew.
///
/// Nothing is armed when it is made: the time runs from the first poll of each wait, and dropping the
/// wait disarms it.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass_timer::Timer;
///
/// # windlass_runtime::block_on(async {
/// let mut timer = Timer::new(Duration::from_millis(1));
/// for _ in 0..3 {
///     (&mut timer).await;
/// }
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    duration: Duration,
}

impl Timer {
    /// A timer of that duration.
    pub const fn new(duration: Duration) -> Self {
        Self { duration }
    }

    /// How long each wait takes.
    pub const fn duration(&self) -> Duration {
        self.duration
    }

    /// Changes how long each further wait takes.
    pub fn set_duration(&mut self, duration: Duration) {
        self.duration = duration;
    }

    /// Waits for the timer's duration, from the first poll on. The same as `(&mut timer).await`.
    pub fn wait(&mut self) -> TimerWait<'_> {
        let when = When::After(in_nanos(self.duration));
        TimerWait { when, wait: Wait::new(), timer: self }
    }

    /// Waits until a point in time, whatever the timer's duration is.
    pub fn wait_until(&mut self, deadline: Instant) -> TimerWait<'_> {
        TimerWait { when: When::At(nanos(deadline)), wait: Wait::new(), timer: self }
    }
}

impl<'a> IntoFuture for &'a mut Timer {
    type Output = ();
    type IntoFuture = TimerWait<'a>;

    fn into_future(self) -> TimerWait<'a> {
        self.wait()
    }
}

/// One wait for a [`Timer`]. Dropping it disarms the timer.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct TimerWait<'a> {
    when: When,
    wait: Wait,
    timer: &'a mut Timer,
}

impl TimerWait<'_> {
    /// The timer that is waited for.
    pub fn timer(&self) -> &Timer {
        self.timer
    }

    /// True while it is armed: from the first poll that had to wait until the time has come.
    pub fn is_armed(&self) -> bool {
        self.wait.is_armed()
    }
}

impl Future for TimerWait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { when, wait, .. } = self.get_mut();
        wait.poll(cx, when)
    }
}
