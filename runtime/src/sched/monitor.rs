//! The monitor, which keeps the workers' promises when a worker can't.
//!
//! It is a part of the poller's thread, and what Go calls sysmon. Each worker shows its progress: a count that moves
//! with every poll and with the split points of a computation. The monitor reads it now and then. A worker that is
//! awake and has made no progress since the last look is **stalled**: blocked in a poll or in a waker, in a long
//! leaf of a computation, or kept from running by the OS. There is no other notion of being stuck.
//!
//! - *Tasks wait, and a worker is stalled*: a sleeper is woken, which steals what waits. If no worker sleeps and all
//!   have been stalled for `stuck_after`, a spare worker is started; beside a computation that shows no split point, it
//!   is started sooner. The worker that comes back dismisses its spare.
//! - *All that are awake are stalled, and the seat is empty*: a sleeper is woken, which takes the seat. If there is
//!   none, the poller's thread takes it: the last resort.
//! - *A computation has shared a job, and a worker sleeps*: a thief is woken.
//!
//! # When it looks
//!
//! While any worker is awake: shortly after the first has woken up, and then less and less often, as long as there is
//! nothing to do. [`policy`] has the times. While all sleep it does not look at all.
//!
//! # Switching on and off
//!
//! A worker that wakes up switches the monitor on if it is off. The thread switches it off when all workers sleep: it
//! stores *off*, and then counts the sleepers once more, with a read-modify-write of their word. A worker that is awake
//! by then is counted as such, and the thread switches on again. A worker that leaves the word later has acquired the
//! *off* with that, and switches on. One that is being started is counted before it begins, with a fence between the
//! two: either the thread counts it, or the worker finds the monitor off.

use std::time::{Duration, Instant};

use super::policy::{CLOSE_PAUSE, HURRIED_ABOVE, LONGEST_SEARCH, MONITOR_PAUSE, MONITOR_REST};
use super::pool::Pool;
use super::spares::let_spare_compute;
use super::standstill::Standstill;
use crate::fork::policy::{FINE_FACTOR, LONG_LEAF};
use crate::poller::Poller;
use crate::primitives::{Arc, AtomicBool, Ordering, fence, plain};
use crate::stuck::LongPollWatch;
use crate::task::WatchPolls;

/// Switches the monitor on, from any thread.
pub(crate) struct MonitorSwitch {
    on: AtomicBool,
    /// A thread has asked for a look soon; since then the monitor looks often.
    hurried: AtomicBool,
    /// The next look may be far away. Written by the monitor, as a hint.
    rests: plain::AtomicBool,
    poller: Arc<Poller>,
}

impl MonitorSwitch {
    pub(crate) fn new(poller: Arc<Poller>) -> Self {
        Self {
            on: AtomicBool::new(false),
            hurried: AtomicBool::new(false),
            rests: plain::AtomicBool::new(false),
            poller,
        }
    }

    /// Has the monitor look at the workers from now on. Called by a worker that is awake, or by a guest.
    #[inline]
    pub(crate) fn switch_on(&self) {
        // Relaxed: a worker that woke up after the monitor was switched off has acquired that.
        if !self.on.load(Ordering::Relaxed) && !self.on.swap(true, Ordering::Relaxed) {
            self.poller.kick();
        }
    }

    /// Has the monitor look soon, and often for a while: something waits that may be urgent.
    pub(crate) fn hurry(&self) {
        // It may be a guest that is in a hurry, while all workers sleep.
        self.switch_on();
        // Relaxed where it is set already: the look that follows is the one that was asked for. AcqRel pairs with that
        // of `settle`: the monitor sees what we did before.
        if !self.hurried.load(Ordering::Relaxed) && !self.hurried.swap(true, Ordering::AcqRel) {
            self.poller.kick();
        }
    }

    /// Returns true if [`hurry`](Self::hurry) would change nothing. Relaxed, as there.
    pub(crate) fn looks_soon(&self) -> bool {
        self.on.load(Ordering::Relaxed) && self.hurried.load(Ordering::Relaxed)
    }

    /// Returns true if the monitor may not look for long, because at its last look nothing waited.
    pub(super) fn rests(&self) -> bool {
        self.rests.load(plain::Ordering::Relaxed)
    }

