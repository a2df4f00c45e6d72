//! The pool: the queues, the sleepers and the counts that the workers of one runtime share. How a ready task gets in,
//! which worker is woken for it, how a pool is closed, and when it is over.

use crossbeam_utils::CachePadded;

use super::choices::Choices;
use super::config::Config;
use super::contention::CpuShare;
use super::monitor::MonitorSwitch;
use super::pool_ref::PoolShard;
use super::sleepers::{Popped, SleepPlace, Sleepers};
use super::slot::{Counters, Slot};
use super::threads::Threads;
use crate::blocking::BlockingPool;
use crate::companion::Companion;
use crate::deque::Injector;
use crate::fork::{Forecast, Guests, Posted};
use crate::local::PinnedThreads;
use crate::observe::{Dumper, LocalPlaces, ObservedPlace};
use crate::poller::Poller;
use crate::primitives::plain::{
    AtomicBool as PlainBool, AtomicUsize as PlainUsize, Ordering as Plain,
};
use crate::primitives::{Arc, AtomicBool, AtomicUsize, Mutex, Ordering, fence};
use crate::stuck::Reports;
use crate::task::{Origin, OwnedTasks, Runnable};

/// The shared half of a runtime's scheduler.
pub(crate) struct Pool {
    pub(crate) config: Config,
    /// Tasks that the poller and the timers push: looked at before the injector, so that I/O does not
    /// queue behind a backlog of spawns.
    pub(crate) lane: CachePadded<Injector<Runnable>>,
    /// Tasks that outside threads push.
    pub(crate) injector: CachePadded<Injector<Runnable>>,
    /// Fork-join roots: beside the tasks, so that neither queues behind the other.
    pub(crate) roots: CachePadded<Injector<Runnable>>,
    /// The number of workers that sleep in a join, or between two jobs. It may be too high for a moment, but never too
    /// low.
    pub(crate) joiners: CachePadded<AtomicUsize>,
    pub(crate) sleepers: CachePadded<Sleepers>,
    /// Workers first, then spares.
    pub(crate) slots: Box<[Arc<CachePadded<Slot>>]>,
    pub(crate) guests: Guests,
    pub(crate) posted: Posted,
    /// Jobs are for the workers alone, and spares run none: see `fork/reserved.rs`.
    pub(crate) jobs_reserved: AtomicBool,
    pub(crate) forecast: Forecast,
    pub(crate) owned: OwnedTasks,
    /// The targets of the tasks' [`PoolRef`](super::pool_ref::PoolRef)s: one for each shard of `owned`.
    pub(super) pool_shards: Box<[PoolShard]>,
    pub(crate) monitor: CachePadded<MonitorSwitch>,
    /// The number of workers and spares at this moment.
    present: CachePadded<AtomicUsize>,
    /// How many of them are spares. A hint, which orders nothing.
    pub(super) spares_present: CachePadded<PlainUsize>,
    pub(super) cpu_share: CachePadded<CpuShare>,
    pub(super) choices: CachePadded<Choices>,
    poller: Arc<Poller>,
    pub(crate) blocking: BlockingPool,
    pub(crate) threads: Threads,
    pub(crate) reports: Reports,
    pub(crate) dumper: Dumper,
    /// Whether each poll and each wake-up is recorded.
    pub(crate) full_flight_record: std::sync::Arc<PlainBool>,
    pub(crate) pinned: PinnedThreads,
    /// Another runtime beside this one, from its start to its end.
    pub(crate) companion: Mutex<Option<std::sync::Arc<dyn Companion>>>,
    /// The counts of threads that are not workers of this runtime. The tasks that they finish are those that were
    /// refused: such a thread spawned them too late, and dropped them. They do not count as spawned.
    pub(crate) outside: CachePadded<Counters>,
    /// What these threads observe about tasks.
    pub(crate) observed_outside: ObservedPlace,
    /// What those with tasks of their own observe about their polls.
    pub(crate) observed_local: LocalPlaces,
    closing: AtomicBool,
}

