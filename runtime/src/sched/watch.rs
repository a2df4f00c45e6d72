//! The watch: what keeps the workers' promises when a worker can't.
//!
//! A worker publishes a tick with every poll. While work waits that nobody is there to run, the
//! poller's thread looks at the ticks now and then; while all workers sleep, it does nothing. It
//! steps in twice:
//!
//! - **Fine**, every 50 µs at first, every millisecond after a while: a worker kept work for itself
//!   and left others asleep, and now its tick stands still in a poll. A sleeper is woken, which
//!   steals what waits.
//! - **Coarse**, at half of `stuck_after`: the ticks of all who are awake have stood still for
//!   `stuck_after`, and work waits. A spare worker is started. The worker that comes back sends its
//!   spare home.
//!
//! # Switching on and off
//!
//! `level` says how closely the thread looks. A worker that queues work for itself, and anyone who
//! pushes while all workers are busy, raises it, and wakes the thread if it was lower. The thread
//! switches off when all workers sleep: it stores OFF, and then counts the sleepers once more with
//! a read-modify-write of their word. A worker that is awake by then is counted as such, and the
//! thread switches on again. A worker that is popped later has acquired the OFF with the pop, and
//! raises the level when it next has reason to.

use std::time::{Duration, Instant};

use super::pool::Pool;
use super::spares::let_spare_compute;
use crate::fork::LONG_LEAF;
use crate::poller::Poller;
use crate::primitives::plain::Ordering as Plain;
use crate::primitives::{Arc, AtomicUsize, Ordering, fence};

/// How closely the workers are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Off = 0,
    Coarse = 1,
    Fine = 2,
}

/// The switch, which workers use.
pub(crate) struct Watch {
    level: AtomicUsize,
    poller: Arc<Poller>,
}

impl Watch {
    pub(crate) fn new(poller: Arc<Poller>) -> Self {
        Self { level: AtomicUsize::new(Level::Off as usize), poller }
    }

    /// Sees to it that the workers are watched at least this closely.
    #[inline]
    pub(crate) fn request(&self, level: Level) {
        if self.level() < level
            && self.level.fetch_max(level as usize, Ordering::Relaxed) < level as usize
        {
            self.poller.kick();
        }
    }

    /// Switches off, so that the next request kicks again. For a pool without a thread that
    /// watches; a fence comes before the caller looks for work.
    pub(crate) fn reset(&self) {
        self.level.store(Level::Off as usize, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn level(&self) -> Level {
        match self.level.load(Ordering::Relaxed) {
            0 => Level::Off,
            1 => Level::Coarse,
            _ => Level::Fine,
        }
    }
}

/// The shortest and the longest pause between two looks at [`Level::Fine`].
const FINE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));

/// How long a worker that computes may show no split point, with tasks waiting, before a spare comes.
const COMPUTES: Duration = LONG_LEAF;

/// What the watching thread remembers between two looks.
pub(crate) struct Watcher {
    /// The tick last seen in each slot, and since when.
    pub(super) seen: Vec<(u64, Instant)>,
    /// Who computed at the last look.
    computed: Vec<bool>,
    /// The progress last seen of all guests together.
    guests: u64,
    pause: Duration,
}

impl Watcher {
    pub(crate) fn new(pool: &Pool) -> Self {
        let slots = pool.slots.len();
        Self {
            seen: vec![(0, Instant::now()); slots],
            computed: vec![false; slots + pool.config.guests],
            guests: 0,
            pause: FINE.0,
        }
    }

    /// How long the thread may sleep before the next look; `None` while nothing is to be watched.
    pub(crate) fn pause(&self, pool: &Pool) -> Option<Duration> {
        match pool.watch.level() {
            Level::Off => None,
            Level::Coarse => Some(pool.config.stuck_after / 2),
            Level::Fine => Some(self.pause),
        }
    }

