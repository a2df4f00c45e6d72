//! What a worker notes about its own work, and when it reads the clock for that.
//!
//! A reading of the clock costs as much as a short poll. So the worker goes by the readings that it makes anyway, every
//! 16 polls or 50 µs (`sched/pacing.rs`), and adds few:
//!
//! - *Polls* are counted one by one, for the task and for its site. One of some is timed: the first after a search, and
//!   one in every 20 µs. Its time stands for the polls since the last one that was timed, but never for more than the
//!   time that has passed.
//! - *A poll that is stuck* among short ones is noticed by the monitor, and timed from the last reading to its end.
//! - *Wake-ups*: one in some is stamped, in the task, and the time is taken when the poll begins.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_timer::{in_nanos, nanos};

use super::event::What;
use super::flight::Flight;
use super::hours::Doing;
use super::watch::Watch;
use crate::poller::fires;
use crate::sched::Pool;
use crate::sched::policy::POLLS_PER_CLOCK;
use crate::task::{self, Before, Header, Id, Notes, PollMark, PollTime, Runnable, WokenBy};

use super::policy::{LONGEST_WAIT, STAMP_EVERY, TIME_EVERY};

/// The half of a worker's observations that only its thread touches.
pub(crate) struct Observer {
    on: bool,
    watch: Arc<Watch>,
    /// The last reading of the clock.
    now: Cell<u64>,
    /// The same as a task notes it when a poll begins.
    poll_time: Cell<PollTime>,
    /// How the next poll is marked.
    mark: Cell<PollMark>,
    /// When the poll began that is timed.
    start: Cell<u64>,
    /// The time that polls have taken since one was timed, in nanoseconds, by their average.
    untimed: Cell<u64>,
    /// How many polls there were when the last one was timed, and the time spent on polls since, until `counted`.
    timed: Cell<u64>,
    spent: Cell<u64>,
    counted: Cell<u64>,
    /// Wake-ups left until the next stamp.
    until_stamp: [Cell<u32>; 4],
    /// The nanoseconds from a wake-up to the poll that are too many.
    too_late: u64,
    flight: Flight,
}

impl Observer {
    /// Returns that of the worker that moves into a place of a pool.
    pub(crate) fn of(pool: &Pool, index: usize, now: Instant) -> Self {
        // No time passes in models.
        let on = pool.config.observe && cfg!(not(loom));
        let now = nanos(now);
        let flight = Flight::new(on.then(|| pool.full_flight_record.clone()), now);
        Self {
            on,
            watch: pool.fork_slot(index).watch.open().clone(),
            now: Cell::new(now),
            poll_time: Cell::new(PollTime::new(now)),
            mark: Cell::new(if flight.is_full() { PollMark::TIMED } else { PollMark::PLAIN }),
            start: Cell::new(now),
            untimed: Cell::new(0),
            timed: Cell::new(0),
            spent: Cell::new(0),
            counted: Cell::new(now),
            until_stamp: [const { Cell::new(1) }; 4],
            too_late: pool.dumper.wake_latency(),
            flight,
        }
    }

    /// A task is being spawned by this worker; with `late`, its age is noted when it is listed.
    #[inline]
    pub(crate) fn spawns(&self, notes: &Notes, late: bool) {
        if self.on {
            self.watch.sites.of(notes.site()).spawned.bump();
            if !late {
                notes.spawned(self.now.get());
            }
        }
    }

    /// A task has ended in the hands of this worker. One that is in no list has ended in its first poll.
    #[inline]
    pub(crate) fn finishes(&self, notes: &Notes, listed: bool) {
        if self.on {
            let site = self.watch.sites.of(notes.site());
            if listed { site.finished.bump() } else { site.brief.bump() }
        }
    }

    /// A poll begins.
    #[inline]
    pub(crate) fn begins_poll(&self, notes: &Notes) {
        if !self.on {
            return;
        }
        let mark = self.mark.get();
        if mark != PollMark::PLAIN {
            return self.begins_timed_poll(notes);
        }
        match notes.begin_poll(self.poll_time.get(), mark) {
            // Counted when it ends, or when it waits.
            Before::Unlisted => {}
            Before::Listed => self.watch.sites.of(notes.site()).polls.bump(),
            Before::Woken => self.polls_woken(notes, mark),
        }
    }

    /// A task has waited in its first poll, and is listed from now on.
    pub(crate) fn lists(&self, notes: &Notes) {
        if self.on {
            notes.spawned(self.now.get());
            self.watch.sites.of(notes.site()).polls.bump();
        }
    }

