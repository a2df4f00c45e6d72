//! A worker's notes about its own work, and the readings of the clock for them.
//!
//! A reading of the clock costs as much as a short poll. So the worker uses the readings that it makes anyway, every 16
//! polls or 50 µs (`sched/pacing.rs`), and adds few:
//!
//! - *Polls* are counted one by one, for the task and for its site. Some are timed: the first after a search, and then
//!   one every 20 µs. The time of one stands for all polls since the last that was timed, but never for more than the
//!   time that has passed.
//! - *A poll that is stuck* among short ones is noticed by the monitor, and timed from the last reading to its end.
//! - *Wake-ups* are sampled: one in every few is *stamped*, which notes its time in the task. The time that the task
//!   has waited is taken when the poll begins.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_timer::{in_nanos, nanos};

use super::event::What;
use super::flight::Flight;
use super::hours::Doing;
use super::observed::Observed;
use super::policy::TIME_EVERY;
use super::sampling::{Sampling, stands_for};
use super::site_counts::{NearSites, SiteCount};
use crate::poller::fires;
use crate::sched::policy::POLLS_PER_CLOCK;
use crate::sched::{Counter, Pool};
use crate::task::{
    self, Before, Header, Id, Notes, PollMark, PollTime, Runnable, SiteId, Woken, WokenBy,
};

/// The half of a worker's observations that only its thread touches.
pub(crate) struct Observer {
    on: bool,
    observed: Arc<Observed>,
    /// The near sites of `observed`, at hand for what is counted at every poll.
    near_sites: Arc<NearSites>,
    /// The last reading of the clock.
    now: Cell<u64>,
    /// The same, as a task notes it when a poll begins.
    poll_time: Cell<PollTime>,
    /// How the next poll is marked; `None` if nothing is observed.
    mark: Cell<Option<PollMark>>,
    /// When the poll that is being timed began.
    start: Cell<u64>,
    /// The time that polls have taken since one was timed, in nanoseconds, by their average.
    untimed: Cell<u64>,
    /// How many polls there were when the last one was timed, and the time spent on polls since, until `counted`.
    timed: Cell<u64>,
    spent: Cell<u64>,
    counted: Cell<u64>,
    /// By `WokenBy`.
    sampling: [Sampling; 4],
    /// The time from a wake-up to the poll that is too long, in nanoseconds.
    too_late: u64,
    flight: Flight,
}

impl Observer {
    /// Returns the observer of a worker that moves into a place of a pool.
    pub(crate) fn of(pool: &Pool, index: usize, now: Instant) -> Self {
        // No time passes in models.
        let on = pool.config.observe && cfg!(not(loom));
        let now = nanos(now);
        let flight = Flight::new(on.then(|| pool.full_flight_record.clone()), now);
        let mark = if flight.is_full() { PollMark::Timed } else { PollMark::Plain };
        let observed = pool.fork_slot(index).observed.open().clone();
        Self {
            on,
            near_sites: observed.sites.near(),
            observed,
            now: Cell::new(now),
            poll_time: Cell::new(PollTime::new(now)),
            mark: Cell::new(on.then_some(mark)),
            start: Cell::new(now),
            untimed: Cell::new(0),
            timed: Cell::new(0),
            spent: Cell::new(0),
            counted: Cell::new(now),
            sampling: [const { Sampling::new() }; 4],
            too_late: pool.dumper.wake_latency(),
            flight,
        }
    }

    /// Counts one more at a site.
    #[inline(always)]
    fn count(&self, site: SiteId, what: fn(&SiteCount) -> &Counter) {
        // Each branch has its own addition: the address of a counter that may be in either takes two more instructions.
        match self.near_sites.get(site.index()) {
            Some(near) => what(near).bump(),
            None => self.observed.count_far(site, what),
        }
    }

    /// Notes that this worker spawns a task. With `late`, the task's age is noted when it is listed.
    #[inline]
    pub(crate) fn note_spawn(&self, notes: &Notes, late: bool) {
        if self.on {
            self.count(notes.site(), |site| &site.spawned);
            if !late {
                notes.spawned(self.now.get());
            }
        }
    }

    /// Notes that a task has ended in the hands of this worker. One that is in no list has ended in its first poll.
    #[inline]
    pub(crate) fn note_finish(&self, notes: &Notes, listed: bool) {
        if self.on {
            if listed {
                self.count(notes.site(), |site| &site.finished);
            } else {
                self.count(notes.site(), |site| &site.brief);
            }
        }
    }

    /// Notes the beginning of a poll.
    #[inline]
    pub(crate) fn begin_poll(&self, notes: &Notes) {
        match self.mark.get() {
            Some(PollMark::Plain) if self.begin_plain_poll(notes) => {}
            Some(mark) => self.begin_rare_poll(notes, mark),
            None => {}
        }
    }

