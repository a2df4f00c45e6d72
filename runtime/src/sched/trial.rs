//! A trial, which finds out which of two ways of doing things is better by doing both.
//!
//! Most of the time a worker does what was better, and now and then it tries the other for a moment: the less often, the
//! more trials have come to the same result. So a choice rests on what happens on this machine under this load, and not
//! on a rule about machines and loads.

use super::policy::TRIAL_WEIGHT;

/// Samples that a trial takes, and how far trials are apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// Samples in a trial.
    pub(super) samples: u32,
    /// The smallest and the largest number of samples between two trials. It doubles with each trial that changes
    /// nothing.
    pub(super) every: (u32, u32),
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
        let Schedule { samples, every } = schedule;
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

    /// Takes a figure for what is done at present. `prefers_on` compares the average figures while off and while on.
    pub(super) fn sample(&mut self, figure: u64, prefers_on: impl FnOnce(u64, u64) -> bool) {
        let average = &mut self.averages[usize::from(self.on)];
        *average = Some(
            average
                .map_or(figure, |average| (average * (TRIAL_WEIGHT - 1) + figure) / TRIAL_WEIGHT),
        );
        self.left -= 1;
        if self.left == 0 {
            self.turn_over(prefers_on);
        }
    }

    /// Begins a trial of the other way, or ends it and goes on with the better one.
    fn turn_over(&mut self, prefers_on: impl FnOnce(u64, u64) -> bool) {
        let before = self.on;
        let was_trial = self.is_trial;
        self.is_trial = !was_trial;
        self.on = match self.averages {
            [Some(off), Some(on)] if was_trial => prefers_on(off, on),
            _ => !before,
        };
        if !was_trial {
            self.left = self.schedule.samples;
            return;
        }
        // The trial was of the other way: the same again means that it has changed nothing.
        let (shortest, longest) = self.schedule.every;
        self.every = if self.on != before { (self.every * 2).min(longest) } else { shortest };
        self.left = self.every;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SCHEDULE: Schedule = Schedule { samples: 2, every: (8, 256) };

    /// Figures of a load that depend on what is done. Returns the share of the samples while on.
    fn share_on(trial: &mut Trial, off: u64, on: u64) -> f64 {
        let samples = SCHEDULE.every.1 * 4;
        let mut taken = 0;
        for _ in 0..samples {
            taken += u32::from(trial.is_on());
            trial.sample(if trial.is_on() { on } else { off }, |off, on| on <= off);
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
}
