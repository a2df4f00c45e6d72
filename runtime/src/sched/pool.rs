//! What the workers of one runtime share: the queues, who sleeps, what is left to do. How a ready task
//! gets in, and who is woken for it; how a pool is closed, and when it is over.

use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::home::HomeShard;
use super::queue::Injector;
use super::sleepers::Sleepers;
use super::slot::{Counter, Counters, Slot};
use super::threads::{Spawner, Threads};
use super::watch::{Level, Watch};
use crate::blocking::BlockingPool;
use crate::fork::{Guests, Posted};
use crate::hooks::Hooks;
use crate::poller::Poller;
use crate::primitives::plain::{AtomicUsize as PlainUsize, Ordering as Plain};
use crate::primitives::{Arc, AtomicBool, Ordering, fence};
use crate::task::{Origin, OwnedTasks, Runnable};

/// The settings of a runtime, checked by its builder.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) spares: usize,
    /// Places for threads outside that take part in their fork-join calls.
    pub(crate) guests: usize,
    pub(crate) searchers: usize,
    /// A worker spins only while no more workers than this are awake: a core must be left over for
    /// those whose answer it waits for.
    pub(crate) awake_to_spin: usize,
    /// Percentage of its time that a worker leaves to a computation while tasks wait.
    pub(crate) compute_share: u32,
    pub(crate) stuck_after: Duration,
    /// How long a worker waits beside the sleepers' stack for its next job, while a spare looks after tasks.
    pub(crate) next_job: Option<Duration>,
    pub(crate) max_blocking: usize,
    pub(crate) blocking_keep_alive: Duration,
    pub(crate) thread_name: String,
    pub(crate) stack_size: Option<usize>,
    pub(crate) hooks: Hooks,
    /// Whoever starts the workers' threads, if it is not us.
    pub(crate) spawner: Option<Spawner>,
}

/// The shared half of a runtime's scheduler.
pub(crate) struct Pool {
    pub(crate) config: Config,
    /// What the poller and the timers push: looked at before the injector, so that I/O does not
    /// queue behind a backlog of spawns.
    pub(crate) lane: CachePadded<Injector>,
    /// What foreign threads push.
    pub(crate) injector: CachePadded<Injector>,
    /// Fork-join roots: beside the tasks, so that neither queues behind the other.
    pub(crate) roots: CachePadded<Injector>,
    /// How many workers sleep in a join, or between two jobs; for a moment more, never fewer.
    pub(crate) joiners: CachePadded<PlainUsize>,
    pub(crate) sleepers: CachePadded<Sleepers>,
    /// Workers first, then spares.
    pub(crate) slots: Box<[Arc<CachePadded<Slot>>]>,
    pub(crate) guests: Guests,
    pub(crate) posted: Posted,
    pub(crate) owned: OwnedTasks,
    /// What tasks point to: one for each shard of `owned`.
    pub(super) homes: Box<[HomeShard]>,
    pub(crate) watch: CachePadded<Watch>,
    poller: Arc<Poller>,
    pub(crate) blocking: BlockingPool,
    pub(crate) threads: Threads,
    /// Counts what happens on threads that are no workers of this runtime.
    pub(crate) foreign: CachePadded<Counters>,
    /// Tasks that such a thread spawned too late, and dropped.
    pub(crate) refused: Counter,
    closing: AtomicBool,
}