    /// Notes the beginning of a poll, unless a stamped wake-up has led to it. Returns false in that case.
    #[inline(always)]
    fn begin_plain_poll(&self, notes: &Notes) -> bool {
        match notes.begin_plain_poll(self.poll_time.get()) {
            Some(true) => self.count(notes.site(), |site| &site.polls),
            // Counted when it ends, or when it waits.
            Some(false) => {}
            None => return false,
        }
        true
    }

    /// Notes that a task has waited in its first poll, and is listed from now on.
    pub(crate) fn note_listed(&self, notes: &Notes) {
        if self.on {
            notes.spawned(self.now.get());
            self.count(notes.site(), |site| &site.polls);
        }
    }

    /// Notes the beginning of a poll that is timed, or that a stamped wake-up has led to.
    #[cold]
    #[inline(never)]
    fn begin_rare_poll(&self, notes: &Notes, mark: PollMark) {
        if mark == PollMark::Timed {
            if self.flight.look_at_switch() {
                self.start.set(self.read_clock());
            } else {
                self.mark.set(Some(PollMark::Plain));
            }
        }
        match notes.begin_poll(self.poll_time.get(), mark) {
            Before::Unlisted => return,
            Before::Listed => {}
            Before::Woken(woken) => self.note_woken_poll(notes.site(), woken, mark),
        }
        self.count(notes.site(), |site| &site.polls);
    }

    /// Notes the poll of a task that was woken at a known time.
    fn note_woken_poll(&self, site: SiteId, woken: Woken, mark: PollMark) {
        let now = self.read_clock();
        if mark == PollMark::Timed {
            self.start.set(now);
        }
        let waited = woken.until(now);
        let weight = u64::from(stands_for(woken.by, woken.level));
        self.observed.wake_latency[woken.by as usize].record(waited, weight);
        if waited >= self.too_late {
            self.observed.set_late(waited);
        }
        self.observed.sites.of(site).wait.add(waited.saturating_mul(weight));
    }

    fn read_clock(&self) -> u64 {
        let now = nanos(Instant::now());
        self.note_time(now);
        now
    }

    fn note_time(&self, now: u64) {
        self.now.set(now);
        self.poll_time.set(PollTime::new(now));
        self.observed.set_clock(now);
    }

    /// Notes that this worker wakes a task; `in_order` if it does so for an event or a timer.
    #[inline]
    pub(crate) fn note_wake(&self, runnable: &Runnable, in_order: bool) {
        let by = match in_order {
            true if fires() => WokenBy::Timer,
            true => WokenBy::Io,
            false => WokenBy::Task,
        };
        if self.flight.is_full() {
            self.record_wake(runnable, by);
        }
        if self.sampling[by as usize].count() {
            self.stamp(runnable, by);
        }
    }

    #[cold]
    fn record_wake(&self, runnable: &Runnable, by: WokenBy) {
        // A task woken by an event or a timer was not woken by a task, even if a task that computes was interrupted for
        // it.
        let waker = if by == WokenBy::Task { task::try_id().map_or(0, Id::number) } else { 0 };
        let what = What::Wake { by, task: runnable.id().number(), waker };
        self.flight.note(&self.observed, self.read_clock(), what);
    }

    #[cold]
    fn stamp(&self, runnable: &Runnable, by: WokenBy) {
        let sampling = &self.sampling[by as usize];
        if !self.on {
            return sampling.skip(by);
        }
        let now = nanos(Instant::now());
        runnable.notes().set_woken(by, sampling.stamp(by, now), now);
    }

    /// Notes how many events and timers the worker has handed out to the tasks that wait for them.
    pub(crate) fn dispatched(&self, events: usize) {
        self.flight.dispatched(events);
    }

    /// Notes that the worker has taken tasks from another.
    pub(crate) fn note_steal(&self, victim: usize) {
        self.flight.stole(victim);
    }

    /// Notes that the worker has taken a job from another.
    pub(crate) fn note_job_steal(&self, victim: usize) {
        if self.flight.is_full() {
            self.flight.note(&self.observed, self.read_clock(), What::Steal(victim as u32));
        }
    }

    /// Called when the worker is about to sleep in a search. Returns the time, if that is to be recorded.
    #[inline]
    pub(crate) fn sleep_start(&self) -> Option<Instant> {
        self.flight.is_full().then(Instant::now)
    }

    /// Notes that the worker has slept from then until now.
    #[cold]
    pub(crate) fn slept(&self, from: Instant) {
        self.flight.slept(nanos(from), nanos(Instant::now()));
    }

    /// Adds the time since the last call to what was spent on polls.
    fn count_time(&self, now: u64) {
        let more = now.saturating_sub(self.counted.replace(now));
        self.spent.set(self.spent.get().saturating_add(more));
    }

