//! Decides how long an idle worker spins before it sleeps.
//!
//! Waking a parked thread costs some tens of microseconds, so a worker whose work comes in quick succession does better
//! to wait awake. Each worker learns from what happened: a spin that met work, and a sleep that was over within the
//! time of a spin, count in favour of spinning; a spin in vain counts against it. A worker that is interrupted while it
//! spins takes a CPU from a thread that has something to do, and stops for a good while. No worker spins where the CPUs
//! are contended ([`super::contention`]), or where spinning makes polls more expensive ([`super::choices`]).

use std::cell::Cell;
use std::time::Instant;

use super::policy::{
    CHECKS_PER_CLOCK, INTERRUPTED, LONGEST_SPIN, SHORT_SLEEP, SPIN_SCORE, SPINS_PER_CHECK,
};
use crate::primitives::hint;

/// One worker's experience with spinning.
pub(crate) struct Spin {
    allowed: bool,
    score: Cell<i32>,
}

impl Spin {
    /// Creates the record of a worker's experience. `allowed` is false where spinning can only do harm: on one core, or
    /// with more workers than cores.
    pub(crate) fn new(allowed: bool) -> Self {
        Self { allowed, score: Cell::new(0) }
    }

    /// Returns true if spinning has been paying.
    pub(crate) fn pays(&self) -> bool {
        self.allowed && self.score.get() > 0
    }

    /// Waits awake for `ready`. Returns `None` if it did not come, or if spinning does not pay.
    pub(crate) fn wait_for(&self, ready: impl Fn() -> bool) -> Option<()> {
        if !self.pays() {
            return None;
        }
        let start = Instant::now();
        let mut last = start;
        loop {
            for _ in 0..CHECKS_PER_CLOCK {
                for _ in 0..SPINS_PER_CHECK {
                    hint::spin_loop();
                }
                if ready() {
                    self.learn(1);
                    return Some(());
                }
            }
            let now = Instant::now();
            if now - last > INTERRUPTED {
                self.score.set(*SPIN_SCORE.start());
                return None;
            }
            if now - start > LONGEST_SPIN {
                self.learn(-1);
                return None;
            }
            last = now;
        }
    }

    /// Runs `sleep` and learns from how long it took, unless it returns false because it ended for a reason that was
    /// known before.
    pub(crate) fn measure_sleep(&self, sleep: impl FnOnce() -> bool) {
        if !self.allowed {
            sleep();
            return;
        }
        let start = Instant::now();
        if sleep() && start.elapsed() < SHORT_SLEEP {
            self.learn(1);
        }
    }

    fn learn(&self, experience: i32) {
        self.score
            .set((self.score.get() + experience).clamp(*SPIN_SCORE.start(), *SPIN_SCORE.end()));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn spinning_in_vain_is_given_up_and_short_sleeps_bring_it_back() {
        let spin = Spin::new(true);
        spin.score.set(1);
        assert_eq!(spin.wait_for(|| false), None);
        assert!(spin.score.get() <= 0);
        assert_eq!(spin.wait_for(|| true), None, "off, whatever there is");
        spin.score.set(0);
        // One in which the thread gets no CPU is not short.
        for _ in 0..1_000_000 {
            if !spin.pays() {
                spin.measure_sleep(|| true);
            }
        }
        assert_eq!(spin.wait_for(|| true), Some(()));
    }

    #[test]
    fn where_it_is_not_allowed_nothing_turns_it_on() {
        let spin = Spin::new(false);
        spin.measure_sleep(|| true);
        assert_eq!(spin.wait_for(|| true), None);
    }
}
