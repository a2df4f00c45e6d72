//! A trial, which finds out which of two ways of doing things is better by doing both.
//!
//! Most of the time a worker does what was better. Now and then it tries the other way for a moment, less often the
//! more trials have come to the same result. A trial that is clearly worse is given up early. So a choice depends on
//! what happens on this machine under this load, and not on a rule about machines and loads.

use std::mem;

use super::policy::{AVERAGE_PARTS, FAILED, FAILED_SAMPLES};

/// Samples that a trial takes, and how far trials are apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialPlan {
    /// Samples in a trial.
    pub(super) samples: u32,
    /// The smallest and the largest number of samples between two trials. It doubles with each trial that changes
    /// nothing.
    pub(super) every: (u32, u32),
    /// What *on* has to be worth, in percent of *off*, to be kept.
    pub(super) pays: u64,
}

/// The state of a choice: *on* or *off*.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    plan: TrialPlan,
    on: bool,
    /// The average figure while off and while on.
    averages: [Option<u64>; 2],
    /// Samples left until the other way is tried, or the trial is over.
    left: u32,
    is_trial: bool,
    /// Samples until the next trial.
    every: u32,
}

impl Trial {
    pub(super) fn new(plan: TrialPlan) -> Self {
        let TrialPlan { samples, every, .. } = plan;
        Self { plan, on: true, averages: [None; 2], left: samples, is_trial: false, every: every.0 }
    }

    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Returns true while the other way is being tried.
    pub(super) fn is_trial(&self) -> bool {
        self.is_trial
    }

    /// Returns true if the next sample begins a trial.
    pub(super) fn is_due(&self) -> bool {
        !self.is_trial && self.left == 1
    }

    /// Puts off the trial that is due: it is known how it would end.
    pub(super) fn postpone(&mut self) {
        self.left += self.every;
    }

    /// Ends a trial that has come to no result, and goes back to what was kept to.
    pub(super) fn abort(&mut self) {
        if self.is_trial {
            self.is_trial = false;
            self.on = !self.on;
            self.left = self.every;
        }
    }

    /// Begins anew, as if nothing had been tried.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.plan);
    }

    /// Takes a figure for what is done at present. `worth` compares the average figures while off and while on: it
    /// returns what *on* is worth, in percent of *off*.
    pub(super) fn sample(&mut self, figure: u64, worth: impl FnOnce(u64, u64) -> u64) {
        let average = &mut self.averages[usize::from(self.on)];
        *average =
            Some(average.map_or(figure, |average| {
                (average * (AVERAGE_PARTS - 1) + figure) / AVERAGE_PARTS
            }));
        self.left -= 1;
        if !self.is_trial {
            if self.left == 0 {
                self.begin_trial();
            }
            return;
        }
        let [Some(off), Some(on)] = self.averages else { return };
        let worth = worth(off, on);
        let taken = self.plan.samples - self.left;
        let fails = taken >= FAILED_SAMPLES
            && if self.on { worth < FAILED } else { worth > 100 * 100 / FAILED };
        if self.left == 0 || fails {
            self.end_trial(worth >= self.plan.pays);
        }
    }

    /// Begins a trial of the other way, which is judged by this trial alone: the load may have changed since the last.
    fn begin_trial(&mut self) {
        self.is_trial = true;
        self.on = !self.on;
        self.averages[usize::from(self.on)] = None;
        self.left = self.plan.samples;
    }

    /// Ends the trial and goes on with the better way.
    fn end_trial(&mut self, on: bool) {
        let tried = mem::replace(&mut self.on, on);
        self.is_trial = false;
        let (shortest, longest) = self.plan.every;
        self.every = if on != tried { (self.every * 2).min(longest) } else { shortest };
        self.left = self.every;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const PLAN: TrialPlan = TrialPlan { samples: 6, every: (8, 256), pays: 100 };

    /// Figures of a load that depend on what is done. Returns the share of the samples while on.
    fn share_on(trial: &mut Trial, off: u64, on: u64) -> f64 {
        let samples = PLAN.every.1 * 4;
        let mut taken = 0;
        for _ in 0..samples {
            taken += u32::from(trial.is_on());
            trial.sample(if trial.is_on() { on } else { off }, |off, on| off * 100 / on);
        }
        f64::from(taken) / f64::from(samples)
    }

    #[test]
    fn the_better_way_is_kept_to_and_the_other_is_tried_now_and_then() {
        let mut trial = Trial::new(PLAN);
        let share = share_on(&mut trial, 24_000, 19_000);
        assert!((0.95..1.0).contains(&share), "{share}");
        let share = share_on(&mut trial, 11_000, 17_000);
        assert!(share < 0.5, "it has changed, and is found out at the next trials: {share}");
        let share = share_on(&mut trial, 11_000, 17_000);
        assert!(share > 0.0 && share < 0.05, "{share}");
    }

    #[test]
    fn a_trial_that_is_clearly_worse_is_given_up_early() {
        let length_of_trial = |off: u64| {
            let mut trial = Trial::new(PLAN);
            let mut sample = |figure| {
                trial.sample(figure, |off, on| on * 100 / off);
                trial.is_on()
            };
            while sample(1_000) {}
            (1..).find(|_| sample(off)).expect("the trial ends")
        };
        assert_eq!(length_of_trial(550), FAILED_SAMPLES);
        assert_eq!(length_of_trial(950), PLAN.samples);
    }
}
