//! Whether a backlog is worth a second worker, going by what the runtime gets done.
//!
//! On a machine with idle CPUs a second worker does its part of the backlog sooner. Beside one client on two CPUs, both
//! are in use already: two workers push each other and the client off the CPUs, with messages in their hands, and get
//! less done than one. Where neighbours or many clients want the CPUs, a second thread brings a larger share of them.
//! And what is right for requests that compute is wrong for an echo. No rule about waiting times or numbers of CPUs
//! tells these apart, but the result does: how many polls the workers complete in a second. So the workers of a runtime
//! try both ways ([`Trial`]) and keep to the better one.

use std::time::Instant;

use super::policy::{LONGEST_SAMPLE, SAMPLE_EVERY, SHARING_TRIALS, TRIAL_POLLS};
use super::trial::Trial;
use crate::primitives::TryLock;
use crate::primitives::plain::{AtomicBool, Ordering as Plain};

/// A runtime's experience with several workers at a time.
pub(crate) struct Sharing {
    /// The trial's result. Orders nothing: a worker that reads an old value decides as it would have a moment ago.
    pays: AtomicBool,
    record: TryLock<Record>,
}

struct Record {
    trial: Trial,
    /// When the last sample was taken, and how many polls there had been.
    before: Option<(Instant, u64)>,
}

impl Sharing {
    pub(crate) fn new() -> Self {
        let record = Record { trial: Trial::new(SHARING_TRIALS), before: None };
        Self { pays: AtomicBool::new(true), record: TryLock::new(record) }
    }

    /// Returns true if a second worker is to be woken for a backlog.
    pub(crate) fn pays(&self) -> bool {
        self.pays.load(Plain::Relaxed)
    }

    /// Takes a sample if it is time to. `polls` counts the polls of all workers.
    pub(crate) fn sample(&self, now: Instant, polls: impl FnOnce() -> u64) {
        let Some(mut record) = self.record.try_lock() else { return };
        let Record { trial, before } = &mut *record;
        let Some((at, polls_before)) = *before else {
            *before = Some((now, polls()));
            return;
        };
        let elapsed = now.saturating_duration_since(at);
        if elapsed < SAMPLE_EVERY {
            return;
        }
        let polls = polls();
        let polled = polls.wrapping_sub(polls_before);
        let slept = elapsed > LONGEST_SAMPLE;
        if polled < TRIAL_POLLS && !slept {
            // Polls are long: the sample gets longer.
            return;
        }
        *before = Some((now, polls));
        // A runtime that slept meanwhile, or had next to nothing to do, tells nothing.
        if slept {
            return;
        }
        let rate = polled.saturating_mul(1_000_000_000) / elapsed.as_nanos() as u64;
        trial.sample(rate, |alone, together| together.saturating_mul(100) / alone.max(1));
        self.pays.store(trial.is_on(), Plain::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Samples of a load of which this many polls are done between two samples, by one worker and by several. Returns
    /// the share of the samples that were taken with several.
    fn share_together(alone: u64, together: u64) -> f64 {
        let sharing = Sharing::new();
        let (mut now, mut polls, mut several) = (Instant::now(), 0, 0);
        const SAMPLES: u32 = 4_000;
        for _ in 0..SAMPLES {
            sharing.sample(now, || polls);
            now += SAMPLE_EVERY;
            several += u32::from(sharing.pays());
            polls += if sharing.pays() { together } else { alone };
        }
        f64::from(several) / f64::from(SAMPLES)
    }

    #[test]
    fn what_gets_more_done_is_kept_to_and_the_other_is_tried_now_and_then() {
        let share = share_together(300, 450);
        assert!(share > 0.95 && share < 1.0, "{share}");
        let share = share_together(300, 250);
        assert!(share > 0.0 && share < 0.05, "{share}");
        let share = share_together(300, 300);
        assert!(share > 0.95, "there is CPU time to spare: {share}");
    }

    #[test]
    fn a_runtime_that_sleeps_or_is_nearly_idle_tells_nothing() {
        let sharing = Sharing::new();
        let (mut now, mut polls) = (Instant::now(), 0);
        for sample in 0..1_000 {
            sharing.sample(now, || polls);
            let slept = sample % 2 == 0;
            now += SAMPLE_EVERY * if slept { 5 } else { 1 };
            polls += if slept { TRIAL_POLLS * 100 } else { 1 };
            assert!(sharing.pays());
        }
    }
}
