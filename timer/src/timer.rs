//! The timer that is awaited again and again.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::host::Host;
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
/// use windlass::timer::Timer;
///
/// # windlass::block_on(async {
/// let mut timer = Timer::new(Duration::from_millis(1));
/// for _ in 0..3 {
///     (&mut timer).await;
/// }
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer<H> {
    duration: Duration,
    host: PhantomData<fn() -> H>,
}

impl<H: Host> Timer<H> {
    /// A timer of that duration.
    pub const fn new(duration: Duration) -> Self {
        Self { duration, host: PhantomData }
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
    pub fn wait(&mut self) -> TimerWait<'_, H> {
        let when = When::After(in_nanos(self.duration));
        TimerWait { when, wait: Wait::new(), timer: self }
    }

    /// Waits until a point in time, whatever the timer's duration is.
    pub fn wait_until(&mut self, deadline: Instant) -> TimerWait<'_, H> {
        TimerWait { when: When::At(nanos(deadline)), wait: Wait::new(), timer: self }
    }
}

impl<'a, H: Host> IntoFuture for &'a mut Timer<H> {
    type Output = ();
    type IntoFuture = TimerWait<'a, H>;

    fn into_future(self) -> TimerWait<'a, H> {
        self.wait()
    }
}

/// One wait for a [`Timer`]. Dropping it disarms the timer.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct TimerWait<'a, H> {
    when: When,
    wait: Wait<H>,
    timer: &'a mut Timer<H>,
}

impl<H: Host> TimerWait<'_, H> {
    /// The timer that is waited for.
    pub fn timer(&self) -> &Timer<H> {
        self.timer
    }

    /// True while it is armed: from the first poll that had to wait until the time has come.
    pub fn is_armed(&self) -> bool {
        self.wait.is_armed()
    }
}

impl<H: Host> Future for TimerWait<'_, H> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { when, wait, .. } = self.get_mut();
        wait.poll(cx, when)
    }
}
