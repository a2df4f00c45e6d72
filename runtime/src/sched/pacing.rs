//! The pacing of a busy worker: when it reads the clock and looks at the shared queues, the timers and the OS, and how
//! long its polls take.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::choices::Reading;
use super::policy::{
    AVERAGE_PARTS, LASTING_BACKLOG, LONG_AVERAGE_POLL, LOOK_INTERVAL, NO_BACKLOG, POLLS_PER_CLOCK,
    POLLS_PER_SHARED_BATCH, PUSHES_PER_THOUGHT, SHARED_BATCH, TIMELESS, WAKE_COST,
};
use super::round::Round;
use super::worker::Worker;
use crate::poller::RunDelay;
use crate::task::Runnable;

/// One worker's clock and counts between two readings of it.
pub(crate) struct Pacing {
    /// When the clock was last read.
    now: Cell<Instant>,
    /// Polls left before the clock is read again.
    until_clock: Cell<u32>,
    polls_per_clock: Cell<u32>,
    /// True if the last poll turned out to be a computation, whose time says nothing about polls.
    computed: Cell<bool>,
    /// True if the last poll was a root or a job, and not the poll of a task.
    ran_root: Cell<bool>,
    last_look: Cell<Instant>,
    /// Since when there has been a backlog.
    busy_since: Cell<Instant>,
    /// Pushes left before the worker considers waking a second one.
    until_thought: Cell<u32>,
    /// How often the worker has looked at a few of the others.
    glances: Cell<usize>,
    round: Round,
}

impl Pacing {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            now: Cell::new(now),
            until_clock: Cell::new(POLLS_PER_CLOCK),
            polls_per_clock: Cell::new(POLLS_PER_CLOCK),
            computed: Cell::new(false),
            ran_root: Cell::new(false),
            last_look: Cell::new(now),
            busy_since: Cell::new(now),
            until_thought: Cell::new(PUSHES_PER_THOUGHT),
            glances: Cell::new(0),
            round: Round::new(now),
        }
    }

    /// Counts a poll. Returns true if it is time to read the clock.
    #[inline]
    pub(crate) fn count_poll(&self) -> bool {
        let left = self.until_clock.get() - 1;
        self.until_clock.set(left);
        left == 0
    }

    /// Counts a push. Returns true if it is time to consider waking a second worker.
    #[inline]
    pub(crate) fn count_push(&self) -> bool {
        let left = self.until_thought.get() - 1;
        self.until_thought.set(if left == 0 { PUSHES_PER_THOUGHT } else { left });
        left == 0
    }

    /// Starts counting anew from this reading of the clock, because what was done until now says nothing about polls.
    pub(crate) fn restart(&self, now: Instant) {
        self.now.set(now);
        self.until_clock.set(self.polls_per_clock.get());
    }

    /// Called when a search is over. What it found may take long, and there was no backlog until now.
    pub(crate) fn begin(&self, now: Instant) {
        self.restart(now);
        self.last_look.set(now);
        self.busy_since.set(now);
    }

    /// Called when a poll that turned out to be a computation is over, or a root or job. If the next polls compute as
    /// well, no worker would look at the shared queues, so the clock is read before the next.
    pub(crate) fn computed(&self, now: Instant, is_of_task: bool) {
        self.restart(now);
        if !TIMELESS {
            self.until_clock.set(1);
            self.computed.set(true);
            self.ran_root.set(!is_of_task);
        }
    }

    /// Returns true if the worker has not looked at the shared queues for `time`.
    pub(crate) fn is_look_due(&self, now: Instant, time: Duration) -> bool {
        now.saturating_duration_since(self.last_look.get()) >= time
    }

    /// Notes that the worker looks at the shared queues now.
    pub(crate) fn looked(&self, now: Instant) {
        self.last_look.set(now);
    }

    /// Returns the number of the worker's next look at a few of the others.
    pub(crate) fn next_glance(&self) -> usize {
        self.glances.replace(self.glances.get().wrapping_add(1))
    }

    /// Called when the clock was read. Returns the new average time of a poll, if the polls since the last reading show
    /// one.
    fn measure(&self, now: Instant, average: u64) -> Option<u64> {
        let polls = self.polls_per_clock.get().saturating_sub(self.until_clock.get());
        if self.computed.replace(false) || polls == 0 {
            self.restart(now);
            return None;
        }
        let elapsed = nanos(now.saturating_duration_since(self.now.replace(now)));
        let latest = elapsed / u64::from(polls);
        let average = (average * (AVERAGE_PARTS - 1) + latest) / AVERAGE_PARTS;
        // With long polls the clock is read more often, so that the worker looks out in time, and it considers waking a
        // second worker more often.
        let within =
            |time: Duration, most: u32| (nanos(time) / average.max(1)).clamp(1, most.into()) as u32;
        self.polls_per_clock.set(within(LOOK_INTERVAL, POLLS_PER_CLOCK));
        self.until_clock.set(self.polls_per_clock.get());
        let thought = within(WAKE_COST, PUSHES_PER_THOUGHT);
        self.until_thought.set(self.until_thought.get().min(thought));
        Some(average)
    }

    /// Has the worker look at the shared queues again after this many polls, because more waits there than was taken.
    /// So both sides advance.
    fn look_early(&self, polls: u32) {
        let polls = polls.min(POLLS_PER_SHARED_BATCH);
        self.until_clock.set(polls);
        self.polls_per_clock.set(polls);
        let now = self.now.get();
        self.last_look.set(now.checked_sub(LOOK_INTERVAL).unwrap_or(now));
    }

    /// Notes a backlog of this many nanoseconds. Returns true if it is worth a second worker.
    fn weigh_backlog(&self, backlog: u64) -> bool {
        let now = self.now.get();
        if backlog < nanos(NO_BACKLOG) {
            self.busy_since.set(now);
        }
        backlog > nanos(WAKE_COST)
            || now.saturating_duration_since(self.busy_since.get()) > LASTING_BACKLOG
    }
}

