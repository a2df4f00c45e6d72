//! Keeps track of a worker's own offers, to tell whether a thief is worth waking for them.
//!
//! Most offers of a fine-grained computation are taken back by their owner within microseconds. A thief that was woken
//! for one of these would come too late for it.

use std::cell::Cell;

use super::policy::{COUNTS_PER_CLOCK, CRUMBS};

/// One worker's record of what it has offered in its current computation.
#[derive(Default)]
pub(super) struct Offering {
    offers: Cell<u32>,
    /// Offers that the worker has taken back since the last look at the clock, because no thief has come for them.
    taken_back: Cell<u32>,
    /// True if there were many of these between the last two looks.
    brings_crumbs: Cell<bool>,
}

impl Offering {
    /// Forgets the last computation.
    pub(super) fn begin(&self) {
        self.offers.set(0);
        self.taken_back.set(0);
        self.brings_crumbs.set(false);
    }

    /// Counts an offer. Returns true if the clock should be read.
    pub(super) fn count_offer(&self) -> bool {
        let offers = self.offers.replace(self.offers.get().wrapping_add(1));
        offers % COUNTS_PER_CLOCK == 0
    }

    /// Counts an offer that the worker has taken back.
    pub(super) fn count_crumb(&self) {
        self.taken_back.set(self.taken_back.get().saturating_add(1));
    }

    /// Called at a look at the clock: judges by the offers taken back since the last.
    pub(super) fn judge(&self) {
        self.brings_crumbs.set(self.taken_back.replace(0) >= CRUMBS);
    }

    /// Notes that the computation has slowed down, so that its offers are no longer crumbs.
    pub(super) fn slow_down(&self) {
        self.brings_crumbs.set(false);
    }

    /// Returns true if the worker comes back to what it offers before a thief could be awake.
    pub(super) fn brings_crumbs(&self) -> bool {
        self.brings_crumbs.get()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn offers_that_are_taken_back_all_the_time_are_crumbs() {
        let offering = Offering::default();
        offering.begin();
        for _ in 0..CRUMBS {
            assert!(!offering.brings_crumbs(), "nothing is known");
            offering.count_crumb();
        }
        offering.judge();
        assert!(offering.brings_crumbs());
        offering.count_crumb();
        offering.judge();
        assert!(!offering.brings_crumbs(), "one in a period may be a whole computation");
        for _ in 0..CRUMBS {
            offering.count_crumb();
        }
        offering.judge();
        offering.slow_down();
        assert!(!offering.brings_crumbs(), "long leaves are none");
    }
}
