//! A trial, which finds out which of two ways of doing things is better by doing both.
//!
//! Most of the time a worker does what was better, and now and then it tries the other for a moment: the less often, the
//! more trials have come to the same result. A trial that is clearly worse is given up early. So a choice rests on what happens on this machine under this load, and not
//! on a rule about machines and loads.

use std::mem;

use super::policy::{FAILED, FAILED_SAMPLES, TRIAL_WEIGHT};

/// Samples that a trial takes, and how far trials are apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// Samples in a trial.
    pub(super) samples: u32,
    /// The smallest and the largest number of samples between two trials. It doubles with each trial that changes
    /// nothing.
    pub(super) every: (u32, u32),
    /// What *on* has to be worth, in percent of *off*, to be kept to.
    pub(super) pays: u64,
}

/// The state of a choice: *on* or *off*.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    schedule: Schedule,
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
    pub(super) fn new(schedule: Schedule) -> Self {
        let Schedule { samples, every, .. } = schedule;
        Self {
            schedule,
            on: true,
            averages: [None; 2],
            left: samples,
            is_trial: false,
            every: every.0,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Returns true while the other way is being tried.
    pub(super) fn is_trial(&self) -> bool {
        self.is_trial
    }

    /// Takes a figure for what is done at present. `worth` compares the average figures while off and while on: it
    /// returns what *on* is worth, in percent of *off*.
    pub(super) fn sample(&mut self, figure: u64, worth: impl FnOnce(u64, u64) -> u64) {
        let average = &mut self.averages[usize::from(self.on)];
        *average = Some(
            average
                .map_or(figure, |average| (average * (TRIAL_WEIGHT - 1) + figure) / TRIAL_WEIGHT),
        );
        self.left -= 1;
        if !self.is_trial {
            if self.left == 0 {
                self.begin_trial();
            }
            return;
        }
        let [Some(off), Some(on)] = self.averages else { return };
        let worth = worth(off, on);
        let taken = self.schedule.samples - self.left;
        let fails = taken >= FAILED_SAMPLES
            && if self.on { worth < FAILED } else { worth > 100 * 100 / FAILED };
        if self.left == 0 || fails {
            self.end_trial(worth >= self.schedule.pays);
        }
    }

    /// Begins a trial of the other way, which is judged by this trial alone: the load may have changed since the last.
    fn begin_trial(&mut self) {
        self.is_trial = true;
        self.on = !self.on;
        self.averages[usize::from(self.on)] = None;
        self.left = self.schedule.samples;
    }

    /// Ends the trial and goes on with the better way.
    fn end_trial(&mut self, on: bool) {
        let tried = mem::replace(&mut self.on, on);
        self.is_trial = false;
        let (shortest, longest) = self.schedule.every;
        self.every = if on != tried { (self.every * 2).min(longest) } else { shortest };
        self.left = self.every;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SCHEDULE: Schedule = Schedule { samples: 6, every: (8, 256), pays: 100 };

    /// Figures of a load that depend on what is done. Returns the share of the samples while on.
    fn share_on(trial: &mut Trial, off: u64, on: u64) -> f64 {
        let samples = SCHEDULE.every.1 * 4;
        let mut taken = 0;
        for _ in 0..samples {
            taken += u32::from(trial.is_on());
            trial.sample(if trial.is_on() { on } else { off }, |off, on| off * 100 / on);
        }
        f64::from(taken) / f64::from(samples)
    }

    #[test]
    fn the_better_way_is_kept_to_and_the_other_is_tried_now_and_then() {
        let mut trial = Trial::new(SCHEDULE);
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
            let mut trial = Trial::new(SCHEDULE);
            let mut sample = |figure| {
                trial.sample(figure, |off, on| on * 100 / off);
                trial.is_on()
            };
            while sample(1_000) {}
            (1..).find(|_| sample(off)).expect("the trial ends")
        };
        assert_eq!(length_of_trial(550), FAILED_SAMPLES);
        assert_eq!(length_of_trial(950), SCHEDULE.samples);
    }
}
