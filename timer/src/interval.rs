//! Ticks at regular times.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crate::host::{Host, now};
use crate::nanos::{in_nanos, nanos};
use crate::sleep::Sleep;

/// What an [`Interval`] does if it is polled so late that the next tick is already due.
///
/// ```
/// use std::time::Duration;
/// use windlass::timer::{MissedTick, interval};
///
/// let mut ticks = interval(Duration::from_secs(1));
/// assert_eq!(ticks.missed_tick(), MissedTick::Burst);
/// ticks.set_missed_tick(MissedTick::Skip);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MissedTick {
    /// The missed ticks come one right after another.
    ///
    /// ```text
    /// due:   |     |     |     |     |     |
    /// ticks: |     ---work---  ||    |     |
    /// ```
    #[default]
    Burst,
    /// The next tick comes a period after the late one, and the following ones count from there.
    Delay,
    /// The missed ticks are left out. The next tick comes at the next multiple of the period.
    Skip,
}

/// Ticks at regular times.
///
/// It does not drift: ticks are due at multiples of the period after the start, unless one was missed altogether and
/// [`MissedTick`] says otherwise.
#[derive(Debug)]
pub struct Interval<H> {
    sleep: Sleep<H>,
    period: Duration,
    missed: MissedTick,
}

impl<H: Host> Interval<H> {
    /// Creates an interval that ticks every `period`, the first time at once.
    ///
    /// # Panics
    ///
    /// Panics if the period is zero.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::Interval;
    ///
    /// # windlass::block_on(async {
    /// let mut ticks = Interval::new(Duration::from_millis(1));
    /// let (first, second) = (ticks.tick().await, ticks.tick().await);
    /// assert_eq!(second - first, Duration::from_millis(1));
    /// # });
    /// ```
    #[track_caller]
    pub fn new(period: Duration) -> Self {
        Self::starting(now::<H>(), period)
    }

    /// Creates an interval that ticks every `period`, the first time at `start`.
    ///
    /// # Panics
    ///
    /// Panics if the period is zero.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::Interval;
    ///
    /// # windlass::block_on(async {
    /// let start = Instant::now() + Duration::from_millis(1);
    /// let mut ticks = Interval::starting(start, Duration::from_secs(60));
    /// assert_eq!(ticks.tick().await, start);
    /// # });
    /// ```
    #[track_caller]
    pub fn starting(start: Instant, period: Duration) -> Self {
        assert!(!period.is_zero(), "an interval of zero would tick for ever: give it a period");
        Self { sleep: Sleep::until(start), period, missed: MissedTick::default() }
    }

