//! The public interface of the timers: the types of `windlass_timer`, made for these runtimes.

use std::future::{Future, IntoFuture};
use std::time::{Duration, Instant};

use super::Runtimes;

/// Waits until a point in time. Created by [`sleep`] and [`sleep_until`].
///
/// The timer is armed by the first poll that has to wait, and belongs to the runtime that is current in that poll,
/// even if the future then moves to another one. When that runtime shuts down, the future is polled again, and the
/// timer moves to the runtime that is current there, or to the global one. On the executor of another library, timers
/// belong to the global runtime, which the first of them starts.
///
/// Polling it again after it was ready returns `Ready`, until [`reset`](windlass_timer::Sleep::reset).
pub type Sleep = windlass_timer::Sleep<Runtimes>;

/// A timer that can be awaited repeatedly: each `(&mut timer).await` waits for its duration again.
///
/// The time runs from the first poll of each wait, and dropping the wait disarms the timer.
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

/// Ticks with a fixed period. Created by [`interval`] and [`interval_at`].
///
/// Late ticks do not make it drift: ticks are due at multiples of the period after the start, unless one was missed
/// altogether and [`MissedTick`](windlass_timer::MissedTick) says otherwise.
pub type Interval = windlass_timer::Interval<Runtimes>;

/// A future with a time-out. Created by [`timeout`], [`timeout_at`] and [`FutureExt`].
pub type Timeout<F> = windlass_timer::Timeout<F, Runtimes>;

/// Returns the current runtime's time if it runs in [virtual time](crate::Builder::virtual_time), and `Instant::now()`
/// otherwise.
///
/// Code that calls this instead of `Instant::now` can be tested in virtual time.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::timer::{now, sleep};
///
/// let runtime = windlass::Builder::new().virtual_time().build()?;
/// runtime.block_on(async {
///     let start = now();
///     sleep(Duration::from_secs(3600)).await;
///     assert_eq!(now() - start, Duration::from_secs(3600));
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn now() -> Instant {
    windlass_timer::now::<Runtimes>()
}

/// Waits until `duration` has passed since this call (not since the first poll).
///
/// The sleep is never early. It is late by about 50 µs while a CPU is idle, and by about 100 µs if 100,000 sleeps are
/// due at about the same time; one in a hundred of those is late by half a millisecond. A zero duration is ready at its
/// first poll, and one that the clock can't represent (`Duration::MAX`) never ends.
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

/// Waits until `deadline`. The sleep is ready at once if that has passed. Dropping the future disarms the timer.
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

/// Returns an interval that ticks every `period`, for the first time at once.
///
/// # Panics
///
/// Panics if the period is zero.
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

/// Returns an interval that ticks every `period`, for the first time at `start`.
///
/// # Panics
///
/// Panics if the period is zero.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use windlass::timer::interval_at;
///
/// # windlass::block_on(async {
/// let start = Instant::now() + Duration::from_millis(1);
/// let mut ticks = interval_at(start, Duration::from_millis(1));
/// assert_eq!(ticks.tick().await, start);
/// # });
/// ```
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval::starting(start, period)
}

/// Waits for `future`, but no longer than `duration`.
///
/// The future is polled first. If it is ready, its output is returned however late it is, and no timer is armed. The
/// time runs from the first poll.
///
/// # Errors
///
/// Returns [`Elapsed`](windlass_timer::Elapsed) if the future is not ready in time. It is dropped with the `Timeout`.
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
/// Returns [`Elapsed`](windlass_timer::Elapsed) if the future is not ready by the deadline.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use windlass::timer::timeout_at;
///
/// # windlass::block_on(async {
/// let deadline = Instant::now() + Duration::from_millis(1);
/// assert!(timeout_at(deadline, std::future::pending::<()>()).await.is_err());
/// # });
/// ```
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout::until(deadline, future)
}

/// Adds time-outs to all futures.
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
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::FutureExt;
    ///
    /// # windlass::block_on(async {
    /// let deadline = Instant::now() + Duration::from_secs(60);
    /// assert_eq!(async { 42 }.timeout_at(deadline).await, Ok(42));
    /// # });
    /// ```
    fn timeout_at(self, deadline: Instant) -> Timeout<Self>
    where
        Self: Sized,
    {
        timeout_at(deadline, self)
    }
}

impl<F: Future> FutureExt for F {}
