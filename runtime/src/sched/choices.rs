//! Measures whether one worker or several, and spinning or sleeping, gets more done, and keeps the better way.
//!
//! On a machine with idle CPUs a second worker does its part of the backlog sooner. Beside one client on two CPUs, both
//! are in use already: two workers push each other and the client off the CPUs, with messages in their hands, and get
//! less done than one. Where neighbours or many clients want the CPUs, a second thread brings a larger share of them.
//! And what is right for requests that compute is wrong for an echo. No rule about waiting times or numbers of CPUs
//! tells these apart, but the result does: how many polls the workers complete in a second.
//!
//! A spin that meets work saves a wake-up, and can still cost more than it saves: while a worker sleeps,
//! messages gather, and one wake-up is for all of them. That shows in the CPU time of a poll. It is that
//! of all threads together, because what one worker spends another may save: the one that spins takes the
//! messages away from the one that sleeps.
//!
//! So the workers try both ways ([`Trial`]) and keep the better one. They try one thing at a time.
//!
//! One way is known to be worse without a trial: workers that use more CPU time together than one CPU has can't do the
//! same with one of them, and all that they serve would wait meanwhile. This does not hold for computations, because
//! they use every CPU there is, beside tasks that one worker may serve better. So while anything computes, one worker
//! is tried. The CPU time of threads that are not workers (the blocking pool, another runtime) counts too: beside them,
//! one worker is tried less often than it could be.
//!
//! A load that comes in short bursts shows no rate. So a trial ends without a result when the runtime goes to sleep, and
//! what was found once is forgotten if no sample has confirmed it for a while ([`FORGET_AFTER`]).

use std::time::Instant;

use super::policy::{
    BEYOND_ONE_CPU, FORGET_AFTER, LONGEST_SAMPLE, SAMPLE_EVERY, SHARING_TRIALS, SPIN_TRIALS,
    TRIAL_POLLS,
};
use super::trial::Trial;
use crate::primitives::TryLock;
use crate::primitives::plain::{AtomicBool, Ordering as Plain};

/// A runtime's choices. They order nothing: a worker that reads an old value decides as it would have a moment ago.
pub(crate) struct Choices {
    shares: AtomicBool,
    spins: AtomicBool,
    record: TryLock<Option<Record>>,
}

struct Record {
    sharing: Trial,
    spinning: Trial,
    before: Reading,
    /// The times of the last samples of the rate and of the cost.
    rated: Instant,
    costed: Instant,
    /// The CPU time and the elapsed time, in nanoseconds, of the samples for which work has been shared since one
    /// worker was last considered.
    used: u64,
    elapsed: u64,
    /// True if something has computed since then.
    computed: bool,
}

/// The values that a sample compares with the one before.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) at: Instant,
    /// The polls of all workers.
    pub(super) polls: u64,
    /// The CPU time of all threads, in nanoseconds, if the OS tells.
    pub(super) cpu_time: Option<u64>,
    /// The split points of all computations.
    pub(super) splits: u64,
    /// True if something computes at this moment.
    pub(super) computes: bool,
}

impl Record {
    fn new(reading: Reading) -> Self {
        Self {
            sharing: Trial::new(SHARING_TRIALS),
            spinning: Trial::new(SPIN_TRIALS),
            before: reading,
            rated: reading.at,
            costed: reading.at,
            used: 0,
            elapsed: 0,
            computed: reading.computes,
        }
    }

    /// Takes a sample of the rate of polls.
    fn sample_rate(&mut self, before: Reading, reading: Reading) {
        let elapsed = nanos_between(before.at, reading.at);
        self.rated = reading.at;
        if let (Some(used_before), Some(used)) = (before.cpu_time, reading.cpu_time) {
            self.used += used.saturating_sub(used_before);
            self.elapsed += elapsed;
        }
        if self.sharing.is_on() && self.sharing.is_due() && self.needs_several() {
            self.sharing.postpone();
            self.share_anew(reading);
        }
        let polled = reading.polls.wrapping_sub(before.polls);
        let rate = polled.saturating_mul(1_000_000_000) / elapsed.max(1);
        self.sharing.sample(rate, |alone, together| percent(together, alone));
        if self.sharing.is_trial() || !self.sharing.is_on() {
            self.share_anew(reading);
        }
    }