impl Pool {
    pub(crate) fn new(config: Config, poller: Arc<Poller>) -> Arc<Self> {
        let slots = config.workers + config.spares;
        let new_slot = |index| Arc::new(CachePadded::new(Slot::new(index >= config.workers)));
        let owned = OwnedTasks::new(slots);
        let homes = (0..owned.shards()).map(HomeShard::new).collect();
        let pool = Arc::new(Self {
            lane: CachePadded::new(Injector::new()),
            injector: CachePadded::new(Injector::new()),
            roots: CachePadded::new(Injector::new()),
            joiners: CachePadded::default(),
            sleepers: CachePadded::new(Sleepers::new(slots)),
            slots: (0..slots).map(new_slot).collect(),
            guests: Guests::new(config.guests),
            posted: Posted::new(config.workers),
            owned,
            homes,
            watch: CachePadded::new(Watch::new(poller.clone())),
            poller,
            blocking: BlockingPool::new(),
            threads: Threads::new(),
            foreign: CachePadded::default(),
            refused: Counter::default(),
            closing: AtomicBool::new(false),
            config,
        });
        for home in &pool.homes {
            home.settle(&pool);
        }
        pool
    }

    /// Puts a task into the injector and sees to it that somebody comes.
    pub(crate) fn push(&self, runnable: Runnable) {
        self.injector.push(runnable);
        self.after_push();
    }

    /// As [`push`](Self::push), into the fast lane.
    pub(crate) fn push_lane(&self, runnable: Runnable) {
        self.lane.push(runnable);
        self.after_push();
    }

    /// Queues a computation.
    pub(super) fn push_root(&self, runnable: Runnable) {
        self.roots.push(runnable);
        // As in `after_push`, and partner of the fence in `sleep_joining` too.
        fence(Ordering::SeqCst);
        if !self.call_for_root() {
            self.call_somebody();
        }
    }

    /// Partner of the fences in `Worker::sleep` and `Worker::found`: either we see the sleeper (or
    /// that nobody searches), or it sees what was pushed.
    pub(super) fn after_push(&self) {
        fence(Ordering::SeqCst);
        self.call_somebody();
    }

    /// Work waits that no particular worker answers for: wakes a sleeper, or has the watch look
    /// after it if all are busy. A searcher will come to it by itself.
    pub(crate) fn call_somebody(&self) {
        if !self.wake_one() && self.sleepers.all_busy() {
            // A computation may show no split point: then a spare must come soon.
            let computing = self.slots.iter().any(|slot| slot.is_computing());
            self.watch.request(if computing { Level::Fine } else { Level::Coarse });
        }
    }

    /// Wakes one sleeper, unless somebody searches; true if it did.
    pub(crate) fn wake_one(&self) -> bool {
        let woken = if self.sleepers.would_wake() { self.sleepers.pop() } else { None };
        if let Some(index) = woken {
            self.wake(index);
        }
        woken.is_some()
    }

    /// Wakes a worker that was popped.
    pub(crate) fn wake(&self, index: usize) {
        let slot = &self.slots[index];
        slot.unparker.unpark();
        // Partner of the fence in `Worker::sit`: either the worker sees its token before it waits,
        // or we see that it sits.
        fence(Ordering::SeqCst);
        if slot.seated.load(Ordering::Relaxed) {
            self.poller.kick_seat();
        }
    }

    /// Wakes every sleeper, those in joins too.
    pub(crate) fn wake_all(&self) {
        for index in self.sleepers.pop_all() {
            self.wake(index);
        }
        if self.has_joiners() {
            for index in 0..self.slots.len() {
                self.call_joiner(index);
            }
        }
    }

    /// Takes a single task from the shared queues.
    pub(crate) fn take_one(&self) -> Option<Runnable> {
        self.lane.take().or_else(|| self.injector.take())
    }

    /// True if, of those who are not asleep, at least `more_than` plus one get on.
    pub(crate) fn get_on(&self, more_than: usize) -> bool {
        let (mut at_work, mut slow) = (0, 0);
        for slot in &self.slots {
            at_work += usize::from(slot.occupied.load(Plain::Relaxed));
            slow += usize::from(slot.is_slow());
        }
        at_work > self.sleepers.sleeping() + slow + more_than
    }

    /// How many workers and spares there are at this moment.
    pub(crate) fn at_work(&self) -> usize {
        self.slots.iter().filter(|slot| slot.occupied.load(Plain::Relaxed)).count()
    }

