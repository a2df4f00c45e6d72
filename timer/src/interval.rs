//! Ticks at a regular pace.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crate::host::{Host, now};
use crate::nanos::{in_nanos, nanos};
use crate::sleep::Sleep;

/// What an [`Interval`] does when it was asked so late that the next tick is due as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MissedTick {
    /// Makes up for it: the ticks that were missed come one right after the other.
    ///
    /// ```text
    /// due:   |     |     |     |     |     |
    /// ticks: |     ---work---  ||    |     |
    /// ```
    #[default]
    Burst,
    /// Starts anew: the next tick comes a period after this one, and so on from there.
    Delay,
    /// Leaves out what was missed: the next tick comes at the next multiple of the period.
    Skip,
}

/// Ticks at a regular pace.
///
/// Being somewhat late is no reason to drift: ticks are due at multiples of the period after the start,
/// unless one was missed altogether and [`MissedTick`] says otherwise.
#[derive(Debug)]
pub struct Interval<H> {
    sleep: Sleep<H>,
    period: Duration,
    missed: MissedTick,
}

impl<H: Host> Interval<H> {
    /// Ticks every `period`, for the first time at once.
    ///
    /// # Panics
    ///
    /// If the period is zero.
    #[track_caller]
    pub fn new(period: Duration) -> Self {
        Self::starting(now::<H>(), period)
    }

    /// Ticks every `period`, for the first time at `start`.
    ///
    /// # Panics
    ///
    /// If the period is zero.
    #[track_caller]
    pub fn starting(start: Instant, period: Duration) -> Self {
        assert!(!period.is_zero(), "an interval of zero would tick for ever: give it a period");
        Self { sleep: Sleep::until(start), period, missed: MissedTick::default() }
    }

    /// Waits for the next tick; gives the time for which it was due.
    ///
    /// Dropping the future loses no tick.
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// As [`tick`](Self::tick), for hand-written futures.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(Pin::new(&mut self.sleep).poll(cx));
        let now = now::<H>();
        // It is never ready at a time that the clock can't say.
        let due = self.sleep.deadline().unwrap_or(now);
        self.sleep.set(self.after(nanos(due), nanos(now)));
        Poll::Ready(due)
    }

    /// When the tick after the one that was due then is due.
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

    /// Has the next tick come a period from now.
    pub fn reset(&mut self) {
        self.sleep.set(nanos(now::<H>()).saturating_add(in_nanos(self.period)));
    }

    /// Has the next tick come at that time.
    pub fn reset_at(&mut self, next: Instant) {
        self.sleep.set(nanos(next));
    }

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// What happens to ticks that were missed.
    pub fn missed_tick(&self) -> MissedTick {
        self.missed
    }

    /// Says what is to happen to ticks that were missed; [`MissedTick::Burst`] by default.
    pub fn set_missed_tick(&mut self, missed: MissedTick) {
        self.missed = missed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::Home;

    /// No runtime.
    struct Nowhere;

    impl Host for Nowhere {
        fn offer(_: &std::task::Waker, _: impl FnMut(&Home) -> bool) {}

        fn with_current<R>(_: impl FnOnce(&Home) -> R) -> Option<R> {
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
