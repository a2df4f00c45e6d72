//! Detects whether other threads compete for the workers' CPUs, by the kernel's statistics.
//!
//! The kernel tells each thread how long it ran, and how long it was ready to run without getting a CPU. The share of
//! the latter is a worker's *wait*. If a worker has to wait although hardly any other worker of its runtime is awake,
//! others want the CPUs: clients, neighbours, or a quota. Then nothing is gained by waiting awake: a spin takes the CPU
//! from the thread that would send the next message, and uses up the worker's own share.

use std::cell::{Cell, OnceCell};
use std::time::Instant;

use super::policy::{AVERAGE_PARTS, CONTENDED_ABOVE, SAMPLE_AT_LEAST, SAMPLE_EVERY};
use crate::poller::{CpuTimes, RunDelay};
use crate::primitives::plain::{AtomicU64, Ordering as Plain};

/// The experience of a runtime's workers with their CPUs. Orders nothing: a worker that reads an old value decides
/// as it would have a moment ago.
#[derive(Default)]
pub(crate) struct CpuShare {
    /// The average wait of a worker that is alone, in percent.
    wait: AtomicU64,
}

impl CpuShare {
    /// Returns true if others want the CPUs that the workers run on.
    pub(crate) fn is_contended(&self) -> bool {
        self.wait.load(Plain::Relaxed) > CONTENDED_ABOVE
    }

    fn learn(&self, wait: u64) {
        let before = self.wait.load(Plain::Relaxed);
        self.wait.store((before * (AVERAGE_PARTS - 1) + wait) / AVERAGE_PARTS, Plain::Relaxed);
    }
}

/// One worker's questions to the OS.
pub(crate) struct Contention {
    account: OnceCell<RunDelay>,
    asked: Cell<Instant>,
    times: Cell<Option<CpuTimes>>,
    /// The worker was alone at the last question.
    was_alone: Cell<bool>,
}

impl Contention {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            account: OnceCell::new(),
            asked: Cell::new(now),
            times: Cell::new(None),
            was_alone: Cell::new(false),
        }
    }

    /// Asks the OS if it is time to, and has `share` learn from the answer. `is_alone` says whether hardly any other
    /// worker is awake at this moment. Returns true if the OS was asked and has answered. Called by the thread that the
    /// questions are about.
    #[inline]
    pub(crate) fn ask(
        &self,
        now: Instant,
        is_alone: impl FnOnce() -> bool,
        share: &CpuShare,
    ) -> bool {
        if now.saturating_duration_since(self.asked.get()) >= SAMPLE_EVERY {
            self.sample(now, is_alone(), share).is_some()
        } else {
            false
        }
    }

    #[cold]
    fn sample(&self, now: Instant, is_alone: bool, share: &CpuShare) -> Option<()> {
        self.asked.set(now);
        let was_alone = self.was_alone.replace(is_alone);
        let times = self.account.get_or_init(RunDelay::of_this_thread).read()?;
        let before = self.times.replace(Some(times));
        if was_alone && is_alone {
            // While other workers are awake, the wait may be due to them.
            if let Some(wait) = before.and_then(|before| wait_between(before, times)) {
                share.learn(wait);
            }
        }
        Some(())
    }
}

/// Returns the time for which a thread had to wait, in percent of the time in which it could have run.
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

    #[test]
    fn a_worker_that_waits_although_it_is_alone_is_in_contention() {
        let share = CpuShare::default();
        let learn = |wait| (0..32).for_each(|_| share.learn(wait));
        assert!(!share.is_contended());
        learn(40);
        assert!(share.is_contended());
        share.learn(0);
        assert!(share.is_contended(), "once is not enough");
        learn(5);
        assert!(!share.is_contended());
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
