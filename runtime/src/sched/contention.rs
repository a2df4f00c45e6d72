//! Whether the CPUs that the workers run on are wanted by others: clients, neighbours, or a quota.
//!
//! The kernel tells each thread how long it ran, and how long it was ready to run without getting a CPU. If a worker had
//! to wait although hardly any other worker of its runtime is awake, the CPUs are contended. Then nothing is gained by
//! waiting awake: a spin takes the CPU from the very thread that is to send the next message, and uses up the worker's
//! own share. And a worker that is awake can't be relied on to look at the OS, because it may be kept from running for
//! milliseconds.
//!
//! What workers of the same runtime take from each other does not count. So a worker asks only while few of them are
//! awake; in between, the last answer stands.

use std::cell::{Cell, OnceCell};
use std::time::Instant;

use super::policy::{CONTENDED_ABOVE, CONTENTION_SAMPLE, SAMPLE_AT_LEAST};
use crate::poller::{CpuTimes, RunDelay};

/// One worker's questions to the OS.
pub(crate) struct Contention {
    account: OnceCell<RunDelay>,
    asked: Cell<Instant>,
    times: Cell<Option<CpuTimes>>,
}

impl Contention {
    pub(crate) fn new(now: Instant) -> Self {
        Self { account: OnceCell::new(), asked: Cell::new(now), times: Cell::new(None) }
    }

    /// Asks the OS if it is time to. Returns whether the CPUs are contended, if there is an answer. With `alone`, the
    /// time since the last question counts. Called by the thread that the questions are about.
    pub(crate) fn ask(&self, now: Instant, alone: bool) -> Option<bool> {
        if now.saturating_duration_since(self.asked.get()) < CONTENTION_SAMPLE {
            return None;
        }
        self.asked.set(now);
        let account = self.account.get_or_init(RunDelay::of_this_thread);
        let times = account.read()?;
        let before = self.times.replace(Some(times))?;
        if alone { judge(before, times) } else { None }
    }
}

/// Returns whether a thread had to wait for long between the two.
fn judge(before: CpuTimes, after: CpuTimes) -> Option<bool> {
    let ran = after.ran.saturating_sub(before.ran);
    let waited = after.waited.saturating_sub(before.waited);
    let ready = ran.saturating_add(waited);
    (ready >= SAMPLE_AT_LEAST.as_nanos() as u64)
        .then(|| waited.saturating_mul(100) > ready.saturating_mul(CONTENDED_ABOVE))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    fn judged(ran: u64, waited: u64) -> Option<bool> {
        let before = CpuTimes { ran: 7 * MILLI, waited: 3 * MILLI };
        judge(before, CpuTimes { ran: before.ran + ran, waited: before.waited + waited })
    }

    #[test]
    fn a_thread_that_waits_for_a_fifth_of_the_time_is_in_contention() {
        assert_eq!(judged(2 * MILLI, 0), Some(false));
        assert_eq!(judged(2 * MILLI, MILLI / 4), Some(false));
        assert_eq!(judged(2 * MILLI, MILLI), Some(true));
        assert_eq!(judged(0, MILLI), Some(true), "it did not run at all");
    }

    #[test]
    fn a_thread_that_hardly_wanted_to_run_says_nothing() {
        assert_eq!(judged(0, 0), None);
        assert_eq!(judged(10_000, 10_000), None);
    }

    #[test]
    fn the_os_is_asked_now_and_then_only_and_an_answer_needs_two_questions() {
        let start = Instant::now();
        let contention = Contention::new(start);
        assert_eq!(contention.ask(start, true), None);
        assert!(contention.account.get().is_none(), "it was asked at once");
        assert_eq!(contention.ask(start + CONTENTION_SAMPLE, true), None, "the first answer");
        assert_eq!(contention.ask(start + CONTENTION_SAMPLE, true), None, "too soon");
    }
}
