//! All timers of a runtime.

use std::task::Waker;

use windlass_sync::primitives::{Arc, Mutex, Ordering, fence};

use crate::lease::Home;
use crate::pace::{Gate, Pace};
use crate::vigil::{AWAKE, Driver, Keeper, LENIENCY, NEVER, NOT_KEEPING, Vigil};

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
    vigil: Arc<Vigil>,
    pace: Mutex<Pace>,
    /// What the pace says, for those who only want to know.
    gate: Gate,
}

impl Timers {
    /// No timers yet. With `lenient`, the workers look by themselves as long as they are awake.
    pub fn new(workers: usize, lenient: bool, driver: Box<dyn Driver>) -> Self {
        let vigil = Arc::new(Vigil::new(driver));
        let leniency = |index| if lenient && index < workers { LENIENCY } else { 0 };
        let shard = |index| Home::new(leniency(index), vigil.clone());
        Self {
            shards: (0..workers + FOREIGN).map(shard).collect(),
            workers,
            vigil,
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
        self.vigil.now()
    }

    fn next_within(&self, leniency: u64) -> u64 {
        self.shards.iter().map(|shard| shard.next_within(leniency)).min().unwrap_or(NEVER)
    }

    /// A keeper is about to sleep, until `at_most`, and looks at the timers when it wakes up: gives the
    /// time to sleep to. It may be past. With `guard`, workers are awake that look by themselves.
    pub fn fall_asleep(&self, keeper: Keeper, at_most: u64, guard: bool) -> u64 {
        let leniency = if guard { LENIENCY } else { 0 };
        let mut next = self.next_within(leniency);
        loop {
            // What is promised is not put off: a deadline that is earlier still would ring, though it
            // might as well wait with the others.
            self.vigil.promise(keeper, next.min(at_most));
            // Partner of the fence in `Vigil::rely`: either we see the deadline that was armed, or the
            // one who armed it sees our promise.
            fence(Ordering::SeqCst);
            let again = self.next_within(leniency);
            if again >= next.min(at_most) {
                break;
            }
            next = again;
        }
        self.gate.ripe_at(next).min(at_most)
    }

    /// A keeper is about to sleep, until `at_most`, and leaves the timers to the other one.
    pub fn fall_asleep_idle(&self, keeper: Keeper, at_most: u64) {
        self.vigil.promise(keeper, at_most);
        self.pass_on(0);
    }

    /// A keeper is awake again, and looks before it sleeps.
    pub fn wake_up(&self, keeper: Keeper) {
        self.vigil.promise(keeper, AWAKE);
    }

    /// A keeper keeps no longer: rings for the other if that does not look in time.
    ///
    /// Passes a `SeqCst` fence, on which callers may rest what they say and ask besides.
    pub fn leave(&self, keeper: Keeper) {
        self.vigil.promise(keeper, NOT_KEEPING);
        self.pass_on(LENIENCY);
    }

    /// The promise that was published is no good for the timers any more: rings if the other's is none
    /// either.
    fn pass_on(&self, leniency: u64) {
        // Partner of the fence in `Vigil::rely`: who relied on us armed its timer before this, and
        // we see it; or it sees that there is nothing to rely on.
        fence(Ordering::SeqCst);
        self.vigil.check(self.next_within(leniency), 0);
    }

    /// Said by a worker that is about to sleep and is no keeper: rings if nobody looks in time. With
    /// `guard`, another worker is awake that does.
    pub fn entrust(&self, guard: bool) {
        let next = self.next_within(if guard { LENIENCY } else { 0 });
        if next != NEVER {
            self.vigil.rely(next, 0);
        }
    }

    /// True if something is due, of the workers' timers so much ago.
    pub fn is_due(&self, now: u64, lag: u64) -> bool {
        self.gate.ripe_at(self.next_within(lag)) <= now
    }

    /// Fires what is due, of the workers' timers so much ago, except where another thread is at it; gives how
    /// many. There may be more. `wake` is given portions of wakers in their order, and empties them.
    pub fn fire(&self, now: u64, lag: u64, mut wake: impl FnMut(&mut Vec<Waker>)) -> usize {
        let (mut fired, mut in_vain, mut wakers) = (0, MOST_IN_VAIN, Vec::new());
        for shard in &self.shards {
            if fired == MOST_AT_ONCE || in_vain == 0 {
                break;
            }
            if shard.next_within(lag) <= now {
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

    /// How often a keeper was woken because of a deadline that was earlier than its promise.
    pub fn rings(&self) -> usize {
        self.vigil.rings()
    }
}

impl std::fmt::Debug for Timers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timers").field("shards", &self.shards).finish_non_exhaustive()
    }
}
