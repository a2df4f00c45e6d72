//! The pace of a computation: how many joins there are between two looks at the clock, and how fine-grained they show
//! the computation to be.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::policy::{
    COARSE_JOINS, COUNTS_PER_CLOCK, FINE_AFTER, FIRST_COUNT, LONG_LEAF, MOST_JOINS, PERIOD, PROBES,
};
use crate::sched::policy::TIMELESS;

/// One worker's record of how its joins follow each other.
pub(super) struct Pace {
    /// When the clock was last read, by a count of joins.
    clock: Cell<Instant>,
    per_clock: Cell<u32>,
    /// Split points left at which the computation counts as unknown.
    probes: Cell<u32>,
    /// The count of joins with which it continues after the probes.
    rest: Cell<u32>,
    /// Looks at the clock since the computation counted as unknown.
    looks: Cell<u32>,
    /// Joins of a task that were not inside another join.
    outer: Cell<u32>,
    /// Split points in a row that were not far apart. A split point that was far apart halves it: now and then, a
    /// worker that the OS has kept from running looks like one in a long leaf.
    close: Cell<u32>,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            clock: Cell::new(now),
            per_clock: Cell::new(FIRST_COUNT),
            probes: Cell::new(0),
            rest: Cell::new(1),
            looks: Cell::new(0),
            outer: Cell::new(0),
            close: Cell::new(0),
        }
    }

    /// Notes that a computation begins. Returns the count of joins to the first look at the clock.
    pub(super) fn begin(&self, now: Instant) -> u32 {
        self.restart(now);
        self.probe_anew()
    }

    /// Starts probing again, because nothing is known about what comes next. Returns the count of joins to the next
    /// split point.
    pub(super) fn probe_anew(&self) -> u32 {
        // What the joins of the last computation took says nothing about this one.
        self.per_clock.set(PROBES);
        self.probe_again(1)
    }

    /// Like [`probe_anew`](Self::probe_anew), but for a computation that is likely to continue as before: the clock is
    /// read when it would have been, after `left` more joins.
    pub(super) fn probe_again(&self, left: u32) -> u32 {
        self.probes.set(PROBES);
        self.rest.set(left.saturating_sub(PROBES).max(1));
        self.looks.set(0);
        1
    }

    /// Leaves out of the computation the time of a wait, and the joins that were counted last, which may be those of
    /// stolen jobs.
    pub(super) fn waited(&self, now: Instant) {
        self.restart(now);
        self.looks.set(u32::MAX);
    }

    /// Returns true if the computation has lasted for one [`PERIOD`] or more since it counted as unknown, or has
    /// waited.
    pub(super) fn has_lasted(&self) -> bool {
        // The first look ends the time in which the computation counts as unknown.
        self.looks.get() > 1
    }

    /// Counts a join of a task that was in no other join and has ended. Returns true if it is time for a split point.
    pub(super) fn count_outer(&self) -> bool {
        let outer = self.outer.get().wrapping_add(1);
        self.outer.set(outer);
        outer % COUNTS_PER_CLOCK == 0
    }

    /// Returns true if nothing is known about the computation yet.
    pub(super) fn is_probing(&self) -> bool {
        self.probes.get() > 0
    }

    /// Called at a split point. If nothing is known about the computation yet, returns the count of joins to the next
    /// split point, and counts one probe.
    pub(super) fn take_probe(&self) -> Option<u32> {
        let left = self.probes.get().checked_sub(1)?;
        self.probes.set(left);
        Some(if left > 0 { 1 } else { self.rest.get() })
    }

    /// Returns true if the split points of this computation are far apart.
    pub(super) fn is_coarse(&self) -> bool {
        self.per_clock.get() <= COARSE_JOINS
    }

    /// Returns true if the split points since the last look at the clock were far apart, with `left` to go to the next
    /// look.
    pub(super) fn has_slowed_down(&self, now: Instant, left: u32) -> bool {
        let joins = self.per_clock.get().saturating_sub(left).max(COARSE_JOINS);
        !self.is_probing() && self.elapsed(now) >= PERIOD * joins / COARSE_JOINS
    }

    /// Returns true if nothing is known about the computation, or that its leaves are long, with `left` to go to the
    /// next look at the clock.
    pub(super) fn is_unknown(&self, now: Instant, left: u32) -> bool {
        self.is_probing() || self.has_slowed_down(now, left)
    }

    /// Leaves the time until now out of the computation.
    pub(super) fn restart(&self, now: Instant) {
        self.clock.set(now);
    }

    /// Keeps the count out of what `f` does, and returns it.
    pub(super) fn keep_count(&self, f: impl FnOnce()) -> u32 {
        let joins = self.per_clock.get();
        f();
        self.per_clock.set(joins);
        joins
    }

    /// Returns the next count of joins, when the last has run out.
    pub(super) fn next_count(&self, now: Instant) -> u32 {
        let elapsed = self.elapsed(now);
        self.clock.set(now);
        self.looks.set(self.looks.get().saturating_add(1));
        let close = self.close.get();
        self.close.set(if elapsed < LONG_LEAF {
            (close + 1).min(4 * FINE_AFTER)
        } else {
            close / 2
        });
        let elapsed = elapsed.as_nanos().max(1);
        let joins = u128::from(self.per_clock.get());
        let fitting = joins * PERIOD.as_nanos() / elapsed;
        // The count grows step by step, because the next joins may be slower than the last.
        let most = (joins * 2).max(FIRST_COUNT.into());
        let next = fitting.min(most).clamp(1, MOST_JOINS.into()) as u32;
        self.per_clock.set(next);
        next
    }

    /// Returns true if this computation has split points all the time.
    pub(super) fn is_fine(&self) -> bool {
        self.close.get() >= FINE_AFTER
    }

    /// Returns the time since the clock was last read.
    fn elapsed(&self, now: Instant) -> Duration {
        if TIMELESS { Duration::ZERO } else { now.saturating_duration_since(self.clock.get()) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_computation_does_not_go_by_the_pace_of_the_last() {
        let mut now = Instant::now();
        let pace = Pace::new(now);
        pace.begin(now);
        for _ in 0..12 {
            now += PERIOD / 10;
            pace.next_count(now);
        }
        assert_eq!(
            pace.per_clock.get(),
            MOST_JOINS,
            "short ones, of which there are many in a period"
        );
        pace.begin(now);
        let next = pace.next_count(now + PERIOD * PROBES / 2);
        assert_eq!(next, 2, "as many as fit into a period, going by those of this computation");
    }

    #[test]
    fn a_long_leaf_is_noticed_before_the_count_runs_out() {
        let now = Instant::now();
        let pace = Pace::new(now);
        pace.begin(now);
        while pace.take_probe().is_some() {}
        let count = pace.next_count(now + PERIOD / 10);
        assert!(count > COARSE_JOINS && !pace.is_coarse());
        let now = now + PERIOD / 10;
        assert!(!pace.has_slowed_down(now + PERIOD / 2, count - COARSE_JOINS));
        assert!(pace.has_slowed_down(now + LONG_LEAF, count - COARSE_JOINS));
        pace.probe_anew();
        assert!(!pace.has_slowed_down(now + LONG_LEAF, 1), "nothing is known");
    }

    #[test]
    fn what_happens_meanwhile_leaves_the_count_alone() {
        let now = Instant::now();
        let pace = Pace::new(now);
        pace.begin(now);
        let before = pace.next_count(now);
        let kept = pace.keep_count(|| assert!(pace.next_count(now + PERIOD * before) < before));
        assert_eq!((kept, pace.per_clock.get()), (before, before));
    }
}