impl Pool {
    pub(crate) fn new(config: Config, poller: Arc<Poller>) -> Arc<Self> {
        let slots = config.workers + config.spares;
        let new_slot = |index| Arc::new(CachePadded::new(Slot::new(index >= config.workers)));
        let owned = OwnedTasks::new(slots);
        let pool_shards = (0..owned.shards()).map(PoolShard::new).collect();
        let pool = Arc::new(Self {
            lane: CachePadded::new(Injector::new()),
            injector: CachePadded::new(Injector::new()),
            roots: CachePadded::new(Injector::new()),
            joiners: CachePadded::new(AtomicUsize::new(0)),
            sleepers: CachePadded::new(Sleepers::new(slots)),
            slots: (0..slots).map(new_slot).collect(),
            guests: Guests::new(config.guests),
            posted: Posted::new(config.workers),
            jobs_reserved: AtomicBool::new(false),
            forecast: Forecast::new(),
            owned,
            pool_shards,
            monitor: CachePadded::new(MonitorSwitch::new(poller.clone())),
            present: CachePadded::new(AtomicUsize::new(0)),
            spares_present: CachePadded::new(PlainUsize::new(0)),
            cpu_share: CachePadded::default(),
            choices: CachePadded::new(Choices::new()),
            poller,
            blocking: BlockingPool::default(),
            threads: Threads::default(),
            reports: Reports::new(config.hooks.long_poll.clone(), &config.thread_name),
            dumper: Dumper::new(config.flight_dumps.clone(), &config.thread_name),
            full_flight_record: std::sync::Arc::new(PlainBool::new(config.flight_recorder)),
            pinned: PinnedThreads::default(),
            companion: Mutex::new(None),
            outside: CachePadded::default(),
            observed_outside: ObservedPlace::default(),
            observed_local: LocalPlaces::default(),
            closing: AtomicBool::new(false),
            config,
        });
        crate::observe::note_waits();
        for shard in &pool.pool_shards {
            shard.set_pool(&pool);
        }
        pool
    }

    /// Puts a task into the injector and makes sure that a worker comes for it.
    pub(crate) fn push(&self, runnable: Runnable) {
        self.injector.push(runnable);
        self.after_push();
    }

    /// Like [`push`](Self::push), but into the lane.
    pub(crate) fn push_lane(&self, runnable: Runnable) {
        self.lane.push(runnable);
        self.after_push();
    }

    /// Queues a computation.
    pub(super) fn push_root(&self, runnable: Runnable) {
        self.roots.push(runnable);
        // As in `after_push`, and partner of the fence in `sleep_joining` too.
        fence(Ordering::SeqCst);
        if !self.wake_for_root() {
            self.wake_somebody();
        }
    }

    /// Lists the tasks that wait behind stalled workers for their first poll, so that they can be looked at.
    ///
    /// A queue does not show what is in it, so the tasks are taken from it as a thief takes them, and go to the
    /// injector, for any worker. They stay in the list from then on.
    pub(crate) fn list_stalled(&self, now: u64) {
        if self.poller.is_manual() {
            // Its tasks are its thread's.
            return;
        }
        for slot in self.slots.iter().filter(|slot| slot.is_polling() && slot.is_seen_stalled()) {
            let mut has_moved = false;
            for _ in 0..slot.stealer.len() {
                let Some(runnable) = slot.stealer.steal() else { break };
                runnable.list(now);
                self.injector.push(runnable);
                has_moved = true;
            }
            if has_moved {
                // As in `after_push`.
                fence(Ordering::SeqCst);
                self.wake_somebody();
            }
        }
    }

    /// Wakes a sleeper, or makes sure that the push is seen. Its fence is the partner of those in `Worker::sleep` and
    /// `Worker::found`: either we see the sleeper (or that nobody searches), or it sees what was pushed.
    pub(super) fn after_push(&self) {
        fence(Ordering::SeqCst);
        if !self.wake_one() {
            self.hurry_if_busy_after_push();
        }
    }

    /// Called when work waits for which no particular worker is responsible: wakes a sleeper, or has the monitor look
    /// soon if all are busy and may be so for long. A searcher will come to it by itself.
    pub(crate) fn wake_somebody(&self) {
        if !self.wake_one() {
            self.hurry_if_busy();
        }
    }

    /// Wakes one sleeper, unless a worker searches. Returns true if it did.
    pub(crate) fn wake_one(&self) -> bool {
        let popped = if self.sleepers.would_wake() { self.sleepers.pop() } else { None };
        popped.map(|popped| self.wake(popped)).is_some()
    }

    /// Wakes one sleeper, even if a worker searches. Returns true if it did.
    pub(super) fn wake_any(&self) -> bool {
        self.sleepers.pop_any().map(|popped| self.wake(popped)).is_some()
    }

    /// Wakes a worker that was popped.
    fn wake(&self, popped: Popped) {
        self.slots[popped.index].unparker.unpark();
        if popped.place == SleepPlace::Seat {
            // The token first: the worker looks for it when it returns from the OS.
            self.poller.kick_seat();
        }
    }

    /// Wakes every sleeper, including those in joins.
    pub(crate) fn wake_all(&self) {
        for popped in self.sleepers.pop_all() {
            self.wake(popped);
        }
        if self.has_joiners() {
            for index in 0..self.slots.len() {
                self.wake_joiner(index);
            }
        }
    }

    /// Takes a single task from the shared queues.
    pub(crate) fn take_one(&self) -> Option<Runnable> {
        self.lane.take().or_else(|| self.injector.take())
    }

    /// Returns the number of workers and spares at this moment.
    pub(crate) fn present(&self) -> usize {
        // Relaxed: a thread that must not miss one that leaves has passed a fence, the partner of that in `note_move_out`.
        self.present.load(Ordering::Relaxed)
    }