    /// Called when a busy worker has read the clock. `average` is the average time of its polls in nanoseconds, and
    /// `ready` the length of its queue. Has the next poll timed if it is time for that.
    #[inline]
    pub(crate) fn note_clock(&self, average: u64, ready: usize) {
        let untimed = self.untimed.get().saturating_add(average * u64::from(POLLS_PER_CLOCK));
        self.untimed.set(untimed);
        if self.on && untimed >= in_nanos(TIME_EVERY) {
            self.untimed.set(0);
            let now = self.read_clock();
            self.count_time(now);
            self.observed.ready_tasks.record(ready as u64, 1);
            self.start.set(now);
            self.mark.set(Some(PollMark::Timed));
        }
    }

    /// Notes that the worker searches for work from now on.
    pub(crate) fn note_search(&self, now: Instant, polls_begun: u64) {
        if self.on {
            let now = nanos(now);
            self.count_time(now);
            self.observed.hours.switch(Doing::Idling, now);
            self.flight.polled(&self.observed, now, polls_begun);
        }
    }

    /// Notes that the worker has found work, and has the first poll timed.
    pub(crate) fn note_find(&self, now: Instant) {
        if self.on {
            let now = nanos(now);
            self.note_time(now);
            self.counted.set(now);
            self.start.set(now);
            self.mark.set(Some(PollMark::Timed));
            self.observed.hours.switch(Doing::Work, now);
            self.flight.idled(&self.observed, now);
        }
    }

    /// Notes that the worker moves into its place.
    pub(crate) fn note_start(&self) {
        if self.on {
            let now = self.read_clock();
            self.observed.hours.switch(Doing::Work, now);
            self.flight.note(&self.observed, now, What::Start);
        }
    }

    /// Notes that the worker leaves its place.
    pub(crate) fn note_end(&self) {
        if self.on {
            let now = self.read_clock();
            self.observed.hours.stop(now);
            self.flight.note(&self.observed, now, What::End);
        }
    }

    /// Calls `f`, which takes events from the OS or fires timers without waiting. `now` was just read.
    pub(crate) fn with_os<R>(&self, now: Instant, f: impl FnOnce() -> R) -> R {
        if !self.on {
            return f();
        }
        let before = nanos(now);
        self.observed.hours.switch(Doing::Os, before);
        let result = f();
        let after = nanos(Instant::now());
        self.observed.hours.switch(Doing::Work, after);
        self.flight.looked_at_os(&self.observed, before, after);
        result
    }

    /// Notes that timers were fired at this time, the first of them this many nanoseconds after its deadline.
    pub(crate) fn note_firing(&self, now: u64, lateness: u64) {
        if self.on {
            self.observed.timer_lateness.record(lateness, 1);
            self.flight.note(&self.observed, now, What::Timers);
        }
    }

    /// Notes that the worker interrupts a computation, which began at that time, to poll tasks in place.
    pub(crate) fn note_interruption(&self, now: Instant, began: Option<Instant>) {
        if self.on {
            self.observed.set_computes_since(began.map_or(0, nanos));
            // What is polled now did not begin with the computation.
            self.note_time(nanos(now));
        }
    }

    /// Notes that the worker has computed until now, for this long.
    pub(crate) fn computed(&self, now: Instant, time: Duration) {
        if self.on {
            let (now, time) = (nanos(now), in_nanos(time));
            self.observed.fork_join_time.record(time, 1);
            self.flight.lasted(&self.observed, now, time, What::Compute);
            self.observed.set_computes_since(0);
            self.note_time(now);
            // What comes next did not begin before this.
            self.start.set(now);
        }
    }

    /// Notes the end of a poll that was to be timed, or that may have been stuck.
    #[cold]
    pub(crate) fn end_timed_poll(&self, task: &Header, began: Option<Instant>, polls_done: u64) {
        let notes = &task.notes;
        let timed = notes.take_timed();
        let stuck = self.observed.take_stuck();
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
        // It stands for the polls before it, as far as their time allows. A stuck poll is not a sample.
        let polls = polls_done.saturating_sub(self.timed.replace(polls_done)).max(1);
        let spent = self.spent.replace(0);
        let weight = if timed { (spent / time).clamp(1, polls) } else { 1 };
        self.observed.poll_time.record(time, weight);
        let rest = polls - weight;
        let left = spent.saturating_sub(time.saturating_mul(weight));
        if let Some(average) = left.checked_div(rest) {
            self.observed.poll_time.record(average, rest);
        }
        self.observed.sites.add_time(notes.site(), time, weight);
        let what = What::Poll { site: notes.site(), task: task.id.number() };
        self.flight.timed(&self.observed, now, time, what, polls_done);
        notes.add_busy(time.saturating_mul(weight.min(notes.polls().into())));
    }
}
