//! The timing of a worker's current computation: when it began, when the clock was last read, and how fine-grained it
//! is.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::policy::{
    COARSE_JOINS, CRUMBS, FINE_AFTER, FIRST_COUNT, LONG_LEAF, MOST_JOINS, OFFERS_PER_CLOCK,
    OUTER_JOINS_PER_CLOCK, PERIOD, PROBES, WORTH_A_THIEF,
};

/// One worker's record of its current computation. Only the worker's thread uses it.
pub(crate) struct Computation {
    /// When the clock was last read, by a count of joins.
    clock: Cell<Instant>,
    per_clock: Cell<u32>,
    /// Split points left at which the computation counts as unknown.
    probes: Cell<u32>,
    /// The count of joins with which it goes on after these.
    rest: Cell<u32>,
    /// Looks at the clock since the computation counted as unknown.
    looks: Cell<u32>,
    /// Joins of a task that were in no other.
    outer: Cell<u32>,
    /// Split points in a row that were not far apart; halved by one that was. A worker that the OS has
    /// kept from running looks like one in a long leaf, now and then.
    close: Cell<u32>,
    root_began: Cell<Instant>,
    offers: Cell<u32>,
    /// Offers that the worker has taken back since the last look at the clock, because no thief has come for them.
    taken_back: Cell<u32>,
    /// There were many of these between the last two looks.
    brings_crumbs: Cell<bool>,
    /// Not before this are tasks polled in place again.
    pub(super) next_poll: Cell<Instant>,
    /// A poll in place is under way.
    pub(super) in_place: Cell<bool>,
    /// The worker may poll tasks of its own accord. Not so in a loop that is driven by hand.
    pub(crate) may_poll: Cell<bool>,
    pub(super) computing: Cell<bool>,
    /// The computation is that of a task which has called a join or a scope, and may do something else after that.
    pub(super) of_task: Cell<bool>,
    /// The scopes that it is inside of.
    pub(super) scopes: Cell<usize>,
    /// The waits that it is inside of, and runs jobs of others in.
    pub(super) waits: Cell<usize>,
    /// The OS was asked for short time slices.
    pub(super) takes_short_slices: Cell<bool>,
    /// The last thing run was a stolen job.
    pub(super) stole: Cell<bool>,
    /// The last look for jobs of others found crumbs.
    pub(super) left_crumbs: Cell<bool>,
    /// The computation is a whole one, and not a stolen part.
    pub(super) is_whole: Cell<bool>,
    /// When the last computation ended.
    pub(super) ended: Cell<Option<Instant>>,
}