#[cfg(all(test, not(loom)))]
impl Pacing {
    /// The worker has not looked out for longer than it may.
    fn pretend_long_round(&self) {
        let long_ago = self.now.get().checked_sub(LOOK_INTERVAL * 2);
        self.last_look.set(long_ago.expect("the machine has been up for longer"));
    }

    pub(super) fn pretend_long_backlog(&self) {
        let long_ago = self.now.get().checked_sub(LASTING_BACKLOG * 2);
        self.busy_since.set(long_ago.expect("the machine has been up for longer"));
    }
}

impl Worker {
    /// Reads the clock: keeps the average up to date, looks for work from outside, and wakes a second worker if there
    /// is enough to do.
    pub(super) fn look_at_clock(&self) -> Option<Runnable> {
        let now = Instant::now();
        self.measure_polls(now);
        let ran_root = self.pacing.ran_root.take();
        self.note_contention(now);
        self.consider_waking();
        if !self.pacing.is_look_due(now, LOOK_INTERVAL) {
            return None;
        }
        self.pacing.looked(now);
        // Computations get their turn even if there is no end of tasks. Inside a computation, its split points look
        // out; but it may have none, so tasks get their turn after it even if there is no end of computations.
        if !ran_root {
            if let Some(root) = self.take_computation() {
                return Some(root);
            }
        }
        if self.has_long_polls() {
            // Whatever we took would wait behind our own long polls. So the OS is left to the worker in the seat, if
            // there is one. But we owe one task to those that wait.
            if !self.pool.sleepers.is_seat_taken() {
                self.look_at_os(now);
            }
            return self.pool.take_one();
        }
        self.look_at_os(now);
        let first = self.take_shared()?;
        self.take_more_shared();
        if !self.pool.injector.is_empty() {
            self.pacing.look_early(self.queue.len() as u32 + 1);
        }
        Some(first)
    }

    /// Takes this worker's share of a long injector, at most as much as it polls until it looks out again. Otherwise
    /// what waits there would advance by one batch for each round of this worker's own tasks, however long those take.
    fn take_more_shared(&self) {
        let injector = &self.pool.injector;
        let average = self.slot().counters.poll_time.get().max(1);
        let in_time = nanos(LOOK_INTERVAL) / average;
        let share = injector.len() / self.pool.config.workers;
        let most = (in_time as usize).min(share).min(SHARED_BATCH) + self.queue.len();
        while self.queue.len() < most && injector.move_into(&self.queue) {}
    }

    /// Returns true if what waits behind this worker's own tasks waits for long. Then a second worker is worth having
    /// in any case.
    fn has_long_polls(&self) -> bool {
        self.slot().counters.poll_time.get() >= nanos(LONG_AVERAGE_POLL)
    }

