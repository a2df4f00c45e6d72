//! All timers of a runtime.

use std::task::Waker;

use windlass_sync::primitives::{Arc, Mutex};

use crate::lease::Home;
use crate::pace::{Gate, Pace};
use crate::timekeeper::{Driver, NEVER, Timekeeper};

/// Timers that are fired before the tasks they wake get their turn.
const MOST_AT_ONCE: usize = 1024;
/// Portions that only move timers within their wheels, before tasks get theirs.
const MOST_IN_VAIN: usize = 64;
/// Shards for threads that are no workers.
const FOREIGN: usize = if cfg!(loom) { 1 } else { 4 };

/// All timers of a runtime, a shard for each worker. The runtime drives them: it says what time it is,
/// and asks when to come back.
pub struct Timers {
    /// Workers first, then those of foreign threads.
    shards: Box<[Home]>,
    workers: usize,
    timekeeper: Arc<Timekeeper>,
    pace: Mutex<Pace>,
    /// What the pace says, for those who only want to know.
    gate: Gate,
}

impl Timers {
    /// Creates a set of timers for this many workers.
    pub fn new(workers: usize, driver: Box<dyn Driver>) -> Self {
        let timekeeper = Arc::new(Timekeeper::new(driver));
        Self {
            shards: (0..workers + FOREIGN).map(|_| Home::new(timekeeper.clone())).collect(),
            workers,
            timekeeper,
            pace: Mutex::new(Pace::new()),
            gate: Gate::new(),
        }
    }

    /// The shard of a worker.
    pub fn worker(&self, index: usize) -> &Home {
        // Spares share the workers' shards. A division is worth avoiding, this early in each timer.
        &self.shards[if index < self.workers { index } else { index % self.workers }]
    }

    /// A shard for a thread that is no worker; any number will do.
    pub fn foreign(&self, number: usize) -> &Home {
        &self.shards[self.workers + number % (self.shards.len() - self.workers)]
    }

    /// The next deadline of all shards, or an earlier time; [`NEVER`] if nothing is armed.
    pub fn next(&self) -> u64 {
        self.shards.iter().map(|shard| shard.next()).min().unwrap_or(NEVER)
    }

    /// True if there is, or has been of late, anything to wait for.
    pub fn in_use(&self) -> bool {
        self.next() != NEVER
    }

    /// As [`next`](Self::next), without deadlines that were cancelled.
    pub fn settle(&self) -> u64 {
        self.shards.iter().map(|shard| shard.settle()).min().unwrap_or(NEVER)
    }

    /// The runtime's time.
    pub fn now(&self) -> u64 {
        self.timekeeper.now()
    }

    /// The current thread becomes the timekeeper: it is about to sleep, until `at_most`, and looks at the timers when
    /// it wakes up. Returns the time to sleep to, which may be past.
    pub fn keep_time(&self, at_most: u64) -> u64 {
        let mut next = self.next();
        loop {
            // What is promised is not put off: a deadline that is earlier still would wake the timekeeper,
            // although it might as well wait with the others.
            self.timekeeper.promise(next.min(at_most));
            let again = self.next();
            if again >= next.min(at_most) {
                break;
            }
            next = again;
        }
        self.gate.ripe_at(next).min(at_most)
    }

    /// The timekeeper is awake again, and looks before it sleeps.
    pub fn wake_up(&self) {
        self.timekeeper.wake_up();
    }

    /// Called by a worker that is about to sleep and is not the timekeeper, after a `SeqCst` fence: wakes the
    /// timekeeper, if there is one, in case it would look too late for a timer of this worker.
    pub fn entrust(&self) {
        if self.timekeeper.is_there() {
            self.timekeeper.check(self.next());
        }
    }

    /// True if something is due.
    pub fn is_due(&self, now: u64) -> bool {
        self.gate.ripe_at(self.next()) <= now
    }

    /// Fires what is due, except where another thread does, and returns how many timers that were. There may be more.
    /// `wake` gets portions of wakers in their order, and empties them.
    pub fn fire(&self, now: u64, mut wake: impl FnMut(&mut Vec<Waker>)) -> usize {
        let (mut fired, mut in_vain, mut wakers) = (0, MOST_IN_VAIN, Vec::new());
        for shard in &self.shards {
            if fired == MOST_AT_ONCE || in_vain == 0 {
                break;
            }
            if shard.next() <= now {
                let most = MOST_AT_ONCE - fired;
                fired += shard.fire(now, most, &mut in_vain, &mut wakers, &mut wake);
            }
        }
        fired
    }

    /// True if something is due, or is being woken by some thread. Takes all locks.
    pub fn is_firing(&self, now: u64) -> bool {
        self.shards.iter().any(|shard| shard.is_firing(now))
    }

    /// True if some thread has taken timers out, and has yet to wake them. Takes all locks.
    pub fn is_waking(&self) -> bool {
        self.shards.iter().any(|shard| shard.is_waking())
    }

    /// So many timers have been fired in one go, which ends now.
    pub fn fired(&self, now: u64, timers: usize) {
        let mut pace = self.pace.lock();
        self.gate.set(pace.fired(now, timers));
    }

    /// Fires nothing any more. Gives all wakers, for the caller to wake: the timers find a home with
    /// another runtime when they are polled.
    pub fn close(&self) -> Vec<Waker> {
        self.shards.iter().flat_map(|shard| shard.close()).collect()
    }

    /// How many timers are armed.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.len()).sum()
    }

    /// True if no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how often the timekeeper was woken because of a deadline that was earlier than its promise.
    pub fn wakes(&self) -> usize {
        self.timekeeper.wakes()
    }
}

impl std::fmt::Debug for Timers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timers").field("shards", &self.shards).finish_non_exhaustive()
    }
}