    /// Takes back the request to hurry, so that the next one kicks again. In a manual loop, a fence comes before the
    /// caller looks for work.
    pub(crate) fn settle(&self) {
        self.hurried.swap(false, Ordering::AcqRel);
    }

    /// Returns true while the monitor looks.
    #[cfg(loom)]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Returns true if the monitor has been asked to look soon.
    #[cfg(loom)]
    pub(crate) fn is_hurried(&self) -> bool {
        self.hurried.load(Ordering::Relaxed)
    }
}

/// The monitor's memory of the workers between two looks. Belongs to the poller's thread.
pub(crate) struct Monitor {
    /// The progress last seen in each slot, and since when.
    pub(super) seen: Vec<(u64, Instant)>,
    /// The workers that computed at the last look.
    computed: Vec<bool>,
    /// The progress last seen of each guest.
    guests: Vec<u64>,
    /// `Some` while a worker is stuck in a poll, so that its end is timed.
    watches: Option<WatchPolls>,
    pause: Duration,
    standstill: Standstill,
    last_resort: bool,
    /// Reports workers that are stuck in a poll.
    long_polls: LongPollWatch,
}

impl Monitor {
    /// Creates a monitor that begins to look at the workers at `now`.
    pub(crate) fn new(pool: &Pool, now: Instant) -> Self {
        let slots = pool.slots.len();
        let seen = vec![(0, now); slots];
        Self {
            seen,
            computed: vec![false; slots + pool.config.guests],
            guests: vec![0; pool.config.guests],
            watches: None,
            pause: MONITOR_PAUSE.0,
            standstill: Standstill::default(),
            last_resort: false,
            long_polls: LongPollWatch::new(pool),
        }
    }

    /// Returns how long the thread may sleep before the next look; `None` while there is nothing to look at.
    pub(crate) fn pause(&self, pool: &Pool) -> Option<Duration> {
        pool.monitor.on.load(Ordering::Relaxed).then_some(self.pause)
    }

    /// Returns true if, at the last look, no worker could look at the OS.
    pub(crate) fn is_last_resort(&self) -> bool {
        self.last_resort
    }

    /// Looks at every worker and helps where that is needed.
    pub(crate) fn look(&mut self, pool: &Arc<Pool>, now: Instant) {
        self.last_resort = false;
        if let Some(time) = self.standstill.before(now) {
            self.seen.iter_mut().for_each(|(_, since)| *since += time);
            self.long_polls.leave_out(time);
        }
        let moved = self.note_progress(pool, now);
        self.long_polls.look(pool, &self.seen, now);
        pool.dumper.look(pool, now);
        // Work that comes and goes all the time is not worth switching off and on for.
        if !moved && self.switch_off(pool) {
            return;
        }
        // A stalled worker may keep what waits in its own queue.
        let tasks_wait = pool.has_shared_work() || pool.has_kept_work();
        let waits = tasks_wait || pool.has_root() || pool.posted.is_for_any();
        let closely = waits && self.see_to_work(pool, now, tasks_wait);
        self.see_to_jobs(pool);
        self.see_to_os(pool, now);
        self.set_pause(pool, moved, waits || pool.poller().has_foreign_wakers(), closely);
        self.standstill.expect(now + self.pause);
    }

    /// Notes the progress of all workers and guests. Returns true if any of them has made progress.
    fn note_progress(&mut self, pool: &Pool, now: Instant) -> bool {
        let mut moved = false;
        for (seen, slot) in self.guests.iter_mut().zip(pool.guests.slots()) {
            let progress = slot.progress();
            if std::mem::replace(seen, progress) == progress {
                slot.note_stalled(progress);
            } else {
                moved = true;
            }
        }
        let mut stuck = false;
        for (seen, slot) in self.seen.iter_mut().zip(&pool.slots) {
            let progress = slot.progress();
            if seen.0 != progress {
                *seen = (progress, now);
                moved = true;
            } else if progress % 2 == 1 {
                stuck |= pool.config.observe && slot.observed.note_stuck();
            }
        }
        if stuck != self.watches.is_some() {
            self.watches = stuck.then(WatchPolls::begin);
        }
        moved
    }

