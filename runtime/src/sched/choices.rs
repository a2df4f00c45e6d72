//! What the workers of a runtime have found to be better by trying both: one worker or several for a backlog, and
//! spinning or sleeping at once when there is nothing to do.
//!
//! On a machine with idle CPUs a second worker does its part of the backlog sooner. Beside one client on two CPUs, both
//! are in use already: two workers push each other and the client off the CPUs, with messages in their hands, and get
//! less done than one. Where neighbours or many clients want the CPUs, a second thread brings a larger share of them.
//! And what is right for requests that compute is wrong for an echo. No rule about waiting times or numbers of CPUs
//! tells these apart, but the result does: how many polls the workers complete in a second.
//!
//! A spin that meets work saves a wake-up, and can still cost more than it saves: while a worker sleeps, messages gather,
//! and one wake-up is for all of them. That shows in the CPU time of a poll. It is that of all threads together, because
//! what one worker spends another may save: the one that spins takes the messages away from the one that sleeps.
//!
//! So the workers try both ways ([`Trial`]) and keep to the better one; and they try one thing at a time.

use std::time::Instant;

use super::policy::{LONGEST_SAMPLE, SAMPLE_EVERY, SHARING_TRIALS, SPIN_TRIALS, TRIAL_POLLS};
use super::trial::Trial;
use crate::primitives::TryLock;
use crate::primitives::plain::{AtomicBool, Ordering as Plain};

/// A runtime's choices. They order nothing: a worker that reads an old value decides as it would have a moment ago.
pub(crate) struct Choices {
    shares: AtomicBool,
    spins: AtomicBool,
    record: TryLock<Record>,
}

struct Record {
    sharing: Trial,
    spinning: Trial,
    before: Option<Reading>,
}

/// What a sample compares with the one before.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) at: Instant,
    /// The polls of all workers.
    pub(super) polls: u64,
    /// The CPU time of all threads, in nanoseconds, if the OS tells.
    pub(super) cpu_time: Option<u64>,
}

impl Choices {
    pub(crate) fn new() -> Self {
        let record = Record {
            sharing: Trial::new(SHARING_TRIALS),
            spinning: Trial::new(SPIN_TRIALS),
            before: None,
        };
        Self {
            shares: AtomicBool::new(true),
            spins: AtomicBool::new(true),
            record: TryLock::new(record),
        }
    }

    /// Returns true if a second worker is to be woken for a backlog.
    pub(super) fn shares(&self) -> bool {
        self.shares.load(Plain::Relaxed)
    }

    /// Returns true if a worker may spin before it sleeps.
    pub(super) fn spins(&self) -> bool {
        self.spins.load(Plain::Relaxed)
    }

    /// Takes a sample if it is time to.
    pub(super) fn sample(&self, now: Instant, read: impl FnOnce() -> Reading) {
        let Some(mut record) = self.record.try_lock() else { return };
        let Some(before) = record.before else {
            record.before = Some(read());
            return;
        };
        let elapsed = now.saturating_duration_since(before.at);
        if elapsed < SAMPLE_EVERY {
            return;
        }
        let reading = read();
        let polled = reading.polls.wrapping_sub(before.polls);
        // The runtime slept meanwhile, or had next to nothing to do: that tells nothing about several workers.
        let slept = elapsed > LONGEST_SAMPLE;
        if polled < TRIAL_POLLS && !slept {
            // Polls are long: the sample gets longer.
            return;
        }
        record.before = Some(reading);
        let Record { sharing, spinning, .. } = &mut *record;
        if !slept && !spinning.is_trial() {
            let rate = polled.saturating_mul(1_000_000_000) / elapsed.as_nanos() as u64;
            sharing.sample(rate, |alone, together| percent(together, alone));
            self.shares.store(sharing.is_on(), Plain::Relaxed);
        }
        if let (Some(used_before), Some(used)) = (before.cpu_time, reading.cpu_time) {
            if polled >= TRIAL_POLLS && !sharing.is_trial() {
                let cost = used.saturating_sub(used_before) / polled;
                spinning.sample(cost, percent);
                self.spins.store(spinning.is_on(), Plain::Relaxed);
            }
        }
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100) / whole.max(1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SAMPLES: u32 = 4_000;

    /// Samples of a load, of which `load` tells the polls and the CPU time between two samples by what is chosen.
    /// Returns the shares of the samples with several workers and with spinning.
    fn shares(load: impl Fn(bool, bool) -> (u64, u64)) -> (f64, f64) {
        let choices = Choices::new();
        let (mut now, mut polls, mut used) = (Instant::now(), 0, 0);
        let (mut several, mut spinning) = (0, 0);
        for _ in 0..SAMPLES {
            choices.sample(now, || Reading { at: now, polls, cpu_time: Some(used) });
            now += SAMPLE_EVERY;
            several += u32::from(choices.shares());
            spinning += u32::from(choices.spins());
            let (polled, cost) = load(choices.shares(), choices.spins());
            polls += polled;
            used += cost * polled;
        }
        let share = |samples| f64::from(samples) / f64::from(SAMPLES);
        (share(several), share(spinning))
    }

    #[test]
    fn what_gets_more_done_is_kept_to_and_the_other_is_tried_now_and_then() {
        let share = |together| shares(|several, _| (if several { together } else { 300 }, 10)).0;
        assert!((0.95..1.0).contains(&share(450)), "{}", share(450));
        assert!(share(250) > 0.0 && share(250) < 0.05, "{}", share(250));
        assert!(share(300) > 0.95, "there is CPU time to spare: {}", share(300));
    }

    #[test]
    fn what_costs_less_is_kept_to_even_if_both_have_to_be_found_out() {
        let (several, spinning) = shares(|several, spinning| {
            (if several { 250 } else { 300 }, if spinning { 17_000 } else { 11_000 })
        });
        assert!(several < 0.05 && spinning < 0.05, "{several} {spinning}");
        let (several, spinning) = shares(|several, spinning| {
            (if several { 450 } else { 300 }, if spinning { 19_000 } else { 24_000 })
        });
        assert!(several > 0.95 && spinning > 0.95, "{several} {spinning}");
    }

    #[test]
    fn a_runtime_that_sleeps_or_is_nearly_idle_tells_nothing_about_several_workers() {
        let choices = Choices::new();
        let (mut now, mut polls) = (Instant::now(), 0);
        for sample in 0..1_000 {
            choices.sample(now, || Reading { at: now, polls, cpu_time: None });
            let slept = sample % 2 == 0;
            now += SAMPLE_EVERY * if slept { 5 } else { 1 };
            polls += if slept { TRIAL_POLLS * 100 } else { 1 };
            assert!(choices.shares() && choices.spins());
        }
    }
}