    /// How many of them are not asleep.
    pub(crate) fn awake(&self) -> usize {
        self.at_work().saturating_sub(self.sleepers.sleeping())
    }

    /// True if tasks wait that no particular worker answers for.
    pub(crate) fn has_shared_work(&self) -> bool {
        !self.lane.is_empty() || !self.injector.is_empty()
    }

    /// True if a worker has tasks in its own queue, which it may be kept from.
    pub(crate) fn has_kept_work(&self) -> bool {
        self.slots.iter().any(|slot| slot.has_work())
    }

    /// True if a computation waits to be begun.
    pub(crate) fn has_root(&self) -> bool {
        !self.roots.is_empty()
    }

    /// A worker keeps work for itself: has the watch step in if the worker does not get to it.
    #[inline]
    pub(crate) fn watch_over_kept(&self) {
        if self.watch.level() < Level::Fine {
            let level = if self.sleepers.sleeping() > 0 { Level::Fine } else { Level::Coarse };
            self.watch.request(level);
        }
    }

    /// No task is taken in from now on; all there are get cancelled, and the workers leave when
    /// the last is gone.
    pub(crate) fn close(&self) {
        // Relaxed: a worker that must know locks the shards, which orders it. See `is_over`.
        if self.closing.swap(true, Ordering::Relaxed) {
            return;
        }
        for runnable in self.owned.close() {
            self.push(runnable);
        }
        fence(Ordering::SeqCst);
        self.wake_all();
    }

    pub(crate) fn poller(&self) -> &Arc<Poller> {
        &self.poller
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// True once the pool is closing and no task is left. The list is asked first, then the counters:
    /// see *Shutdown* in this folder's `README.md`.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closing() && self.owned.is_over() && self.unfinished() == 0
    }

    /// How many tasks are unfinished, listed or not.
    pub(crate) fn unfinished(&self) -> u64 {
        // Finished before spawned: a task that ends in between must not count as ended only, nor hide
        // another.
        let finished: u64 = self.slots.iter().map(|slot| slot.counters.finished.get()).sum();
        self.spawned() - finished
    }

    /// How many tasks were taken in.
    pub(crate) fn spawned(&self) -> u64 {
        let by_workers: u64 = self.slots.iter().map(|slot| slot.counters.spawned.get()).sum();
        by_workers + self.foreign.spawned.get()
    }

    /// The tasks that are being polled at this moment.
    pub(crate) fn running(&self) -> Vec<Origin> {
        let mut running =
            self.owned.running(|task| self.slots.iter().any(|slot| slot.is_in_poll_of(task)));
        let unlisted = self.slots.iter().filter_map(|slot| slot.unlisted());
        running.extend(unlisted.map(|location| Origin::new(location, None)));
        running
    }

    /// A worker leaves. If it finds the pool over, all others are to find that too.
    pub(super) fn left(&self) {
        // Partner of the fence in `Worker::sleep`: of those who have ended a task, the last to pass its
        // fence sees what all of them have done, and whoever sleeps.
        fence(Ordering::SeqCst);
        if self.is_over() {
            self.wake_all();
            self.poller.kick();
        }
    }
}

#[cfg(all(test, not(loom)))]
impl Pool {
    /// Places for so many workers, and nobody there.
    pub(crate) fn for_tests(workers: usize) -> Arc<Self> {
        let config = Config {
            workers,
            spares: 0,
            guests: 1,
            searchers: 1,
            awake_to_spin: 0,
            compute_share: 50,
            stuck_after: Duration::from_secs(3600),
            next_job: None,
            max_blocking: 1,
            blocking_keep_alive: Duration::ZERO,
            thread_name: String::new(),
            stack_size: None,
            hooks: Hooks::default(),
            spawner: None,
        };
        let poller = Poller::new(workers, false, crate::poller::Clock::of_the_os())
            .expect("the OS has what a poller needs");
        Self::new(config, Arc::new(poller))
    }
}