    /// Makes sure that work does not wait for stalled workers. Returns true if one that computes may need a spare soon.
    fn see_to_work(&mut self, pool: &Arc<Pool>, now: Instant, tasks_wait: bool) -> bool {
        let mut closely = false;
        let stuck_after = pool.config.stuck_after;
        for index in 0..pool.slots.len() {
            let Some(stalled) = self.stalled(pool, index, now) else { continue };
            let slot = &pool.slots[index];
            if stalled >= stuck_after && !slot.activity.is_computing() {
                let_spare_compute(pool, index);
            }
            // Not every sleeper would take a root.
            let wanted = tasks_wait || pool.has_thief();
            if wanted && self.wake(pool, index) {
                continue;
            }
            // While another worker makes progress, it gets to what waits; one more thread would only take the CPU from
            // it.
            let computing = slot.activity.is_computing();
            // With split points all the time, it is the OS that keeps the worker from running.
            let allowed = match (computing, slot.activity.is_fine()) {
                (false, _) if slot.activity.is_blocked() => Duration::ZERO,
                (false, _) => stuck_after,
                (true, false) => LONG_LEAF.min(stuck_after),
                (true, true) => (LONG_LEAF * FINE_FACTOR).min(stuck_after),
            };
            // Spares do not compute in place of workers that compute, nor if jobs are reserved for the workers.
            let needed = tasks_wait || !(computing || pool.has_reserved_jobs());
            // Once there is a spare, it is up to the spare.
            closely |= computing && needed && slot.status.read().spare().is_none();
            if needed && stalled >= allowed && !self.any_makes_progress(pool, now, allowed) {
                self.relieve(pool, index);
            }
        }
        closely
    }

    /// Wakes a sleeper because a worker is stalled. Returns false if no worker sleeps, or another one searches.
    fn wake(&self, pool: &Pool, stalled: usize) -> bool {
        // Outside of a poll, it may be the stalled worker that counts as searching.
        if pool.slots[stalled].is_polling() { pool.wake_one() } else { pool.wake_any() }
    }

    /// Wakes a thief if a job is shared in a computation that has lasted since the last look.
    fn see_to_jobs(&mut self, pool: &Pool) {
        let mut wanted = false;
        for (computed, slot) in self.computed.iter_mut().zip(pool.fork_slots()) {
            // One that is blocked in place may be so in the middle of a computation.
            let computes = slot.activity.is_computing() || slot.activity.is_blocked();
            wanted |= std::mem::replace(computed, computes) && computes && !slot.offers.is_empty();
        }
        if wanted && pool.has_idle() {
            pool.wake_thief();
        }
    }

    /// Makes sure that a thread looks at the OS, if all workers that are awake are stalled.
    fn see_to_os(&mut self, pool: &Pool, now: Instant) {
        let mut awake = 0;
        let mut stalled = 0;
        for (index, slot) in pool.slots.iter().enumerate().filter(|(_, slot)| slot.is_awake()) {
            awake += 1;
            if self.stalled(pool, index, now).is_some() {
                stalled += 1;
                slot.note_stalled(self.seen[index].0);
            }
        }
        if stalled > 0 {
            // These are timers that they armed shortly before, and would look at before they sleep. The fence is a
            // partner of that in `Timekeeper::promise`: the timekeeper sees these deadlines, or we see what it has
            // promised.
            fence(Ordering::SeqCst);
            pool.poller().entrust_timers();
        }
        let nobody = awake > 0 && stalled == awake && !pool.sleepers.is_seat_taken();
        // The worker that is woken does not rely on those that are stalled, and takes the seat.
        self.last_resort = nobody && !pool.wake_any();
    }

    fn set_pause(&mut self, pool: &Pool, moved: bool, waits: bool, closely: bool) {
        let to_report = self.long_polls.longest_pause();
        let longest = MONITOR_PAUSE.1.min(pool.config.stuck_after / 2).min(to_report);
        if closely {
            self.pause = CLOSE_PAUSE;
        } else if self.pause > HURRIED_ABOVE && pool.monitor.hurried.load(Ordering::Relaxed) {
            // A thread asked for it.
            pool.monitor.settle();
            self.pause = MONITOR_PAUSE.0;
        } else {
            // A stalled guest may keep workers from its own jobs.
            let waits = waits || !pool.guests.in_use().is_empty();
            let longest =
                if moved || waits { longest } else { MONITOR_REST.max(longest).min(to_report) };
            self.pause = (self.pause * 2).min(longest);
        }
        pool.monitor.rests.store(self.pause > MONITOR_PAUSE.1, plain::Ordering::Relaxed);
    }