    /// Waits for the next tick and returns the time at which it was due.
    ///
    /// # Cancelling
    ///
    /// Dropping the future loses no tick.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::interval;
    ///
    /// # windlass::block_on(async {
    /// let mut ticks = interval(Duration::from_millis(1));
    /// for _ in 0..3 {
    ///     assert!(ticks.tick().await <= Instant::now());
    /// }
    /// # });
    /// ```
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// Polls for the next [`tick`](Self::tick), for hand-written futures.
    ///
    /// ```
    /// use std::future::poll_fn;
    /// use std::time::Duration;
    /// use windlass::timer::interval;
    ///
    /// # windlass::block_on(async {
    /// let mut ticks = interval(Duration::from_millis(1));
    /// poll_fn(|cx| ticks.poll_tick(cx)).await;
    /// # });
    /// ```
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(Pin::new(&mut self.sleep).poll(cx));
        let now = now::<H>();
        // A sleep whose deadline the clock cannot represent is never ready.
        let due = self.sleep.deadline().unwrap_or(now);
        self.sleep.set(self.after(nanos(due), nanos(now)));
        Poll::Ready(due)
    }

    /// Returns the time of the tick after the one that was due at `due`.
    fn after(&self, due: u64, now: u64) -> u64 {
        let period = in_nanos(self.period);
        let next = due.saturating_add(period);
        if now < next {
            return next;
        }
        match self.missed {
            MissedTick::Burst => next,
            MissedTick::Delay => now.saturating_add(period),
            MissedTick::Skip => now.saturating_add(period - (now - due) % period),
        }
    }

    /// Makes the next tick come one period from now.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::interval;
    ///
    /// # windlass::block_on(async {
    /// let mut ticks = interval(Duration::from_millis(1));
    /// let now = Instant::now();
    /// ticks.reset();
    /// assert!(ticks.tick().await >= now + Duration::from_millis(1));
    /// # });
    /// ```
    pub fn reset(&mut self) {
        self.sleep.set(nanos(now::<H>()).saturating_add(in_nanos(self.period)));
    }

    /// Makes the next tick come at once.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::interval;
    ///
    /// # windlass::block_on(async {
    /// let mut ticks = interval(Duration::from_secs(3600));
    /// ticks.tick().await;
    /// ticks.reset_immediately();
    /// ticks.tick().await;
    /// # });
    /// ```
    pub fn reset_immediately(&mut self) {
        self.sleep.set(nanos(now::<H>()));
    }

    /// Makes the next tick come after `delay`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::interval;
    ///
    /// # windlass::block_on(async {
    /// let mut ticks = interval(Duration::from_secs(3600));
    /// ticks.reset_after(Duration::from_millis(1));
    /// ticks.tick().await;
    /// # });
    /// ```
    pub fn reset_after(&mut self, delay: Duration) {
        self.sleep.set(nanos(now::<H>()).saturating_add(in_nanos(delay)));
    }

    /// Makes the next tick come at `next`.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use windlass::timer::interval;
    ///
    /// # windlass::block_on(async {
    /// let mut ticks = interval(Duration::from_secs(3600));
    /// let next = Instant::now() + Duration::from_millis(1);
    /// ticks.reset_at(next);
    /// assert_eq!(ticks.tick().await, next);
    /// # });
    /// ```
    pub fn reset_at(&mut self, next: Instant) {
        self.sleep.set(nanos(next));
    }

    /// Returns the time between two ticks.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::interval;
    ///
    /// assert_eq!(interval(Duration::from_secs(1)).period(), Duration::from_secs(1));
    /// ```
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Returns what happens to missed ticks.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::{MissedTick, interval};
    ///
    /// assert_eq!(interval(Duration::from_secs(1)).missed_tick(), MissedTick::Burst);
    /// ```
    pub fn missed_tick(&self) -> MissedTick {
        self.missed
    }

    /// Sets what happens to missed ticks. The default is [`MissedTick::Burst`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::{MissedTick, interval};
    ///
    /// let mut ticks = interval(Duration::from_secs(1));
    /// ticks.set_missed_tick(MissedTick::Skip);
    /// assert_eq!(ticks.missed_tick(), MissedTick::Skip);
    /// ```
    pub fn set_missed_tick(&mut self, missed: MissedTick) {
        self.missed = missed;
    }

    /// The same as [`set_missed_tick`](Self::set_missed_tick), under the name that it has in tokio.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::timer::{MissedTickBehavior, interval};
    ///
    /// let mut ticks = interval(Duration::from_secs(1));
    /// ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    /// ```
    pub fn set_missed_tick_behavior(&mut self, missed: MissedTick) {
        self.set_missed_tick(missed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::holders::ShardRef;

    /// A host without a runtime.
    struct Nowhere;

    impl Host for Nowhere {
        fn offer(_: &std::task::Waker, _: impl FnMut(&ShardRef) -> bool) {}

        fn with_current<R>(_: impl FnOnce(&ShardRef) -> R) -> Option<R> {
            None
        }
    }

    type Interval = super::Interval<Nowhere>;

    fn check(missed: MissedTick, late: u64, expected: u64) {
        let start = Instant::now();
        let mut ticks = Interval::starting(start, Duration::from_millis(10));
        ticks.set_missed_tick(missed);
        let next = ticks.after(7, 7 + late * 1_000_000);
        assert_eq!(next, 7 + expected * 1_000_000, "{missed:?}, {late} ms late");
    }

    #[test]
    fn a_little_lateness_never_drifts() {
        for missed in [MissedTick::Burst, MissedTick::Delay, MissedTick::Skip] {
            check(missed, 0, 10);
            check(missed, 9, 10);
        }
    }

    #[test]
    fn missed_ticks_are_made_up_for_put_off_or_left_out() {
        check(MissedTick::Burst, 10, 10);
        check(MissedTick::Burst, 35, 10);
        check(MissedTick::Delay, 10, 20);
        check(MissedTick::Delay, 35, 45);
        check(MissedTick::Skip, 10, 20);
        check(MissedTick::Skip, 35, 40);
        check(MissedTick::Skip, 40, 50);
    }

    #[test]
    fn a_period_without_end_ticks_once() {
        let start = Instant::now();
        let ticks = Interval::starting(start, Duration::MAX);
        assert_eq!(ticks.after(7, 7), u64::MAX);
    }

    #[test]
    #[should_panic(expected = "give it a period")]
    fn a_period_of_zero_is_refused() {
        let _ = Interval::new(Duration::ZERO);
    }
}
