//! Whether there are CPUs for the workers, going by what the kernel tells.
//!
//! The kernel tells each thread how long it ran, and how long it was ready to run without getting a CPU. The share of
//! the latter is a worker's *wait*. It answers two questions:
//!
//! - **Are the CPUs contended?** If a worker has to wait although hardly any other worker of its runtime is awake,
//!   somebody else wants the CPUs: clients, neighbours, or a quota. Then nothing is gained by waiting awake: a spin takes
//!   the CPU from the thread that is to send the next message, and uses up the worker's own share. A worker that is awake
//!   can't be relied on to look at the OS, because it may be kept from running for milliseconds. And a second worker
//!   brings a larger share, for the kernel divides the CPUs by threads.
//! - **Does a second worker bring CPU time?** If nobody else wants the CPUs, but the workers have to wait once several
//!   of them are awake, they take the CPUs from each other and from their clients. With one load process on two cores
//!   each of two workers waits for 45 % of the time: together they have hardly more than one of them alone, and pay for
//!   pushing each other off the CPU. Where requests do work and the client is mostly idle it is 17 %.
//!
//! So the wait is averaged separately for the times when a worker was alone, or nearly so, and for the others. The
//! second average is forgotten after a while, so that a second worker gets a chance to be measured again.

use std::cell::{Cell, OnceCell};
use std::time::Instant;

use super::policy::{
    CONTENDED_ABOVE, CROWDED_ABOVE, CROWDED_FOR, SAMPLE_AT_LEAST, SAMPLE_EVERY, SAMPLE_WEIGHT,
};
use crate::poller::{CpuTimes, RunDelay};
use crate::primitives::plain::{AtomicU64, Ordering as Plain};

/// What the workers of a runtime have learnt about their CPUs. Orders nothing: who reads an old value decides as it
/// would have a moment ago.
#[derive(Default)]
pub(crate) struct CpuShare {
    /// The average wait of a worker that is alone, in percent.
    alone: AtomicU64,
    /// The average wait while several workers are awake, in percent.
    together: AtomicU64,
    /// When that was last measured, in nanoseconds since the process's epoch.
    together_at: AtomicU64,
}

impl CpuShare {
    /// True if others want the CPUs that the workers run on.
    pub(crate) fn is_contended(&self) -> bool {
        self.alone.load(Plain::Relaxed) > CONTENDED_ABOVE
    }

    /// True if, at a time, one more worker would bring hardly any CPU time.
    pub(crate) fn is_crowded(&self, now: Instant) -> bool {
        let since =
            windlass_timer::nanos(now).saturating_sub(self.together_at.load(Plain::Relaxed));
        !self.is_contended()
            && self.together.load(Plain::Relaxed) > CROWDED_ABOVE
            && since < CROWDED_FOR.as_nanos() as u64
    }

    fn learn(&self, now: Instant, alone: bool, wait: u64) {
        let average = if alone { &self.alone } else { &self.together };
        let before = average.load(Plain::Relaxed);
        average.store((before * (SAMPLE_WEIGHT - 1) + wait) / SAMPLE_WEIGHT, Plain::Relaxed);
        if !alone {
            self.together_at.store(windlass_timer::nanos(now), Plain::Relaxed);
        }
    }
}

/// One worker's questions to the OS.
pub(crate) struct Contention {
    account: OnceCell<RunDelay>,
    asked: Cell<Instant>,
    times: Cell<Option<CpuTimes>>,
    /// Several workers were awake since the last question.
    together: Cell<bool>,
}

impl Contention {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            account: OnceCell::new(),
            asked: Cell::new(now),
            times: Cell::new(None),
            together: Cell::new(false),
        }
    }

    /// The worker has woken another one.
    pub(crate) fn woke_another(&self) {
        self.together.set(true);
    }

    /// Asks the OS if it is time to, and has `share` learn from the answer. `is_alone` says whether hardly any other
    /// worker is awake at this moment. Called by the thread that the questions are about.
    #[inline]
    pub(crate) fn ask(&self, now: Instant, is_alone: impl FnOnce() -> bool, share: &CpuShare) {
        if now.saturating_duration_since(self.asked.get()) >= SAMPLE_EVERY {
            self.sample(now, is_alone(), share);
        }
    }

    #[cold]
    fn sample(&self, now: Instant, alone: bool, share: &CpuShare) {
        self.asked.set(now);
        let together = self.together.replace(!alone) || !alone;
        let Some(times) = self.account.get_or_init(RunDelay::of_this_thread).read() else { return };
        let before = self.times.replace(Some(times));
        if let Some(wait) = before.and_then(|before| wait_between(before, times)) {
            share.learn(now, !together, wait);
        }
    }
}

/// Returns the percentage of the time for which a thread had to wait, of that in which it could have run.
fn wait_between(before: CpuTimes, after: CpuTimes) -> Option<u64> {
    let ran = after.ran.saturating_sub(before.ran);
    let waited = after.waited.saturating_sub(before.waited);
    let ready = ran.saturating_add(waited);
    (ready >= SAMPLE_AT_LEAST.as_nanos() as u64).then(|| waited.saturating_mul(100) / ready)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    const MILLI: u64 = 1_000_000;

    #[test]
    fn the_wait_is_a_share_of_the_time_in_which_a_thread_could_have_run() {
        let before = CpuTimes { ran: 7 * MILLI, waited: 3 * MILLI };
        let wait = |ran, waited| {
            wait_between(before, CpuTimes { ran: before.ran + ran, waited: before.waited + waited })
        };
        assert_eq!(wait(3 * MILLI, MILLI), Some(25));
        assert_eq!(wait(0, MILLI), Some(100), "it did not run at all");
        assert_eq!(wait(0, 0), None, "it did not want to");
        assert_eq!(wait(10_000, 10_000), None, "it hardly wanted to");
    }

    fn learn(share: &CpuShare, now: Instant, alone: bool, wait: u64) {
        (0..32).for_each(|_| share.learn(now, alone, wait));
    }

    #[test]
    fn a_worker_that_waits_although_it_is_alone_is_in_contention() {
        let (share, now) = (CpuShare::default(), Instant::now());
        assert!(!share.is_contended());
        learn(&share, now, false, 90);
        assert!(!share.is_contended(), "that may be of our own making");
        learn(&share, now, true, 40);
        assert!(share.is_contended());
        share.learn(now, true, 0);
        assert!(share.is_contended(), "once is not enough");
        learn(&share, now, true, 5);
        assert!(!share.is_contended());
    }

    #[test]
    fn workers_that_take_the_cpus_from_each_other_are_crowded_for_a_while() {
        let (share, now) = (CpuShare::default(), Instant::now());
        learn(&share, now, false, 17);
        assert!(!share.is_crowded(now));
        learn(&share, now, false, 45);
        assert!(share.is_crowded(now));
        assert!(!share.is_crowded(now + CROWDED_FOR), "it is time to try again");
        learn(&share, now, true, 40);
        assert!(!share.is_crowded(now), "it is others, and a second worker brings a larger share");
    }

    #[test]
    fn the_os_is_asked_now_and_then_only() {
        let (share, start) = (CpuShare::default(), Instant::now());
        let contention = Contention::new(start);
        for micros in 0..SAMPLE_EVERY.as_micros() as u64 {
            contention.ask(start + Duration::from_micros(micros), || true, &share);
        }
        assert!(contention.account.get().is_none());
        contention.ask(start + SAMPLE_EVERY, || true, &share);
        assert!(contention.account.get().is_some());
    }
}
