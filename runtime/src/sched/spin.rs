//! How long a worker that has run out of work waits awake before it sleeps.
//!
//! Waking a parked thread costs some tens of microseconds, so a worker whose work comes in quick
//! succession does better to wait awake. Whether it does is learnt from what happened: a spin that
//! met work and a sleep that was over within the spin's time speak for spinning, a spin in vain
//! against. A worker that is interrupted while it spins takes a CPU from a thread that has something
//! to do, and stops for a good while. Where the CPUs are contended, no worker spins ([`super::contention`]).
//!
//! A spin that meets work can still cost more than it saves: while a worker sleeps, messages gather, and one wake-up is
//! for all of them. So the worker also compares what a poll costs in CPU time while it spins with what it costs while
//! it does not ([`Trial`]).

use std::cell::Cell;
use std::time::Instant;

use super::policy::{
    CHECKS_PER_CLOCK, INTERRUPTED, LONGEST_SPIN, SHORT_SLEEP, SPIN_SCORE, SPIN_TRIALS,
    SPINS_PER_CHECK, TRIAL_POLLS,
};
use super::trial::Trial;
use crate::primitives::hint;

/// One worker's experience with spinning.
pub(crate) struct Spin {
    allowed: bool,
    score: Cell<i32>,
    /// Whether spinning pays in CPU time: compares what a poll has cost without it and with it.
    trial: Cell<Trial>,
    /// CPU time and number of polls at the last sample.
    before: Cell<Option<(u64, u64)>>,
}

impl Spin {
    /// `allowed` is false where spinning can only do harm: on one core, or with more workers than
    /// cores.
    pub(crate) fn new(allowed: bool) -> Self {
        Self {
            allowed,
            score: Cell::new(0),
            trial: Cell::new(Trial::new(SPIN_TRIALS)),
            before: Cell::new(None),
        }
    }

    /// Returns true if spinning has been paying.
    pub(crate) fn pays(&self) -> bool {
        self.allowed && self.score.get() > 0 && self.trial.get().is_on()
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

    /// Runs `sleep` and learns from how long it took, unless it ended for a reason that was known
    /// before (`false`).
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

    /// Takes a sample of the worker's CPU time, in nanoseconds, after this many polls.
    pub(crate) fn sample(&self, ran: u64, polls: u64) {
        if !self.allowed {
            return;
        }
        let Some((ran_before, polls_before)) = self.before.get() else {
            return self.before.set(Some((ran, polls)));
        };
        let polled = polls.wrapping_sub(polls_before);
        if polled < TRIAL_POLLS {
            return;
        }
        self.before.set(Some((ran, polls)));
        let cost = ran.saturating_sub(ran_before) / polled;
        let mut trial = self.trial.get();
        trial.sample(cost, |without, with| without.saturating_mul(100) / with.max(1));
        self.trial.set(trial);
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
        spin.measure_sleep(|| true);
        assert_eq!(spin.wait_for(|| true), Some(()));
    }

    #[test]
    fn spinning_that_makes_polls_more_expensive_is_given_up() {
        let spin = Spin::new(true);
        let (mut ran, mut polls) = (0, 0);
        // The first sample has nothing to compare with, and a few polls make none.
        for _ in 0..=SPIN_TRIALS.samples * 2 {
            spin.sample(ran, polls);
            spin.sample(ran, polls + TRIAL_POLLS - 1);
            polls += TRIAL_POLLS;
            ran += TRIAL_POLLS * if spin.trial.get().is_on() { 17_000 } else { 11_000 };
        }
        assert!(!spin.trial.get().is_on());
    }

    #[test]
    fn where_it_is_not_allowed_nothing_turns_it_on() {
        let spin = Spin::new(false);
        spin.measure_sleep(|| true);
        assert_eq!(spin.wait_for(|| true), None);
    }
}