    /// Returns how long a worker that is awake has been seen to make no progress, or `None` if it sleeps or has made
    /// progress lately.
    fn stalled(&self, pool: &Pool, index: usize, now: Instant) -> Option<Duration> {
        let slot = &pool.slots[index];
        let time = now.duration_since(self.seen[index].1);
        let least = if self.seen[index].0 % 2 == 1 { MONITOR_PAUSE.0 } else { LONGEST_SEARCH };
        (slot.is_awake() && time >= least).then_some(time)
    }

    /// Returns true if a worker is awake, has not been stalled for `allowed`, and does not leave tasks to a
    /// spare while it computes.
    fn any_makes_progress(&self, pool: &Pool, now: Instant, allowed: Duration) -> bool {
        pool.slots.iter().enumerate().any(|(index, slot)| {
            let relieved = slot.activity.is_computing() && slot.status.read().spare().is_some();
            let stalled = self.stalled(pool, index, now).is_some_and(|time| time >= allowed);
            slot.is_awake() && !relieved && !stalled
        })
    }

    /// Stops looking if all workers sleep.
    fn switch_off(&mut self, pool: &Pool) -> bool {
        let long_polls = &self.long_polls;
        let has_reports = || long_polls.is_needed(pool) || pool.dumper.is_needed(pool);
        let is_needed = || pool.awake() > 0 || pool.has_caller() || has_reports();
        if is_needed() || self.dismiss_spares(pool) {
            return false;
        }
        let switch = &pool.monitor.on;
        switch.store(false, Ordering::Relaxed);
        // Partner of the fences in `Worker::announce_offer`, of a guest, and in `Pool::note_move_in`, of a thread that is
        // about to be started: either it sees *off*, or we see it.
        fence(Ordering::SeqCst);
        let has_reports = self.long_polls.is_needed(pool) || pool.dumper.is_needed(pool);
        if pool.sleepers.sleeping_settled() < pool.present() || pool.has_caller() || has_reports {
            switch.store(true, Ordering::Relaxed);
            return false;
        }
        self.pause = MONITOR_PAUSE.0;
        pool.monitor.settle();
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;
    use crate::context;
    use crate::sched::sleepers::SleepPlace;
    use crate::sched::worker::Worker;
    use crate::shutdown;
    use crate::timer_host::api::sleep;

    /// A worker wakes no timekeeper, because it looks at its timers before it sleeps. If it blocked
    /// instead, with another one asleep in the seat, nobody slept to their deadline: they were fired when
    /// the monitor happened to look.
    #[test]
    fn timers_of_a_worker_that_is_stalled_are_left_to_the_timekeeper() {
        let pool = Pool::for_tests(2);
        let timers = pool.poller().timers();
        let worker = Worker::new(pool.clone(), 0).unwrap();
        pool.note_move_in(0);
        pool.note_move_in(1);
        pool.slots[1].counters.parks.bump();
        pool.sleepers.announce(1, SleepPlace::Seat, false);
        assert_eq!(timers.keep_time(windlass_timer::NEVER), windlass_timer::NEVER);

        worker.slot().counters.tick.bump();
        let mut nap = pin!(sleep(Duration::from_secs(3600)));
        let polled = context::enter_worker(&worker, || {
            nap.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        });
        assert!(polled.is_pending() && timers.len() == 1);
        assert_eq!(timers.wakes(), 0, "the worker is awake");

        let now = Instant::now();
        let mut monitor = Monitor::new(&pool, now);
        monitor.look(&pool, now);
        assert_eq!(timers.wakes(), 0, "it makes progress");
        monitor.look(&pool, now + Duration::from_secs(1));
        assert_eq!(timers.wakes(), 1);

        worker.slot().counters.tick.bump();
        shutdown::begin(&pool);
        worker.run();
        assert!(pool.is_over());
    }
}
