//! What a busy worker does by time: it looks out for what comes from outside, and sees when there is too much for it alone.

use std::time::{Duration, Instant};

use super::slot::LONG_POLL;
use super::worker::Worker;
use crate::poller::times_preempted;
use crate::task::Runnable;

/// Polls between two looks at the clock, while polls are short.
pub(super) const POLLS_PER_CLOCK: u32 = 16;
/// Running time after which the lane and the injector are looked at, in nanoseconds.
const LOOK_OUT_EVERY: u64 = 50_000;
const LOOK_OUT: Duration = Duration::from_nanos(LOOK_OUT_EVERY);
/// What it costs to wake a thread on an idle core, in nanoseconds. Queued work that is done sooner
/// than that is not worth a second worker.
const WAKE_COST: u64 = 30_000;
/// How long a smaller backlog must last to be worth a second worker, in nanoseconds.
const LONG_BACKLOG: u64 = 200_000;
/// A backlog that is worth a second worker also where the CPUs are wanted by others, in nanoseconds.
const LARGE_BACKLOG: u64 = 1_000_000;

impl Worker {
    /// From here on the clock counts afresh: what was done until now says nothing about polls.
    pub(crate) fn restart_clock(&self, now: Instant) {
        self.clock.set(now);
        self.until_clock.set(self.polls_per_clock.get());
    }

    /// A poll that turned out to be a computation is over. How long it took says nothing about polls; but if the next
    /// ones compute as well, nobody would look out.
    pub(crate) fn look_at_clock_next(&self, now: Instant) {
        self.restart_clock(now);
        // Models must not go by how fast the machine is: no time passes there.
        if cfg!(not(loom)) {
            self.until_clock.set(1);
            self.computed.set(true);
        }
    }

    /// Keeps the average up to date, looks out for what came from outside, and wakes a second
    /// worker if there is enough to do.
    pub(super) fn look_at_clock(&self) -> Option<Runnable> {
        let now = Instant::now();
        if self.computed.replace(false) {
            self.restart_clock(now);
        } else {
            self.measure_polls(now);
        }
        self.consider_waking();

        if nanos_between(self.last_look_out.get(), now) < LOOK_OUT_EVERY {
            return None;
        }
        self.last_look_out.set(now);
        // Computations get their turn also if there is no end of tasks. Inside, split points look out.
        if let Some(job) = self.take_posted_in_turn() {
            self.run_job(job);
        }
        if let Some(root) = self.take_root() {
            return Some(root);
        }
        if self.slot().counters.poll_time.get() >= LONG_POLL {
            // Whatever we took would wait behind our own long polls: others get there sooner. But
            // one task we owe to those who wait.
            return self.pool.take_one();
        }
        if self.look_at_os(now) {
            self.watch_over_kept();
        }
        let first = self.take_shared()?;
        if !self.pool.injector.is_empty() {
            // More is waiting than one batch: look again after one round of what is queued, so
            // that both sides advance.
            let round = self.queue.len() as u32 + 1;
            self.until_clock.set(round.min(POLLS_PER_CLOCK * 4));
            self.polls_per_clock.set(self.until_clock.get());
            self.last_look_out.set(now.checked_sub(LOOK_OUT).unwrap_or(now));
        }
        Some(first)
    }

    fn measure_polls(&self, now: Instant) {
        let polls = self.polls_per_clock.get();
        let elapsed = nanos_between(self.clock.replace(now), now);
        let average = &self.slot().counters.poll_time;
        average.set((average.get() * 3 + elapsed / u64::from(polls)) / 4);
        // With long polls the clock is read more often, so that looking out stays in time.
        let in_time = LOOK_OUT_EVERY / average.get().max(1);
        let polls = in_time.clamp(1, POLLS_PER_CLOCK.into()) as u32;
        self.polls_per_clock.set(polls);
        self.until_clock.set(polls);
    }

    /// Harvests if the round is over, and else fires the timers that are due; true if that woke anybody.
    fn look_at_os(&self, now: Instant) -> bool {
        if !self.round.is_over(now, self.slot().polls_done()) {
            return self.fire_timers();
        }
        let harvested = self.harvest();
        self.begin_round(now);
        harvested
    }

    /// The OS has just been looked at.
    pub(super) fn begin_round(&self, now: Instant) {
        self.round.begin(now, self.slot().polls_done(), self.queue.len());
    }

    /// Wakes a sleeper if this worker has more to do than a wake-up costs, or for long has had
    /// some part of that; where the CPUs are wanted by others, if it has a lot to do.
    pub(super) fn consider_waking(&self) {
        let backlog = self.slot().backlog();
        if backlog < WAKE_COST / 8 {
            self.busy_since.set(self.clock.get());
        }
        let for_long = nanos_between(self.busy_since.get(), self.clock.get()) > LONG_BACKLOG;
        let enough = backlog > WAKE_COST || for_long;
        if enough
            && self.pool.sleepers.would_wake()
            && (backlog > LARGE_BACKLOG || !self.crowd.is_dense(self.clock.get(), times_preempted))
        {
            self.busy_since.set(self.clock.get());
            self.pool.wake_one();
        }
    }
}

fn nanos_between(earlier: Instant, later: Instant) -> u64 {
    later.saturating_duration_since(earlier).as_nanos() as u64
}
