//! The timers as programs see them: `windlass_timer`'s, made for these runtimes.

use std::future::{Future, IntoFuture};
use std::time::{Duration, Instant};

use super::Runtimes;

/// Waits for a point in time. Made by [`sleep`] and [`sleep_until`].
///
/// Nothing is armed before the first poll that has to wait. From then on the timer belongs to the runtime
/// that was current in that poll, also if the future moves to another one, which it then wakes. When
/// that runtime shuts down, whoever waits is polled again, and the timer moves to the runtime that is
/// current there, or to the global one. On the executor of another library, timers belong to the global
/// runtime, which is started for the first of them.
///
/// Polling it after it was ready gives ready again, until [`reset`](windlass_timer::Sleep::reset).
pub type Sleep = windlass_timer::Sleep<Runtimes>;

/// A timer that can be awaited any number of times: each `(&mut timer).await` waits for its duration anew.
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
pub type Timer = windlass_timer::Timer<Runtimes>;

/// One wait for a [`Timer`]. Dropping it disarms the timer.
pub type TimerWait<'a> = windlass_timer::TimerWait<'a, Runtimes>;

/// Ticks at a regular pace. Made by [`interval`] and [`interval_at`].
///
/// Being somewhat late is no reason to drift: ticks are due at multiples of the period after the start,
/// unless one was missed altogether and [`MissedTick`](windlass_timer::MissedTick) says otherwise.
pub type Interval = windlass_timer::Interval<Runtimes>;

/// A future that has to be ready in time. Made by [`timeout`], [`timeout_at`] and [`FutureExt`].
pub type Timeout<F> = windlass_timer::Timeout<F, Runtimes>;

/// The time: that of the current runtime if it has a clock of its own
/// ([`Builder::virtual_time`](crate::Builder::virtual_time)), and else `Instant::now()`.
///
/// Code that asks here instead of asking `Instant` can be tested in virtual time.
pub fn now() -> Instant {
    windlass_timer::now::<Runtimes>()
}

/// Waits until `duration` from now is over. It counts from this call, not from the first poll.
///
/// Never early; late by some 50 µs while the machine has a CPU to spare, and by some 100 µs, half a
/// millisecond for one in a hundred, if 100,000 are due at about the same time. A zero duration is
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
/// use windlass::timer::sleep;
///
/// # windlass::block_on(async {
/// let start = Instant::now();
/// sleep(Duration::from_millis(5)).await;
/// assert!(start.elapsed() >= Duration::from_millis(5));
/// # });
/// ```
pub fn sleep(duration: Duration) -> Sleep {
    Sleep::after(duration)
}

/// Waits until `deadline`; not at all if that is past.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use windlass::timer::sleep_until;
///
/// # windlass::block_on(async {
/// let deadline = Instant::now() + Duration::from_millis(5);
/// sleep_until(deadline).await;
/// assert!(Instant::now() >= deadline);
/// # });
/// ```
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::until(deadline)
}

/// Ticks every `period`, for the first time at once.
///
/// # Panics
///
/// If the period is zero.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::timer::interval;
///
/// # windlass::block_on(async {
/// let mut ticks = interval(Duration::from_millis(1));
/// let first = ticks.tick().await;
/// let second = ticks.tick().await;
/// assert_eq!(second - first, Duration::from_millis(1));
/// # });
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    Interval::new(period)
}

/// Ticks every `period`, for the first time at `start`.
///
/// # Panics
///
/// If the period is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval::starting(start, period)
}

/// Waits for `future`, but no longer than `duration`.
///
/// The future is polled first, so one that is ready gives its output however late it is, and never
/// costs a timer. The time runs from the first poll, as the future itself does.
///
/// # Errors
///
/// [`Elapsed`](windlass_timer::Elapsed), when the time is over. The future is dropped with the `Timeout`.
///
/// # Cancelling
///
/// Dropping it drops the future and disarms the timer.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::timer::{sleep, timeout};
///
/// # windlass::block_on(async {
/// let quick = timeout(Duration::from_secs(60), async { 42 }).await;
/// assert_eq!(quick, Ok(42));
///
/// let slow = timeout(Duration::from_millis(1), sleep(Duration::from_secs(60))).await;
/// assert!(slow.is_err());
/// # });
/// ```
#[inline]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout::after(duration, future)
}

/// Waits for `future`, but not beyond `deadline`. See [`timeout`].
///
/// # Errors
///
/// [`Elapsed`](windlass_timer::Elapsed), when the time has come.
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout::until(deadline, future)
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
    /// use windlass::timer::{FutureExt, sleep};
    ///
    /// # windlass::block_on(async {
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
