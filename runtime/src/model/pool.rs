//! A pool for models: the real one, whose threads are started by the model.

use std::future::Future;
use std::task::Waker;
use std::time::{Duration, Instant};

use super::{Fork, Pipe};
use crate::Scope;
use crate::context;
use crate::handle::Handle;
use crate::manual::Loop;
use crate::poller::{self, Clock, Poller};
use crate::primitives::Arc;
use crate::sched::{self, Config, Duty, SleepPlace, Worker};
use crate::shutdown;
use crate::task::{JoinHandle, Origin};

/// The shared half of a runtime, without threads.
#[derive(Clone)]
pub struct Pool(Arc<sched::Pool>);

impl Pool {
    /// Creates a pool with this many slots for workers and for spares. Its monitor is on, so that switching it on
    /// costs a model nothing.
    pub fn new(workers: usize, spares: usize) -> Self {
        Self::unmonitored(workers, spares).monitored()
    }

    /// As [`new`](Self::new), with workers that wait this long for their next job while a spare looks after tasks. Time
    /// does not pass in models, so any wait but zero never ends.
    pub fn patient(workers: usize, spares: usize, next_job: Duration) -> Self {
        Self::with(workers, spares, |config| config.next_job = Some(next_job)).monitored()
    }

    /// As [`new`](Self::new), with the monitor switched off.
    pub fn unmonitored(workers: usize, spares: usize) -> Self {
        Self::with(workers, spares, |_| ())
    }

    /// Creates a pool without slots for threads, for a [`manual_loop`](Self::manual_loop).
    pub fn manual() -> Self {
        Self::of(Config::bare(1), true)
    }

    /// As [`new`](Self::new), with this many slots for guests in place of spares.
    pub fn hospitable(workers: usize, guests: usize) -> Self {
        Self::with(workers, 0, |config| config.guests = guests).monitored()
    }

    /// As [`hospitable`](Self::hospitable), with no CPU for a guest beside the workers.
    pub fn without_room(workers: usize, guests: usize) -> Self {
        let few_cpus = |config: &mut Config| (config.guests, config.cpus) = (guests, workers);
        Self::with(workers, 0, few_cpus).monitored()
    }

    /// As [`new`](Self::new), without spares, and with thieves that watch an offer before they take it. Time does not
    /// pass in models: its owner has one opportunity to come back to it.
    pub fn watchful(workers: usize) -> Self {
        Self::with(workers, 0, |config| config.offer_age = Duration::MAX).monitored()
    }

    pub(super) fn pool(&self) -> &Arc<sched::Pool> {
        &self.0
    }

    fn monitored(self) -> Self {
        self.0.monitor.switch_on();
        self
    }

    fn with(workers: usize, spares: usize, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config { spares, ..Config::bare(workers) };
        change(&mut config);
        Self::of(config, false)
    }

    fn of(config: Config, manual: bool) -> Self {
        let poller = Poller::new(config.workers, manual, Clock::of_the_os())
            .expect("models have no OS that could fail");
        Self(sched::Pool::new(config, poller))
    }

    /// Creates a pipe with a number of its own, not registered yet.
    pub fn pipe(&self, number: usize) -> Pipe {
        Pipe::new(self.0.poller(), number)
    }

    /// Takes the seat and leaves it without a wait, as a worker does if it is woken before it has waited.
    pub fn sit_in_vain(&self) {
        self.0.poller().take_seat().expect("nobody sits").leave();
    }

    /// Looks at the OS once, as a worker does.
    pub fn poll_os(&self) {
        self.0.poller().poll();
    }

    /// Takes what no worker takes, as the poller's thread does when it finds all of them stalled.
    pub fn poll_as_last_resort(&self) {
        poller::look_after_os(&self.0, true);
    }

    /// Holds the seat's lock while `meanwhile` runs, and checks afterwards whether nobody looks, as the poller's thread
    /// does.
    pub fn hold_seat<T>(&self, meanwhile: impl FnOnce() -> T) -> T {
        let seat = self.0.poller().take_seat();
        assert!(seat.is_some(), "the seat is free");
        let result = meanwhile();
        drop(seat);
        poller::look_after_os(&self.0, false);
        result
    }