    /// A poll begins that is timed.
    #[cold]
    #[inline(never)]
    fn begins_timed_poll(&self, notes: &Notes) {
        if self.flight.look_at_switch() {
            self.start.set(self.read_clock());
        } else {
            self.mark.set(PollMark::PLAIN);
        }
        match notes.begin_poll(self.poll_time.get(), PollMark::TIMED) {
            Before::Unlisted => {}
            Before::Listed => self.watch.sites.of(notes.site()).polls.bump(),
            Before::Woken => self.polls_woken(notes, PollMark::TIMED),
        }
    }

    /// The poll was led to by a wake-up that was stamped.
    #[cold]
    fn polls_woken(&self, notes: &Notes, mark: PollMark) {
        self.watch.sites.of(notes.site()).polls.bump();
        let Some(woken) = notes.take_woken(mark) else { return };
        let now = self.read_clock();
        if mark != PollMark::PLAIN {
            self.start.set(now);
        }
        let (waited, by) = (woken.until(now), woken.by as usize);
        if waited < in_nanos(LONGEST_WAIT) {
            let weight = u64::from(STAMP_EVERY[by]);
            self.watch.wake_latency[by].record(waited, weight);
            if waited >= self.too_late {
                self.watch.set_late(waited);
            }
            self.watch.sites.of(notes.site()).wait.add(waited * weight);
        }
    }

    fn read_clock(&self) -> u64 {
        let now = nanos(Instant::now());
        self.note_time(now);
        now
    }

    fn note_time(&self, now: u64) {
        self.now.set(now);
        self.poll_time.set(PollTime::new(now));
        self.watch.set_clock(now);
    }

    /// A task is woken by this worker; `in_order` if by an event or a timer.
    #[inline]
    pub(crate) fn wakes(&self, runnable: &Runnable, in_order: bool) {
        let by = match in_order {
            true if fires() => WokenBy::Timer,
            true => WokenBy::Io,
            false => WokenBy::Task,
        };
        if self.flight.is_full() {
            self.records_wake(runnable, by);
        }
        let until = &self.until_stamp[by as usize];
        let left = until.get() - 1;
        until.set(left);
        if left == 0 {
            self.stamps(runnable, by);
        }
    }

    #[cold]
    fn records_wake(&self, runnable: &Runnable, by: WokenBy) {
        // What an event or a timer wakes is woken by no task, even if it is fired in the middle of one that computes.
        let waker = if by == WokenBy::Task { task::try_id().map_or(0, Id::number) } else { 0 };
        let what = What::Wake { by, task: runnable.id().number(), waker };
        self.flight.note(&self.watch, self.read_clock(), what);
    }

    #[cold]
    fn stamps(&self, runnable: &Runnable, by: WokenBy) {
        self.until_stamp[by as usize].set(STAMP_EVERY[by as usize]);
        if self.on {
            runnable.notes().set_woken(by, nanos(Instant::now()));
        }
    }

    /// The worker has handed out this many events and timers to the tasks that wait for them.
    pub(crate) fn dispatched(&self, events: usize) {
        self.flight.dispatched(events);
    }

    /// The worker has taken tasks from another.
    pub(crate) fn steals(&self, victim: usize) {
        self.flight.stole(victim);
    }

    /// The worker has taken a job from another.
    pub(crate) fn steals_job(&self, victim: usize) {
        if self.flight.is_full() {
            self.flight.note(&self.watch, self.read_clock(), What::Steal(victim as u32));
        }
    }

    /// The worker is about to sleep, while it looks for work. Returns the time if that is recorded.
    #[inline]
    pub(crate) fn sleeps(&self) -> Option<Instant> {
        self.flight.is_full().then(Instant::now)
    }

    /// The worker has slept from then until now.
    #[cold]
    pub(crate) fn slept(&self, from: Instant) {
        self.flight.slept(nanos(from), nanos(Instant::now()));
    }

    /// Adds the time since the last call to what was spent on polls.
    fn count_time(&self, now: u64) {
        let more = now.saturating_sub(self.counted.replace(now));
        self.spent.set(self.spent.get().saturating_add(more));
    }

    /// A busy worker has read the clock. Polls take this many nanoseconds on average, and this many tasks are in its
    /// queue. Times the next poll if it is its turn.
    #[inline]
    pub(crate) fn reads_clock(&self, average: u64, ready: usize) {
        let untimed = self.untimed.get().saturating_add(average * u64::from(POLLS_PER_CLOCK));
        self.untimed.set(untimed);
        if self.on && untimed >= in_nanos(TIME_EVERY) {
            self.untimed.set(0);
            let now = self.read_clock();
            self.count_time(now);
            self.watch.ready_tasks.record(ready as u64, 1);
            self.start.set(now);
            self.mark.set(PollMark::TIMED);
        }
    }

