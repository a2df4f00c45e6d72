//! A worker: the loop that takes ready tasks and runs them.
//!
//! Where the next task comes from, in this order:
//!
//! 1. every 50–100 µs of running, the lane and the injector, so that what comes from outside never
//!    waits behind a worker's own backlog for longer than that;
//! 2. the LIFO slot, at most three times in a row;
//! 3. the worker's own queue;
//! 4. the lane (what the poller pushed), the injector (what outside threads pushed);
//! 5. fork-join roots, also looked at by time, except right after one;
//! 6. other workers' queues, and their LIFO slots and offered jobs last.
//!
//! A worker is responsible for what is in its own queue: it wakes a sleeper when there is more than it will get done in
//! the time a wake-up takes, and the monitor steps in when the worker does not get around to that.

use std::cell::Cell;
use std::time::Instant;

use crossbeam_utils::CachePadded;
use windlass_sync::Parker;

use super::contention::Contention;
use super::pacing::Pacing;
use super::policy::LIFO_RUNS;
use super::pool::Pool;
use super::search::Search;
use super::slot::{Kit, Slot};
use super::spin::Spin;
use super::steal::StealOrder;
use crate::context;
use crate::coop;
use crate::deque::Deque;
use crate::fork::{Computation, Pending};
use crate::hooks;
use crate::observe::Observer;
use crate::primitives::{Arc, Ordering, fence};
use crate::task::{Header, Runnable};

/// The thread-bound part of a worker. Others see only its [`Slot`].
pub(crate) struct Worker {
    pub(crate) pool: Arc<Pool>,
    pub(super) index: usize,
    /// The pool's slot at our index, kept here to save a look at the pool.
    slot: Arc<CachePadded<Slot>>,
    pub(super) queue: Deque<Runnable>,
    pub(crate) parker: Parker,
    pub(crate) pending: Pending,
    pub(crate) computation: Computation,
    pub(super) spin: Spin,
    pub(super) contention: Contention,
    pub(crate) pacing: Pacing,
    pub(crate) observer: Observer,
    lifo_runs: Cell<u32>,
    /// It was woken since it last computed.
    pub(crate) woken: Cell<bool>,
    /// The next `reschedule` goes through the injector.
    pub(crate) hop: Cell<bool>,
    /// Tasks that are woken queue up, instead of running next.
    in_order: Cell<bool>,
    pub(crate) steal_order: StealOrder,
    /// It is in a job that it runs in the place of a pool that closes.
    pub(crate) in_leftover: Cell<u32>,
}