    /// Takes a sample of the CPU time of a poll.
    fn sample_cost(&mut self, cost: u64, reading: Reading) {
        self.costed = reading.at;
        self.spinning.sample(cost, percent);
    }

    /// The runtime slept: neither a trial nor what was found before it has been confirmed.
    fn slept(&mut self, now: Instant, has_cost: bool) {
        let is_forgotten = |sampled| now.saturating_duration_since(sampled) > FORGET_AFTER;
        self.sharing.abort();
        if is_forgotten(self.rated) {
            self.sharing.forget();
        }
        if !has_cost {
            self.spinning.abort();
            if is_forgotten(self.costed) {
                self.spinning.forget();
            }
        }
    }

    fn share_anew(&mut self, reading: Reading) {
        (self.used, self.elapsed) = (0, 0);
        self.computed = reading.computes;
    }

    /// Returns true if the workers have used more CPU time than one of them could have.
    fn needs_several(&self) -> bool {
        !self.computed && percent(self.used, self.elapsed) > BEYOND_ONE_CPU
    }
}

impl Choices {
    pub(crate) fn new() -> Self {
        Self {
            shares: AtomicBool::new(true),
            spins: AtomicBool::new(true),
            record: TryLock::new(None),
        }
    }

    /// Returns true if a second worker should be woken for a backlog.
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
        let Some(record) = &mut *record else {
            *record = Some(Record::new(read()));
            return;
        };
        let before = record.before;
        let elapsed = now.saturating_duration_since(before.at);
        if elapsed < SAMPLE_EVERY {
            return;
        }
        let reading = read();
        let polled = reading.polls.wrapping_sub(before.polls);
        // The runtime slept meanwhile, or had next to nothing to do, which says nothing about several workers.
        let slept = elapsed > LONGEST_SAMPLE;
        if polled < TRIAL_POLLS && !slept {
            // Polls are long: the sample gets longer.
            return;
        }
        record.before = reading;
        record.computed |= reading.computes || reading.splits != before.splits;
        if slept {
            record.slept(now, polled >= TRIAL_POLLS);
        } else if !record.spinning.is_trial() {
            record.sample_rate(before, reading);
        }
        if let (Some(used_before), Some(used)) = (before.cpu_time, reading.cpu_time) {
            if polled >= TRIAL_POLLS && !record.sharing.is_trial() {
                record.sample_cost(used.saturating_sub(used_before) / polled, reading);
            }
        }
        self.shares.store(record.sharing.is_on(), Plain::Relaxed);
        self.spins.store(record.spinning.is_on(), Plain::Relaxed);
    }
}

fn nanos_between(start: Instant, end: Instant) -> u64 {
    end.saturating_duration_since(start).as_nanos() as u64
}

fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100) / whole.max(1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    const SAMPLES: u32 = 4_000;

    /// Takes samples of a load. `load` returns the polls and the CPU time between two samples, depending on what is
    /// chosen. Returns the shares of the samples with several workers and with spinning.
    fn shares(load: impl Fn(bool, bool) -> (u64, u64)) -> (f64, f64) {
        shares_beside(false, load)
    }

    /// Like [`shares`], but with something that computes all the time if `computes` is true.
    fn shares_beside(computes: bool, load: impl Fn(bool, bool) -> (u64, u64)) -> (f64, f64) {
        let choices = Choices::new();
        let (mut now, mut polls, mut used) = (Instant::now(), 0, 0);
        let (mut several, mut spinning) = (0, 0);
        for _ in 0..SAMPLES {
            choices.sample(now, || Reading {
                at: now,
                polls,
                cpu_time: Some(used),
                splits: 0,
                computes,
            });
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
            (if several { 100 } else { 120 }, if spinning { 17_000 } else { 11_000 })
        });
        assert!(several < 0.05 && spinning < 0.05, "{several} {spinning}");
        let (several, spinning) = shares(|several, spinning| {
            (if several { 100 } else { 70 }, if spinning { 19_000 } else { 24_000 })
        });
        assert!(several > 0.95 && spinning > 0.95, "{several} {spinning}");
    }

    #[test]
    fn one_worker_is_not_tried_while_all_use_more_than_it_could_unless_something_computes() {
        let alone_does = |computes, cost_together| {
            shares_beside(
                computes,
                |several, _| if several { (400, cost_together) } else { (500, 4_000) },
            )
            .0
        };
        // In 2 ms, 400 polls of 8 µs are 1.6 CPUs, and 400 of 4 µs are 0.8.
        assert_eq!(alone_does(false, 8_000), 1.0);
        assert!(alone_does(true, 8_000) < 0.05);
        assert!(alone_does(false, 4_000) < 0.05);
    }

    #[test]
    fn a_runtime_that_sleeps_or_is_nearly_idle_tells_nothing_about_several_workers() {
        let choices = Choices::new();
        let (mut now, mut polls) = (Instant::now(), 0);
        for sample in 0..1_000 {
            choices.sample(now, || Reading {
                at: now,
                polls,
                cpu_time: None,
                splits: 0,
                computes: false,
            });
            let slept = sample % 2 == 0;
            now += SAMPLE_EVERY * if slept { 5 } else { 1 };
            polls += if slept { TRIAL_POLLS * 100 } else { 1 };
            assert!(choices.shares() && choices.spins());
        }
    }

    /// Feeds a load that is busy for some times and asleep for others. Returns whether work was shared in each busy time.
    fn shared_in_bursts(
        bursts: impl IntoIterator<Item = (Duration, Duration)>,
        load: impl Fn(bool) -> (u64, u64),
    ) -> Vec<bool> {
        const STEP: Duration = Duration::from_micros(250);
        let choices = Choices::new();
        let (mut now, mut polls, mut used) = (Instant::now(), 0, 0);
        let mut busy_for = |busy: Duration, asleep: Duration| {
            now += asleep;
            let mut shared = true;
            for _ in 0..busy.as_micros() / STEP.as_micros() {
                now += STEP;
                shared &= choices.shares();
                let (polled, cost) = load(choices.shares());
                polls += polled;
                used += cost * polled;
                choices.sample(now, || Reading {
                    at: now,
                    polls,
                    cpu_time: Some(used),
                    splits: 0,
                    computes: false,
                });
            }
            shared
        };
        bursts.into_iter().map(|(busy, asleep)| busy_for(busy, asleep)).collect()
    }

    const MILLI: Duration = Duration::from_millis(1);

    /// A trial that had begun when a load became a series of short bursts went on for ever, with one worker.
    #[test]
    fn a_trial_that_a_sleep_interrupts_is_over() {
        for first in 10..=40 {
            let frames = std::iter::repeat_n((MILLI * 3 / 2, MILLI * 15), 1_000);
            let shared =
                shared_in_bursts([(MILLI * first, MILLI)].into_iter().chain(frames), |several| {
                    (if several { 20 } else { 10 }, 2_000)
                });
            let alone = shared[1..].iter().filter(|shared| !**shared).count();
            assert!(alone <= 1, "after {first} ms: alone in {alone} bursts");
        }
    }

    /// What a steady load had shown held for all bursts of another one, as long as none was long enough to be measured.
    #[test]
    fn what_a_load_has_shown_is_forgotten_in_time() {
        let steady = std::iter::repeat_n((MILLI * 4_000, MILLI), 1);
        let bursts = std::iter::repeat_n((MILLI, MILLI * 100), 100);
        let shared = shared_in_bursts(steady.chain(bursts), |several| {
            (if several { 100 } else { 130 }, 1_800)
        });
        assert!(!shared[1], "one worker did more");
        assert!(shared[20..].iter().all(|shared| *shared), "{shared:?}");
    }

    /// CPU time was averaged over sleeps, so one worker was tried for bursts that take several CPUs.
    #[test]
    fn sleeps_hide_no_load_that_takes_several_cpus() {
        let bursts = std::iter::repeat_n((MILLI * 20, MILLI * 60), 500);
        let shared = shared_in_bursts(bursts, |several| (if several { 80 } else { 27 }, 9_000));
        assert!(shared.iter().all(|shared| *shared));
    }
}