    /// Returns the shard of a thread that is not a worker.
    pub fn outside_timers(&self) -> &windlass_timer::ShardRef {
        self.0.poller().timers().outside(0)
    }

    /// Returns the shard of a worker.
    pub fn worker_timers(&self, index: usize) -> &windlass_timer::ShardRef {
        self.0.poller().timers().worker(index)
    }

    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(future, Origin::caller())
    }

    /// Queues a computation.
    pub fn compute<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        crate::fork::model::compute(&self.0, f, Origin::caller())
    }

    /// Reaches a point in a computation where the worker looks after tasks.
    pub fn split_point(&self) {
        crate::fork::model::split_point();
    }

    /// Creates a worker for fork-join, on the current thread.
    pub fn fork(&self, index: usize) -> Fork {
        Fork::new(&self.0, index)
    }

    /// Runs a `join` of an outside thread, in a guest's slot. Returns `None` if none is free.
    pub fn join_as_guest<A, B, RA, RB>(&self, a: A, b: B) -> Option<(RA, RB)>
    where
        A: FnOnce() -> RA,
        B: FnOnce() -> RB,
    {
        crate::fork::model::join_as_guest(&self.0, a, b)
    }

    /// Runs a `scope_in_place` of an outside thread for which there is no guest's slot.
    pub fn scope_outside<'scope>(&self, f: impl FnOnce(&Scope<'scope>)) {
        crate::fork::model::scope_outside(&self.0, f);
    }

    /// Has whichever worker comes first run a closure.
    pub fn post(&self, f: impl FnOnce() + Send + 'static) {
        sched::Pool::post_static(&self.0, f);
    }

    /// Reserves jobs for the workers from now on.
    pub fn reserve_jobs(&self) {
        self.0.reserve_jobs();
    }

    /// Calls a closure on each worker, and returns the results.
    pub fn broadcast<R: Send>(&self, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        Handle::new(self.0.clone()).broadcast(f)
    }

    /// Runs a `block_on` of an outside thread, as in virtual time.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        poller::outside_activity::block_on(&self.0, future)
    }

    /// Returns true if virtual time could jump, as far as outside threads are concerned.
    pub fn is_quiet_outside(&self) -> bool {
        self.0.poller().is_quiet_outside(&self.0)
    }

    /// Wakes somebody for an offer.
    pub fn wake_thief(&self) {
        self.0.wake_thief();
    }

    /// Creates a manual loop on the current thread, in place of a worker.
    pub fn manual_loop(&self) -> Loop {
        Loop::of(self.0.clone())
    }

    /// Has a thread work here, as `relieve` and `start_worker` do before the thread begins.
    pub fn occupy(&self, index: usize) -> Workplace {
        // The slot of a worker is never vacant.
        let _ = self.0.slots[index].status.claim(Duty::Everything);
        self.0.note_move_in(index);
        Workplace { pool: self.clone(), index }
    }

    /// Starts the poller's thread. In a model its pauses never run out: it looks when it is kicked.
    pub fn start_poller(&self) {
        poller::start(&self.0).expect("models have no OS that could fail");
    }

    /// Has a thread called for a waker that may block, as the poller's thread does that finds one.
    pub fn hand_on(&self, waker: Waker) {
        poller::hand_on(&self.0, waker);
    }

    /// Has the threads of the blocking pool end.
    pub fn close_blocking(&self) {
        assert!(self.0.blocking.close().is_empty(), "the model spawns no closures");
    }

    /// Keeps the threads that the pool starts itself from now on, for [`join_threads`](Self::join_threads).
    pub fn keep_threads(&self) {
        self.0.threads.begin_end();
    }

    /// Waits for the threads that were kept.
    pub fn join_threads(&self) {
        assert!(self.0.threads.join_all(None, None));
    }

    /// Begins to shut down, as a runtime does.
    pub fn shut_down(&self) {
        shutdown::begin(&self.0);
    }

    /// Cancels all tasks, and lets no new one in.
    pub fn close(&self) {
        self.0.close();
    }

    /// Wakes every sleeper.
    pub fn wake_all(&self) {
        self.0.wake_all();
    }

    /// Returns true if the pool is closed and no task is left.
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Tells the worker in a slot to leave.
    pub fn retire(&self, index: usize) {
        self.0.slots[index].status.dismiss();
    }

    /// Lets a worker find, at the end of a poll, that a spare has replaced it.
    pub fn relieve(&self, index: usize, spare: usize) {
        self.0.slots[index].status.note_spare(spare);
    }

    /// Claims a slot for the next spare, as the monitor does if no thread is there. Returns false if the last spare
    /// has not been told to leave.
    #[must_use]
    pub fn claim(&self, spare: usize) -> bool {
        self.0.slots[spare].status.claim(Duty::Everything)
    }

    /// Tells the spare of a worker to leave, as the worker does when it comes back.
    pub fn dismiss_spare_of(&self, index: usize) {
        if let Some(spare) = self.0.slots[index].status.take_spare() {
            self.retire(spare);
        }
    }

    /// Returns true if the spare in a slot has been told to leave.
    pub fn must_retire(&self, spare: usize) -> bool {
        self.0.slots[spare].status.read_own().must_retire()
    }

    /// As [`relieve`](Self::relieve), while the worker computes.
    pub fn relieve_computing(&self, index: usize, spare: usize) {
        self.keep_for_tasks(spare);
        self.relieve(index, spare);
    }

    /// Makes a spare leave computations to others.
    pub fn keep_for_tasks(&self, spare: usize) {
        self.0.slots[spare].status.narrow_duty();
    }

    /// Puts a worker that does not exist onto the sleepers' stack.
    pub fn pretend_asleep(&self, index: usize) {
        self.0.sleepers.announce(index, SleepPlace::Parker, false);
    }

    /// Returns the number of sleeping workers.
    pub fn sleeping(&self) -> usize {
        self.0.sleepers.sleeping()
    }

    /// Returns true if no task waits in a shared queue.
    pub fn is_idle(&self) -> bool {
        !self.0.has_shared_work()
    }

    /// Returns true unless the monitor is off.
    pub fn is_monitored(&self) -> bool {
        self.0.monitor.is_on()
    }

    /// Returns true if a thread has asked the monitor to look soon, and it has not settled since.
    pub fn is_hurried(&self) -> bool {
        self.0.monitor.is_hurried()
    }

    /// Returns true while a worker has a slot.
    pub fn is_occupied(&self, index: usize) -> bool {
        self.0.slots[index].activity.is_present()
    }

    /// Creates a monitor of the workers, as the poller's thread has it.
    pub fn monitor(&self) -> Monitor {
        // One reading of the clock: with two, the time between them would decide who counts as stalled.
        let start = Instant::now();
        Monitor { inner: sched::Monitor::new(&self.0, start), start }
    }
}