impl Worker {
    /// Moves into a slot. Returns `None` if another thread works there.
    pub(crate) fn new(pool: Arc<Pool>, index: usize) -> Option<Self> {
        let Kit { queue, parker, pending } = pool.fork_slot(index).kit.lock().take()?;
        let now = Instant::now();
        Some(Self {
            spin: Spin::new(pool.config.awake_to_spin > 0),
            observer: Observer::of(&pool, index, now),
            slot: pool.fork_slot(index).clone(),
            pool,
            index,
            queue,
            parker,
            pending,
            computation: Computation::new(now),
            contention: Contention::new(now),
            pacing: Pacing::new(now),
            lifo_runs: Cell::new(0),
            woken: Cell::new(false),
            hop: Cell::new(false),
            in_order: Cell::new(false),
            steal_order: StealOrder::new(index),
            in_leftover: Cell::new(0),
        })
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    /// Returns true for a worker, and false for a spare or a guest.
    #[inline]
    pub(crate) fn is_regular(&self) -> bool {
        self.index < self.pool.config.workers
    }

    /// Returns true for a thread that takes part only in its own computation.
    pub(crate) fn is_guest(&self) -> bool {
        self.index >= self.pool.slots.len()
    }

    /// Returns true for a worker or a spare of this pool.
    pub(crate) fn works_for(&self, pool: &Arc<Pool>) -> bool {
        !self.is_guest() && Arc::ptr_eq(&self.pool, pool)
    }

    /// Works until the runtime ends or, for a spare, until it is not needed any more; then moves out.
    pub(crate) fn run(self) {
        self.computation.allow_polls();
        self.pool.monitor.switch_on();
        self.observer.note_start();
        context::enter_worker(&self, || {
            hooks::run_first_job(&self);
            loop {
                let status = self.slot().status.read_own();
                if status.spare().is_some() {
                    self.end_relief();
                }
                if status.must_retire() {
                    break;
                }
                if status.spare().is_some() && self.leaves_tasks() {
                    self.hand_over();
                } else if let Some(runnable) = self.next() {
                    self.run_task(runnable);
                    continue;
                }
                if let Some(job) = self.another_job() {
                    self.run_job(job);
                } else {
                    match self.search() {
                        Search::Found(runnable) => self.run_task(runnable),
                        Search::Job(job) => self.run_job(job),
                        Search::Leave => break,
                    }
                }
            }
            // No other thread dismisses the spare of a worker that leaves. Partner of the fence in
            // `Monitor::relieve`: it is noted by now, or the monitor sees that our last poll is over.
            fence(Ordering::SeqCst);
            self.dismiss_own_spare();
            hooks::run_last_job(&self);
            self.hand_over();
            self.run_posted();
            // What these jobs have spawned and woken.
            self.hand_over();
            self.observer.note_end();
            self.pool.left();
        });
        self.move_out();
    }

    /// Leaves the slot to the next.
    pub(crate) fn move_out(self) {
        let Worker { slot, queue, parker, pending, .. } = self;
        *slot.kit.lock() = Some(Kit { queue, parker, pending });
    }

    /// Runs one task, as the current worker.
    pub(crate) fn run_task(&self, runnable: Runnable) {
        let tick = &self.slot().counters.tick;
        tick.bump();
        self.slot().note_poll(Some(&runnable));
        self.hop.set(false);
        coop::start();
        self.run_or_cancel(runnable);
        self.end_computing();
        coop::stop();
        tick.bump();
    }

    /// Polls a task, unless the runtime ends.
    pub(crate) fn run_or_cancel(&self, runnable: Runnable) {
        let had_entered = context::has_entered();
        self.observer.begin_poll(runnable.notes());
        if self.pool.is_closing() {
            // `close` has not reached it, or never will if it is in no list.
            runnable.cancel();
        } else {
            runnable.run();
        }
        if context::has_entered() && !had_entered {
            // A task has forgotten its guard, or keeps it while it waits. The next task is ours again.
            context::leave_forgotten();
        }
    }

    /// Has a poll that is over timed.
    pub(super) fn time_poll(&self, task: &Header) {
        self.observer.end_timed_poll(task, self.computation.began(), self.slot().polls_begun());
    }

    /// Takes a fork-join root, except in a poll in place.
    pub(super) fn take_root(&self) -> Option<Runnable> {
        if self.pool.has_root() && !self.is_in_place() && self.may_compute() {
            self.pool.roots.take()
        } else {
            None
        }
    }

    /// Runs a posted job, if there is one, and takes a root.
    pub(super) fn take_computation(&self) -> Option<Runnable> {
        if let Some(job) = self.take_posted_in_turn() {
            self.run_job(job);
        }
        self.take_root()
    }

    /// Takes the next task from what is at hand.
    pub(crate) fn next(&self) -> Option<Runnable> {
        if self.pacing.count_poll() {
            let found = self.look_at_clock();
            self.observer.note_clock(self.slot().counters.poll_time.get(), self.queue.len());
            if found.is_some() {
                return found;
            }
        }
        if self.lifo_runs.get() < LIFO_RUNS {
            if let Some(runnable) = self.slot().lifo.take() {
                self.lifo_runs.set(self.lifo_runs.get() + 1);
                return Some(runnable);
            }
        }
        self.lifo_runs.set(0);
        self.queue
            .pop()
            .or_else(|| self.slot().lifo.take())
            .or_else(|| self.take_shared())
            .or_else(|| if self.pool.has_root() { self.take_computation() } else { None })
    }

    /// Takes a batch from the lane or the injector. This worker is then responsible for what is left in its queue.
    pub(super) fn take_shared(&self) -> Option<Runnable> {
        let Pool { lane, injector, .. } = &*self.pool;
        lane.take_into(&self.queue).or_else(|| injector.take_into(&self.queue))
    }

    pub(crate) fn has_own(&self) -> bool {
        !self.queue.is_empty() || !self.slot().lifo.is_empty()
    }

    /// Takes everything that is ready at this moment, without running any of it.
    pub(crate) fn take_ready(&self) -> Vec<Runnable> {
        let mut ready = Vec::new();
        let more = || self.take_own().or_else(|| self.take_shared()).or_else(|| self.take_root());
        while let Some(runnable) = more() {
            ready.push(runnable);
        }
        ready
    }

    /// Takes events from the OS and fires timers, without blocking. Returns true if there were any. What they woke is
    /// in our own queue.
    pub(crate) fn poll_os(&self) -> bool {
        self.polled(self.pool.poller().poll())
    }

    /// Like [`poll_os`](Self::poll_os), but without the timers.
    pub(super) fn poll_events(&self) -> bool {
        self.polled(self.pool.poller().poll_events())
    }

    /// Like [`poll_os`](Self::poll_os), but for timers alone.
    pub(super) fn fire_timers(&self) -> bool {
        self.polled(self.pool.poller().fire_due())
    }

    fn polled(&self, found: usize) -> bool {
        self.observer.dispatched(found);
        if found > 1 {
            self.consider_waking();
        }
        found > 0
    }

    pub(crate) fn take_own(&self) -> Option<Runnable> {
        self.slot().lifo.take().or_else(|| self.queue.pop())
    }

    /// Has the tasks that `f` wakes run in the order in which it wakes them.
    pub(crate) fn wake_in_order<R>(&self, f: impl FnOnce() -> R) -> R {
        let outer = self.in_order.replace(true);
        let result = f();
        self.in_order.set(outer);
        result
    }

    /// Has a task that this worker has woken run next.
    pub(crate) fn push_woken(&self, runnable: Runnable) {
        self.observer.note_wake(&runnable, self.in_order.get());
        if self.in_order.get() && self.has_own() {
            return self.push(runnable);
        }
        if let Some(evicted) = self.slot().lifo.put(runnable) {
            self.push(evicted);
        }
    }

    /// Queues a task that this worker has spawned or polled.
    pub(crate) fn push(&self, runnable: Runnable) {
        self.queue.push(runnable);
        if self.pacing.count_push() {
            self.consider_waking();
        }
    }

    /// Queues a task that was woken while this worker polled it.
    pub(crate) fn push_again(&self, runnable: Runnable) {
        if self.hop.take() {
            self.pool.push(runnable);
        } else {
            self.push(runnable);
        }
    }

    /// Has the task that is running go through the injector with its next wake-up.
    pub(crate) fn hop_next(&self) {
        self.hop.set(true);
    }
}
