//! What a worker remembers of its computation: since when, and when it last did what.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::pending::FIRST_COUNT;

/// The time between two looks at the clock that the count of joins aims at.
const PERIOD: Duration = Duration::from_micros(20);
/// The most joins between two looks at the clock.
const MOST_JOINS: u32 = 1 << 14;
/// What a root must have run for to be worth a wake-up.
pub(super) const WORTH_A_THIEF: Duration = Duration::from_micros(20);
/// Split points that far apart are those of a computation with long leaves.
pub(crate) const LONG_LEAF: Duration = Duration::from_micros(300);
/// So many split points in a row that are closer make a computation fine-grained.
const FINE: u32 = 64;
/// Joins of a task that are in no other, between two looks at the clock.
const OUTER_JOINS_PER_CLOCK: u32 = 16;
/// Split points at the begin of a computation that share what is pending: nothing is known about its leaves, and the
/// first may be long. As many as a worker passes on its way down to it.
const PROBES: u32 = 8;
/// A computation with no more joins than these in a period is coarse: what is pending may wait for long.
const COARSE: u32 = 4;
/// Offers of a root between two looks at the clock; the first one looks.
const OFFERS_PER_CLOCK: u32 = 16;

/// Touched by its worker only.
pub(crate) struct Pace {
    /// When the clock was last read, by a count of joins.
    clock: Cell<Instant>,
    per_clock: Cell<u32>,
    /// Split points left at which the computation counts as unknown.
    probes: Cell<u32>,
    /// Joins of a task that were in no other.
    outer: Cell<u32>,
    /// Split points in a row that were not far apart; halved by one that was. A worker that the OS has
    /// kept from running looks like one in a long leaf, now and then.
    close: Cell<u32>,
    root_began: Cell<Instant>,
    offers: Cell<u32>,
    /// Not before this are tasks polled in place again.
    pub(super) next_poll: Cell<Instant>,
    /// A poll in place is under way.
    pub(super) in_place: Cell<bool>,
    /// The worker may poll tasks of its own accord. Not so in a loop that is driven by hand.
    pub(crate) may_poll: Cell<bool>,
    pub(super) computing: Cell<bool>,
    /// What computes is a task that has called a join or a scope, and may do something else after that.
    pub(super) of_task: Cell<bool>,
    /// The scopes that it is inside of.
    pub(super) scopes: Cell<usize>,
    /// The waits that it is inside of, and runs jobs of others in.
    pub(super) waits: Cell<usize>,
    /// The OS was asked for short turns.
    pub(super) takes_short_turns: Cell<bool>,
    /// The last thing run was a stolen job.
    pub(super) stole: Cell<bool>,
    /// When the last computation ended.
    pub(super) ended: Cell<Option<Instant>>,
}

impl Pace {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            clock: Cell::new(now),
            per_clock: Cell::new(FIRST_COUNT),
            probes: Cell::new(0),
            outer: Cell::new(0),
            close: Cell::new(0),
            root_began: Cell::new(now),
            offers: Cell::new(0),
            next_poll: Cell::new(now),
            in_place: Cell::new(false),
            may_poll: Cell::new(false),
            computing: Cell::new(false),
            of_task: Cell::new(false),
            scopes: Cell::new(0),
            waits: Cell::new(0),
            takes_short_turns: Cell::new(false),
            stole: Cell::new(false),
            ended: Cell::new(None),
        }
    }

    /// A root or a stolen job begins; gives the count of joins to the first look at the clock.
    pub(super) fn begin(&self, now: Instant) -> u32 {
        self.root_began.set(now);
        self.offers.set(0);
        self.restart(now);
        self.probe_anew()
    }

    /// Nothing is known about what comes next; gives the count of joins to the next split point.
    pub(super) fn probe_anew(&self) -> u32 {
        // What the joins of the last computation took says nothing about this one.
        self.per_clock.set(PROBES);
        self.probes.set(PROBES);
        1
    }

    /// A join of a task ends that was in no other. Returns true if it is time for a split point.
    pub(super) fn counts_outer(&self) -> bool {
        let outer = self.outer.get().wrapping_add(1);
        self.outer.set(outer);
        outer % OUTER_JOINS_PER_CLOCK == 0
    }

    /// True if nothing is known about the computation yet.
    pub(super) fn is_probing(&self) -> bool {
        self.probes.get() > 0
    }

    /// At a split point: true, and one less to come, if nothing is known about the computation yet.
    pub(super) fn probes(&self) -> bool {
        let left = self.probes.get();
        self.probes.set(left.saturating_sub(1));
        left > 0
    }

    /// True if the split points of this computation are far apart.
    pub(super) fn is_coarse(&self) -> bool {
        // Models must not go by how fast the machine is.
        cfg!(not(loom)) && self.per_clock.get() <= COARSE
    }

    /// What was done until now was no part of the computation.
    pub(super) fn restart(&self, now: Instant) {
        self.clock.set(now);
    }

    /// Keeps the count out of what happens meanwhile; gives it.
    pub(super) fn keep_count(&self, f: impl FnOnce()) -> u32 {
        let joins = self.per_clock.get();
        f();
        self.per_clock.set(joins);
        joins
    }

    /// The count of joins ran out; gives the next.
    pub(super) fn next_count(&self, now: Instant) -> u32 {
        let elapsed = now.saturating_duration_since(self.clock.replace(now));
        let close = self.close.get();
        self.close.set(if elapsed < LONG_LEAF { (close + 1).min(4 * FINE) } else { close / 2 });
        let elapsed = elapsed.as_nanos().max(1);
        let joins = u128::from(self.per_clock.get());
        let fitting = joins * PERIOD.as_nanos() / elapsed;
        // Up step by step: the next joins may be slower than the last.
        let most = (joins * 2).max(FIRST_COUNT.into());
        let next = fitting.min(most).clamp(1, MOST_JOINS.into()) as u32;
        self.per_clock.set(next);
        next
    }

    /// True if this computation has split points all the time.
    pub(super) fn is_fine(&self) -> bool {
        self.close.get() >= FINE
    }

    /// Counts an offer; true if the clock should be read.
    pub(super) fn counts_offer(&self) -> bool {
        let offers = self.offers.replace(self.offers.get().wrapping_add(1));
        offers % OFFERS_PER_CLOCK == 0
    }

    pub(super) fn is_worth_a_thief(&self, now: Instant) -> bool {
        // Models must not go by how fast the machine is.
        cfg!(loom) || now.saturating_duration_since(self.root_began.get()) >= WORTH_A_THIEF
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
    fn what_happens_meanwhile_leaves_the_count_alone() {
        let now = Instant::now();
        let pace = Pace::new(now);
        pace.begin(now);
        let before = pace.next_count(now);
        let kept = pace.keep_count(|| assert!(pace.next_count(now + PERIOD * before) < before));
        assert_eq!((kept, pace.per_clock.get()), (before, before));
    }
}