    /// The worker looks for work from now on.
    pub(crate) fn searches(&self, now: Instant, polls_begun: u64) {
        if self.on {
            let now = nanos(now);
            self.count_time(now);
            self.watch.hours.switch(Doing::Idling, now);
            self.flight.polled(&self.watch, now, polls_begun);
        }
    }

    /// The worker has found work, and times the first poll.
    pub(crate) fn finds(&self, now: Instant) {
        if self.on {
            let now = nanos(now);
            self.note_time(now);
            self.counted.set(now);
            self.start.set(now);
            self.mark.set(PollMark::TIMED);
            self.watch.hours.switch(Doing::Work, now);
            self.flight.idled(&self.watch, now);
        }
    }

    /// The worker moves into its place.
    pub(crate) fn moves_in(&self) {
        if self.on {
            let now = self.read_clock();
            self.watch.hours.switch(Doing::Work, now);
            self.flight.note(&self.watch, now, What::Start);
        }
    }

    /// The worker leaves its place.
    pub(crate) fn leaves(&self) {
        if self.on {
            let now = self.read_clock();
            self.watch.hours.stop(now);
            self.flight.note(&self.watch, now, What::End);
        }
    }

    /// Calls `f`, which takes events from the OS or fires timers without waiting. `now` was just read.
    pub(crate) fn with_os<R>(&self, now: Instant, f: impl FnOnce() -> R) -> R {
        if !self.on {
            return f();
        }
        let before = nanos(now);
        self.watch.hours.switch(Doing::Os, before);
        let result = f();
        let after = nanos(Instant::now());
        self.watch.hours.switch(Doing::Work, after);
        self.flight.looked_at_os(&self.watch, before, after);
        result
    }

    /// Timers were fired at this time, the first of them this many nanoseconds after its deadline.
    pub(crate) fn fires(&self, now: u64, lateness: u64) {
        if self.on {
            self.watch.timer_lateness.record(lateness, 1);
            self.flight.note(&self.watch, now, What::Timers);
        }
    }

    /// The worker interrupts a computation, which began at that time, to poll tasks in place.
    pub(crate) fn interrupts(&self, now: Instant, began: Option<Instant>) {
        if self.on {
            self.watch.set_computes_since(began.map_or(0, nanos));
            // What is polled now did not begin with the computation.
            self.note_time(nanos(now));
        }
    }

    /// The worker has computed until now, for this long.
    pub(crate) fn computed(&self, now: Instant, time: Duration) {
        if self.on {
            let (now, time) = (nanos(now), in_nanos(time));
            self.watch.fork_join_time.record(time, 1);
            self.flight.lasted(&self.watch, now, time, What::Compute);
            self.watch.set_computes_since(0);
            self.note_time(now);
            // What comes next did not begin before this.
            self.start.set(now);
        }
    }

    /// A poll is over that was to be timed, or that may have been stuck.
    #[cold]
    pub(crate) fn times(&self, task: &Header, began: Option<Instant>, polls_done: u64) {
        let notes = &task.notes;
        let timed = notes.take_timed();
        let stuck = self.watch.take_stuck();
        if !self.on || !(timed || stuck) {
            return;
        }
        let start = match began {
            Some(began) => nanos(began),
            None if timed => self.start.get(),
            None => self.now.get(),
        };
        let now = self.read_clock();
        self.count_time(now);
        let time = now.saturating_sub(start).max(1);
        // It stands for those before it, as far as their time allows. A stuck one is no sample.
        let polls = polls_done.saturating_sub(self.timed.replace(polls_done)).max(1);
        let spent = self.spent.replace(0);
        let weight = if timed { (spent / time).clamp(1, polls) } else { 1 };
        self.watch.poll_time.record(time, weight);
        let rest = polls - weight;
        let left = spent.saturating_sub(time.saturating_mul(weight));
        if let Some(average) = left.checked_div(rest) {
            self.watch.poll_time.record(average, rest);
        }
        self.watch.sites.add_time(notes.site(), time, weight);
        let what = What::Poll { site: notes.site(), task: task.id.number() };
        self.flight.timed(&self.watch, now, time, what, polls_done);
        notes.add_busy(time.saturating_mul(weight.min(notes.polls().into())));
    }
}