impl Computation {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            clock: Cell::new(now),
            per_clock: Cell::new(FIRST_COUNT),
            probes: Cell::new(0),
            rest: Cell::new(1),
            looks: Cell::new(0),
            outer: Cell::new(0),
            close: Cell::new(0),
            root_began: Cell::new(now),
            offers: Cell::new(0),
            taken_back: Cell::new(0),
            brings_crumbs: Cell::new(false),
            next_poll: Cell::new(now),
            in_place: Cell::new(false),
            may_poll: Cell::new(false),
            computing: Cell::new(false),
            of_task: Cell::new(false),
            scopes: Cell::new(0),
            waits: Cell::new(0),
            takes_short_slices: Cell::new(false),
            stole: Cell::new(false),
            left_crumbs: Cell::new(false),
            is_whole: Cell::new(true),
            ended: Cell::new(None),
        }
    }

    /// A root or a stolen job begins. Returns the count of joins to the first look at the clock.
    pub(super) fn begin(&self, now: Instant) -> u32 {
        self.root_began.set(now);
        self.offers.set(0);
        self.taken_back.set(0);
        self.brings_crumbs.set(false);
        self.restart(now);
        self.probe_anew()
    }

    /// Nothing is known about what comes next. Returns the count of joins to the next split point.
    pub(super) fn probe_anew(&self) -> u32 {
        // What the joins of the last computation took says nothing about this one.
        self.per_clock.set(PROBES);
        self.probe_again(1)
    }

    /// As [`probe_anew`](Self::probe_anew), for what has slowed down: its offers are no crumbs any more.
    pub(super) fn probe_leaves(&self) -> u32 {
        self.brings_crumbs.set(false);
        self.probe_anew()
    }

    /// As [`probe_anew`](Self::probe_anew), for what is likely to be as it was: the clock is read when it would have
    /// been, after as many joins as are `left`.
    pub(super) fn probe_again(&self, left: u32) -> u32 {
        self.probes.set(PROBES);
        self.rest.set(left.saturating_sub(PROBES).max(1));
        self.looks.set(0);
        1
    }

    /// The time of a wait is no part of the computation, and the joins that were counted last may be those of stolen
    /// jobs.
    pub(super) fn waited(&self, now: Instant) {
        self.restart(now);
        self.looks.set(u32::MAX);
    }

    /// Returns true if the computation has lasted for one [`PERIOD`] or more since it counted as unknown, or has
    /// waited.
    pub(super) fn has_lasted(&self) -> bool {
        // The first look ends the time in which it does.
        self.looks.get() > 1
    }

    /// A join of a task ends that was in no other. Returns true if it is time for a split point.
    pub(super) fn counts_outer(&self) -> bool {
        let outer = self.outer.get().wrapping_add(1);
        self.outer.set(outer);
        outer % OUTER_JOINS_PER_CLOCK == 0
    }

    /// Returns true if nothing is known about the computation yet.
    pub(super) fn is_probing(&self) -> bool {
        self.probes.get() > 0
    }

    /// At a split point: if nothing is known about the computation yet, the count of joins to the next; and one less to
    /// come.
    pub(super) fn probes(&self) -> Option<u32> {
        let left = self.probes.get().checked_sub(1)?;
        self.probes.set(left);
        Some(if left > 0 { 1 } else { self.rest.get() })
    }

    /// Returns true if the split points of this computation are far apart.
    pub(super) fn is_coarse(&self) -> bool {
        // Models must not go by how fast the machine is.
        cfg!(not(loom)) && self.per_clock.get() <= COARSE_JOINS
    }

    /// Returns true if the split points since the last look at the clock were far apart, with `left` to go to the next
    /// look. True if the split points since the last look at the clock were far apart, with `left` to go to the next
    /// look.
    pub(super) fn has_slowed_down(&self, now: Instant, left: u32) -> bool {
        let joins = self.per_clock.get().saturating_sub(left).max(COARSE_JOINS);
        let elapsed = now.saturating_duration_since(self.clock.get());
        // Models must not go by how fast the machine is.
        cfg!(not(loom)) && !self.is_probing() && elapsed >= PERIOD * joins / COARSE_JOINS
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

    /// The count of joins ran out. Returns the next.
    pub(super) fn next_count(&self, now: Instant) -> u32 {
        let elapsed = now.saturating_duration_since(self.clock.replace(now));
        // Models must not go by how fast the machine is.
        let elapsed = if cfg!(loom) { Duration::ZERO } else { elapsed };
        self.looks.set(self.looks.get().saturating_add(1));
        let close = self.close.get();
        self.close.set(if elapsed < LONG_LEAF {
            (close + 1).min(4 * FINE_AFTER)
        } else {
            close / 2
        });
        self.brings_crumbs.set(self.taken_back.replace(0) >= CRUMBS);
        let elapsed = elapsed.as_nanos().max(1);
        let joins = u128::from(self.per_clock.get());
        let fitting = joins * PERIOD.as_nanos() / elapsed;
        // Up step by step: the next joins may be slower than the last.
        let most = (joins * 2).max(FIRST_COUNT.into());
        let next = fitting.min(most).clamp(1, MOST_JOINS.into()) as u32;
        self.per_clock.set(next);
        next
    }

    /// Returns true if this computation has split points all the time.
    pub(super) fn is_fine(&self) -> bool {
        self.close.get() >= FINE_AFTER
    }

    /// Counts an offer; true if the clock should be read.
    pub(super) fn counts_offer(&self) -> bool {
        let offers = self.offers.replace(self.offers.get().wrapping_add(1));
        offers % OFFERS_PER_CLOCK == 0
    }

    /// The worker has taken an offer back.
    pub(super) fn counts_crumb(&self) {
        self.taken_back.set(self.taken_back.get().saturating_add(1));
    }

    /// Returns true if the worker comes back to what it offers before a thief could be awake.
    pub(super) fn brings_crumbs(&self) -> bool {
        self.brings_crumbs.get()
    }

    /// When the computation began that is under way, if one is.
    pub(crate) fn began(&self) -> Option<Instant> {
        self.computing.get().then(|| self.root_began.get())
    }

    /// How long the computation has lasted.
    pub(super) fn lasted(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.root_began.get())
    }

    pub(super) fn is_worth_a_thief(&self, now: Instant) -> bool {
        // Models must not go by how fast the machine is.
        cfg!(loom) || self.lasted(now) >= WORTH_A_THIEF
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_computation_does_not_go_by_the_pace_of_the_last() {
        let mut now = Instant::now();
        let computation = Computation::new(now);
        computation.begin(now);
        for _ in 0..12 {
            now += PERIOD / 10;
            computation.next_count(now);
        }
        assert_eq!(
            computation.per_clock.get(),
            MOST_JOINS,
            "short ones, of which there are many in a period"
        );
        computation.begin(now);
        let next = computation.next_count(now + PERIOD * PROBES / 2);
        assert_eq!(next, 2, "as many as fit into a period, going by those of this computation");
    }

    #[test]
    fn a_long_leaf_is_noticed_before_the_count_runs_out() {
        let now = Instant::now();
        let computation = Computation::new(now);
        computation.begin(now);
        while computation.probes().is_some() {}
        let count = computation.next_count(now + PERIOD / 10);
        assert!(count > COARSE_JOINS && !computation.is_coarse());
        let now = now + PERIOD / 10;
        assert!(!computation.has_slowed_down(now + PERIOD / 2, count - COARSE_JOINS));
        assert!(computation.has_slowed_down(now + LONG_LEAF, count - COARSE_JOINS));
        computation.probe_anew();
        assert!(!computation.has_slowed_down(now + LONG_LEAF, 1), "nothing is known");
    }

    #[test]
    fn what_happens_meanwhile_leaves_the_count_alone() {
        let now = Instant::now();
        let computation = Computation::new(now);
        computation.begin(now);
        let before = computation.next_count(now);
        let kept = computation
            .keep_count(|| assert!(computation.next_count(now + PERIOD * before) < before));
        assert_eq!((kept, computation.per_clock.get()), (before, before));
    }

    #[test]
    fn offers_that_are_taken_back_all_the_time_are_crumbs() {
        let now = Instant::now();
        let computation = Computation::new(now);
        computation.begin(now);
        for _ in 0..CRUMBS {
            assert!(!computation.brings_crumbs(), "nothing is known");
            computation.counts_crumb();
        }
        computation.next_count(now + PERIOD);
        assert!(computation.brings_crumbs());
        computation.counts_crumb();
        computation.next_count(now + PERIOD * 2);
        assert!(!computation.brings_crumbs(), "one in a period may be a whole computation");
        for _ in 0..CRUMBS {
            computation.counts_crumb();
        }
        computation.next_count(now + PERIOD * 3);
        computation.probe_leaves();
        assert!(!computation.brings_crumbs(), "long leaves are none");
    }
}