    /// Looks at every worker and helps where it is needed.
    pub(crate) fn look(&mut self, pool: &Arc<Pool>, now: Instant) {
        let mut active = false;
        for (seen, slot) in self.seen.iter_mut().zip(&pool.slots) {
            let tick = slot.progress();
            if seen.0 != tick {
                *seen = (tick, now);
                active = true;
            }
        }
        let guests = pool.guests.progress();
        active |= std::mem::replace(&mut self.guests, guests) != guests;
        // Work that comes and goes all the time is not worth switching off and on for.
        if !active && self.switch_off(pool) {
            return;
        }
        // Whoever is stuck, what waits may lie in the queue of another who is stuck too.
        let tasks_wait = pool.has_shared_work() || pool.has_kept_work();
        let mut closely = false;
        if tasks_wait || pool.has_root() {
            let stuck_after = pool.config.stuck_after;
            for index in 0..pool.slots.len() {
                let stalled = self.stalled(pool, index, now).unwrap_or_default();
                if stalled >= stuck_after && !pool.slots[index].is_computing() {
                    let_spare_compute(pool, index);
                }
                // Not all who sleep would take a root.
                let wanted = tasks_wait || pool.has_thief();
                if stalled < FINE.0 || (wanted && pool.wake_one()) {
                    continue;
                }
                // While another gets on, it comes to what waits; one more thread would only take the
                // CPU from it.
                let slot = &pool.slots[index];
                let computing = slot.is_computing();
                // With split points all the time, it is the OS that keeps the worker from running.
                let patience = match (computing, slot.fine.load(Plain::Relaxed)) {
                    (false, _) => stuck_after,
                    (true, false) => COMPUTES.min(stuck_after),
                    (true, true) => (COMPUTES * 16).min(stuck_after),
                };
                // Spares do not compute in the place of workers that do.
                let needed = tasks_wait || !computing;
                // Once a spare is there, it is a matter for the spare.
                closely |= computing && needed && slot.spare().is_none();
                if needed && stalled >= patience && !self.any_gets_on(pool, now, patience) {
                    self.relieve(pool, index);
                }
            }
        }
        self.see_to_offers(pool);
        // As long as the workers get on by themselves, there is less and less need to look.
        self.pause = if closely { COMPUTES / 2 } else { (self.pause * 2).min(FINE.1) };
    }

    /// A job is offered in a computation that has lasted since the last look: it is worth a thief.
    fn see_to_offers(&mut self, pool: &Pool) {
        let mut wanted = false;
        for (computed, slot) in self.computed.iter_mut().zip(pool.fork_slots()) {
            let computes = slot.is_computing();
            wanted |= std::mem::replace(computed, computes) && computes && !slot.offers.is_empty();
        }
        if wanted && pool.has_idle() {
            pool.wake_thief();
        }
    }

    /// How long a worker has been in the poll it is in, as far as was seen; `None` if it is in none.
    fn stalled(&self, pool: &Pool, index: usize, now: Instant) -> Option<Duration> {
        let (tick, since) = self.seen[index];
        let in_poll = tick % 2 == 1 && pool.slots[index].occupied.load(Plain::Relaxed);
        in_poll.then(|| now.duration_since(since))
    }

    /// True if a worker is awake, has not been in one poll for as long as `patience`, and does not leave tasks to a
    /// spare while it computes.
    pub(crate) fn any_gets_on(&self, pool: &Pool, now: Instant, patience: Duration) -> bool {
        let stalled = (0..pool.slots.len())
            .filter(|&index| {
                let slot = &pool.slots[index];
                let in_poll = self.stalled(pool, index, now);
                let relieved = slot.is_computing() && slot.spare().is_some();
                in_poll.is_some_and(|time| time >= patience || relieved)
            })
            .count();
        pool.at_work() > pool.sleepers.sleeping() + stalled
    }

    /// Has the workers know of those that have been in one poll for as long as `patience`: who is called
    /// in their place must not leave things to them.
    pub(crate) fn tell_held_up(&self, pool: &Pool, now: Instant, patience: Duration) {
        for (index, slot) in pool.slots.iter().enumerate() {
            if self.stalled(pool, index, now).is_some_and(|time| time >= patience) {
                slot.is_held_up_at(self.seen[index].0);
            }
        }
    }

    /// Stops watching if all workers sleep.
    fn switch_off(&mut self, pool: &Pool) -> bool {
        if pool.sleepers.sleeping() < pool.at_work() || pool.has_caller() {
            return false;
        }
        if self.dismiss_spares(pool) {
            return false;
        }
        let before = pool.watch.level.swap(Level::Off as usize, Ordering::Relaxed);
        // Partner of the fence in `Worker::has_offered`, of a guest: either it sees *off*, or we see it.
        fence(Ordering::SeqCst);
        if pool.sleepers.sleeping_settled() < pool.at_work() || pool.has_caller() {
            pool.watch.level.fetch_max(before, Ordering::Relaxed);
            return false;
        }
        self.pause = FINE.0;
        true
    }
}