/// The monitor's record of the workers.
pub struct Monitor {
    inner: sched::Monitor,
    start: Instant,
}

impl Monitor {
    /// Checks the workers, at this time after the start.
    pub fn look(&mut self, pool: &Pool, after: Duration) {
        self.inner.look(&pool.0, self.start + after);
    }

    /// Sends a spare for a worker that has made no progress since the last look, as a look does when it finds the
    /// worker stuck.
    pub fn relieve(&mut self, pool: &Pool, stuck: usize) {
        self.inner.relieve(&pool.0, stuck);
    }
}

/// A slot that a worker is about to take.
pub struct Workplace {
    pool: Pool,
    index: usize,
}

impl Workplace {
    /// Works on the current thread until the worker leaves.
    pub fn work(self) {
        let Self { pool: Pool(pool), index } = self;
        let worker = Worker::new(pool.clone(), index).expect("somebody works there");
        worker.run();
        pool.note_move_out(index);
    }

    /// Looks at the OS without blocking, as a busy worker does, and leaves.
    pub fn look_and_leave(self) {
        let poller = self.pool.0.poller().clone();
        self.poll_and_leave(|| _ = poller.poll_events());
    }

    /// Does what a task does in its last poll here, and leaves.
    pub fn poll_and_leave<R>(self, poll: impl FnOnce() -> R) -> R {
        let Self { pool: Pool(pool), index } = self;
        let worker = Worker::new(pool.clone(), index).expect("somebody works there");
        let result = context::enter_worker(&worker, || {
            let result = poll();
            worker.hand_over();
            result
        });
        worker.move_out();
        pool.note_move_out(index);
        result
    }
}
