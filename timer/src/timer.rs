//! A timer that can be awaited repeatedly.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::host::Host;
use crate::nanos::{in_nanos, nanos};
use crate::wait::{DeadlineWait, When};

/// A timer that can be awaited any number of times. Each `(&mut timer).await` waits for its duration.
///
/// The duration counts from the first poll of each wait, which arms the timer.
///
/// # Cancelling
///
/// Dropping a wait disarms the timer, which can be awaited again.
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
    /// Creates a timer with this duration.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::Timer;
    ///
    /// const SECOND: Timer = Timer::new(Duration::from_secs(1));
    /// assert_eq!(SECOND.duration(), Duration::from_secs(1));
    /// ```
    pub const fn new(duration: Duration) -> Self {
        Self { duration, host: PhantomData }
    }

    /// Returns how long each wait takes.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::Timer;
    ///
    /// assert_eq!(Timer::new(Duration::from_secs(5)).duration(), Duration::from_secs(5));
    /// ```
    pub const fn duration(&self) -> Duration {
        self.duration
    }

    /// Changes how long later waits take.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::Timer;
    ///
    /// # windlass::block_on(async {
    /// let mut timer = Timer::new(Duration::from_secs(3600));
    /// timer.set_duration(Duration::from_millis(1));
    /// (&mut timer).await;
    /// # });
    /// ```
    pub fn set_duration(&mut self, duration: Duration) {
        self.duration = duration;
    }

    /// Waits for the timer's duration, from the first poll on. The same as `(&mut timer).await`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::Timer;
    ///
    /// # windlass::block_on(async {
    /// let mut timer = Timer::new(Duration::from_millis(1));
    /// timer.wait().await;
    /// timer.wait().await;
    /// # });
    /// ```
    pub fn wait(&mut self) -> TimerWait<'_, H> {
        let when = When::After(in_nanos(self.duration));
        TimerWait { when, wait: DeadlineWait::new(), timer: self }
    }

    /// Waits until `deadline`, regardless of the timer's duration.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::Timer;
    ///
    /// # windlass::block_on(async {
    /// let mut timer = Timer::new(Duration::from_secs(3600));
    /// timer.wait_until(Instant::now() + Duration::from_millis(1)).await;
    /// # });
    /// ```
    pub fn wait_until(&mut self, deadline: Instant) -> TimerWait<'_, H> {
        TimerWait { when: When::At(nanos(deadline)), wait: DeadlineWait::new(), timer: self }
    }
}

impl<'a, H: Host> IntoFuture for &'a mut Timer<H> {
    type Output = ();
    type IntoFuture = TimerWait<'a, H>;

    fn into_future(self) -> TimerWait<'a, H> {
        self.wait()
    }
}

/// A future that waits for a [`Timer`] once. Dropping it disarms the timer.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct TimerWait<'a, H> {
    when: When,
    wait: DeadlineWait<H>,
    timer: &'a mut Timer<H>,
}

impl<H: Host> TimerWait<'_, H> {
    /// Returns the timer.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::Timer;
    ///
    /// let mut timer = Timer::new(Duration::from_secs(1));
    /// assert_eq!(timer.wait().timer().duration(), Duration::from_secs(1));
    /// ```
    pub fn timer(&self) -> &Timer<H> {
        self.timer
    }

    /// Returns true while the timer is armed: from the first poll that has to wait until the first poll after the
    /// deadline.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::Timer;
    ///
    /// let mut timer = Timer::new(Duration::from_secs(1));
    /// assert!(!timer.wait().is_armed(), "it has not been polled");
    /// ```
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