    /// Keeps the average time of a poll up to date, when the clock was read or there is nothing left to poll. A worker
    /// that has few events at a time would otherwise never learn how long it takes over them.
    pub(super) fn measure_polls(&self, now: Instant) {
        let poll_time = &self.slot().counters.poll_time;
        if let Some(average) = self.pacing.measure(now, poll_time.get()) {
            poll_time.set(average);
        }
    }

    /// Takes events if the round is over, and else only fires the timers that are due.
    fn look_at_os(&self, now: Instant) {
        if self.pacing.round.is_over(now, self.slot().polls_done()) {
            self.observer.with_os(now, || self.poll_os());
            self.begin_round(now);
        } else {
            self.fire_timers();
        }
    }

    /// Notes that the OS has just been looked at.
    pub(super) fn begin_round(&self, now: Instant) {
        self.pacing.round.begin(now, self.slot().polls_done(), self.queue.len());
    }

    /// Wakes a sleeper if this worker has more to do than a wake-up costs, or has had a smaller backlog for long.
    pub(super) fn consider_waking(&self) {
        let now = self.pacing.now.get();
        if self.pacing.weigh_backlog(self.slot().backlog())
            && self.pool.sleepers.would_wake()
            && (self.has_long_polls() || self.pool.choices.shares())
        {
            self.pacing.busy_since.set(now);
            self.pool.wake_one();
        }
    }

    /// Asks the OS, now and then, whether the CPUs are contended.
    pub(super) fn note_contention(&self, now: Instant) {
        // Models have no CPUs to share either.
        if !TIMELESS {
            let is_alone = || self.pool.awake() <= (self.pool.config.cpus / 2).max(1);
            if self.contention.ask(now, is_alone, &self.pool.cpu_share) {
                self.pool.choices.sample(now, || Reading {
                    at: now,
                    polls: self.pool.slots.iter().map(|slot| slot.polls_done()).sum(),
                    cpu_time: RunDelay::cpu_time_of_process(),
                    splits: self.pool.fork_slots().map(|slot| slot.counters.splits.get()).sum(),
                    computes: self.pool.fork_slots().any(|slot| slot.activity.is_computing()),
                });
            }
        }
    }
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::sched::pool::Pool;
    use crate::shutdown;
    use crate::task::Origin;

    /// With fewer polls at a time than lie between two readings of the clock, the average stayed what it was at the
    /// start: a worker took 16 requests of a millisecond each for a backlog of some microseconds, and woke nobody.
    #[test]
    fn a_worker_that_never_has_many_polls_in_a_row_learns_how_long_they_take() {
        let start = Instant::now();
        let pacing = Pacing::new(start);
        let mut average = 1_000;
        for _ in 0..16 {
            pacing.begin(start);
            pacing.count_poll();
            average = pacing.measure(start + Duration::from_millis(1), average).unwrap();
        }
        assert!(average > 900_000, "{average} ns");
        pacing.begin(start);
        assert_eq!(
            pacing.measure(start + Duration::from_millis(2), average),
            None,
            "it polled nothing"
        );
    }

    /// A crowd of spawned tasks advanced by one batch, 32 at most, for each round of a worker's own tasks, however long
    /// those took and however short the tasks of the crowd are.
    #[test]
    fn a_busy_worker_takes_its_share_of_many_spawned_tasks_and_a_batch_if_polls_are_long() {
        const CROWD: usize = 2_000;
        let took = |poll_time: Duration| {
            let pool = Pool::for_tests(2);
            for _ in 0..CROWD {
                drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
            }
            let worker = Worker::new(pool.clone(), 0).unwrap();
            worker.slot().counters.poll_time.set(nanos(poll_time));
            worker.pacing.pretend_long_round();
            let first = worker.look_at_clock().expect("there is enough");
            worker.push(first);
            let took = worker.queue.len();
            shutdown::begin(&pool);
            worker.run();
            assert!(pool.is_over());
            took
        };
        let batch = took(Duration::from_micros(10));
        let share = took(Duration::from_nanos(100));
        assert!((SHARED_BATCH..CROWD / 2).contains(&share), "{share} of short polls");
        assert!(batch < SHARED_BATCH / 2, "{batch} of long polls");
    }
}