    /// Returns how many of them are not asleep.
    pub(crate) fn awake(&self) -> usize {
        self.present().saturating_sub(self.sleepers.sleeping())
    }

    /// Notes that a thread moves into a slot.
    pub(crate) fn note_move_in(&self, index: usize) {
        self.present.fetch_add(1, Ordering::Relaxed);
        if index >= self.config.workers {
            self.spares_present.fetch_add(1, Plain::Relaxed);
        }
        self.slots[index].activity.move_in();
        // Partner of the fence in `Monitor::switch_off`: either the monitor counts the thread, or the thread finds the
        // monitor off and switches it on.
        fence(Ordering::SeqCst);
    }

    /// Notes that the thread in a slot has moved out, or could not be started.
    pub(crate) fn note_move_out(&self, index: usize) {
        self.slots[index].activity.move_out();
        self.present.fetch_sub(1, Ordering::Relaxed);
        if index >= self.config.workers {
            self.spares_present.fetch_sub(1, Plain::Relaxed);
        }
        // Partner of the fence of a worker's announcement: one that was parked because we had the seat's lock is seen
        // here to sleep.
        fence(Ordering::SeqCst);
        if self.nobody_looks() {
            self.wake_one();
        }
        // The timers that its last poll has armed, which it would have looked at before it sleeps.
        self.poller.entrust_timers();
    }

    /// Returns true if all workers sleep, and none of them in the seat. The caller has passed a fence after it has
    /// given up the seat, or has announced that it sleeps. See `poller/seat.rs`.
    pub(crate) fn nobody_looks(&self) -> bool {
        // The lock comes last, so that it is touched only if that can mislead nobody.
        self.awake() == 0
            && !self.sleepers.is_seat_taken()
            && !self.poller.is_seat_of_thread()
            && !self.poller.is_thread_in_seat()
            && self.poller.probe_seat()
    }

    /// Returns true if tasks wait for which no particular worker is responsible.
    pub(crate) fn has_shared_work(&self) -> bool {
        !self.lane.is_empty() || !self.injector.is_empty()
    }

    /// Returns true if a computation waits to be begun.
    pub(crate) fn has_root(&self) -> bool {
        !self.roots.is_empty()
    }

    /// Refuses further tasks, and cancels all that exist. The workers leave when the last task is gone.
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

    /// Returns true once the pool is closing and no task is left. The list is asked first, then the counters: see
    /// *Shutdown* in this folder's `README.md`.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closing() && self.owned.is_over() && self.unfinished() == 0
    }

    /// Returns the number of unfinished tasks, listed or not.
    pub(crate) fn unfinished(&self) -> u64 {
        // Finished is read before spawned. Otherwise a task that is spawned and ends in between would count as finished
        // only, and hide another.
        let finished: u64 = self.slots.iter().map(|slot| slot.counters.finished.get()).sum();
        self.spawned() - finished
    }

    /// Returns the number of tasks that were accepted.
    pub(crate) fn spawned(&self) -> u64 {
        let by_workers: u64 = self.slots.iter().map(|slot| slot.counters.spawned.get()).sum();
        by_workers + self.outside.spawned.get()
    }

    /// Returns the tasks that are being polled at this moment.
    pub(crate) fn running(&self) -> Vec<Origin> {
        let mut running = self
            .owned
            .running(|task| self.slots.iter().any(|slot| slot.in_poll_of(task).is_some()));
        let unlisted = self.slots.iter().filter_map(|slot| slot.unlisted());
        running.extend(unlisted.map(|(site, _)| Origin::new(site.get().location, None)));
        running
    }

    /// Called by a worker that leaves. If it finds the pool over, it makes sure that all others find that too.
    pub(super) fn left(&self) {
        // Partner of the fence in `Worker::sleep`: of the threads that have ended a task, the last to pass
        // its fence sees what all of them have done, and which workers sleep.
        fence(Ordering::SeqCst);
        if self.is_over() {
            self.wake_all();
            self.poller.kick();
        }
    }
}

#[cfg(all(test, not(loom)))]
impl Pool {
    /// Returns a pool with slots for this many workers, all of them vacant.
    pub(crate) fn for_tests(workers: usize) -> Arc<Self> {
        Self::for_tests_with(workers, |_| ())
    }

    /// Like [`for_tests`](Self::for_tests), but with other settings.
    pub(crate) fn for_tests_with(workers: usize, change: impl FnOnce(&mut Config)) -> Arc<Self> {
        let stuck_after = std::time::Duration::from_secs(3600);
        let mut config = Config { guests: 1, stuck_after, observe: true, ..Config::bare(workers) };
        change(&mut config);
        let poller = Poller::new(workers, false, crate::poller::Clock::of_the_os())
            .expect("the OS has what a poller needs");
        Self::new(config, poller)
    }
}
