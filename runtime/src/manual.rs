//! A runtime driven by hand, for programs that have a main loop of their own.
//!
//! A [`Loop`] starts no worker and runs nothing by itself: [`Loop::ready_tasks`] says which tasks can
//! go on, and the program runs them when and in which order it likes. Sockets, events and everything
//! else that can be awaited on a [`Runtime`](crate::Runtime) works here too.
//!
//! To wait for the loop together with other things, nest it: it is a descriptor (`AsFd`; on Windows a
//! handle, `AsHandle`) that becomes readable (signalled) when `ready_tasks` has something to do.
//!
//! ```
//! use std::time::Duration;
//!
//! let mut tasks = windlass::Builder::new().build_manual()?;
//! let handle = tasks.spawn_local(async { 6 * 7 });
//! while !handle.is_finished() {
//!     for runnable in tasks.ready_tasks(Some(Duration::from_millis(10)))? {
//!         runnable.run();
//!     }
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::context;
use crate::handle::Handle;
use crate::metrics::Metrics;
use crate::poller::Descriptor;
use crate::primitives::{Arc, Ordering, fence, thread};
use crate::sched::{Pool, Worker};
use crate::shutdown;
use crate::task::{self, JoinHandle, Origin};

/// In virtual time: how long until the next look at what other threads do.
const PAUSE: Duration = Duration::from_millis(1);

/// A single-threaded runtime that the program drives. Made by
/// [`Builder::build_manual`](crate::Builder::build_manual).
///
/// Dropping it cancels all of its tasks, whose futures are dropped before it returns.
pub struct Loop {
    worker: Rc<Worker>,
    handle: Handle,
    /// How many `Runnable`s the program has.
    held: Rc<Cell<usize>>,
}

impl Loop {
    pub(crate) fn of(pool: Arc<Pool>) -> Self {
        let handle = Handle::new(pool.clone());
        let worker = Worker::new(pool, 0).expect("a new pool has its slots free");
        Self { worker: Rc::new(worker), handle, held: Rc::default() }
    }

    /// Spawns a task that stays on this thread; it need not be `Send`. Nothing of it runs before
    /// it is handed out by [`ready_tasks`](Self::ready_tasks).
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let origin = Origin::new(Location::caller(), None);
        let pool = self.handle.pool();
        let handle = context::enter_worker(&self.worker, || {
            // SAFETY: the tasks of this pool are run through `Runnable`, and cancelled by the
            // loop's drop, neither of which leaves this thread.
            unsafe { pool.spawn_unchecked(future, origin) }
        });
        // As in `Runnable::run`.
        pool.poller().kick();
        handle
    }

    /// A reference for other threads to spawn onto the loop, and for this one to
    /// [`enter`](Handle::enter) it.
    ///
    /// [`Handle::block_on`] drives no loop: on another thread it waits for what comes while this one does, and on this
    /// one a future that waits for a timer or a socket of the loop would wait for ever.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What the loop has done so far.
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    /// Waits until tasks can go on, for `timeout` at the most (`None`: for as long as it takes;
    /// zero: not at all), and gives them. None of them is run: call [`Runnable::run`].
    ///
    /// What is not run, because the iterator or a `Runnable` is dropped, is given again next time.
    ///
    /// # Errors
    ///
    /// If the OS refuses to wait, or has no descriptor left for the alarm that the first timer needs. Nothing is
    /// lost by that: call it again.
    pub fn ready_tasks(
        &mut self,
        timeout: Option<Duration>,
    ) -> io::Result<impl Iterator<Item = Runnable> + use<>> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let endless = deadline.is_none();
        let mut left = timeout;
        loop {
            let ready = self.look(left)?;
            if !ready.is_empty() {
                return Ok(ready.into_iter());
            }
            // Nothing yet: a signal, or an event that nobody waits for.
            left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !endless && left == Some(Duration::ZERO) {
                return Ok(Vec::new().into_iter());
            }
        }
    }

    /// What the platform's own traits give out.
    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        self.handle.pool().poller().descriptor()
    }

    fn look(&mut self, timeout: Option<Duration>) -> io::Result<Vec<Runnable>> {
        let pool = self.handle.pool();
        let poller = pool.poller();
        let jumps = poller.is_virtual() && poller.timers().in_use();
        // Before the look at what is ready: what other threads have done until now is found there.
        let may_jump = jumps && poller.is_quiet_outside(pool);
        let timeout = match timeout {
            // In virtual time nothing comes by waiting, as long as there is a deadline to jump to.
            _ if may_jump => Some(Duration::ZERO),
            // Nobody tells when the last of the others is done.
            _ if jumps => Some(timeout.unwrap_or(PAUSE).min(PAUSE)),
            _ => timeout,
        };
        context::enter_worker(&self.worker, || poller.wait_in_loop(timeout))?;
        // Whoever pushes from here on kicks again; the fence is the partner of the one in
        // `Pool::after_push`.
        pool.monitor.settle();
        fence(Ordering::SeqCst);
        let ready = context::enter_worker(&self.worker, || {
            let ready = self.worker.take_ready();
            if !ready.is_empty() || !may_jump || !poller.jump() {
                return ready;
            }
            self.worker.take_ready()
        });
        // From now on the loop's descriptor tells of the next deadline, too.
        match poller.set_alarm() {
            // What can go on comes first. If there still is no alarm the next time, that is said then.
            Err(error) if ready.is_empty() => return Err(error),
            _ => {}
        }
        let runnable = |inner| Runnable::new(inner, self.worker.clone(), self.held.clone());
        Ok(ready.into_iter().map(runnable).collect())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let start = Instant::now();
        let pool = self.handle.pool();
        shutdown::begin(pool);
        context::enter_worker(&self.worker, || {
            // What the program still holds keeps the pool alive. All else must be gone before the
            // pool is, also a task that another thread has woken and not yet pushed.
            while pool.unfinished() > self.held.get() as u64 {
                if !run_all(&self.worker) {
                    thread::yield_now();
                }
            }
        });
        let _ = shutdown::finish_dropped(pool, start);
    }
}

/// Runs what is ready, which in a loop that ends is to cancel it; true if there was anything.
fn run_all(worker: &Worker) -> bool {
    let ready = worker.take_ready();
    let any = !ready.is_empty();
    ready.into_iter().for_each(|runnable| worker.run_task(runnable));
    any
}

impl fmt::Debug for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loop").finish_non_exhaustive()
    }
}

/// A task of a [`Loop`] that can go on. Dropping it without running it puts it back.
#[must_use = "a runnable that is dropped is only put back"]
pub struct Runnable {
    /// Taken by `run`, or else by the drop.
    inner: Option<task::Runnable>,
    origin: Origin,
    worker: Rc<Worker>,
    held: Rc<Cell<usize>>,
}

impl Runnable {
    fn new(inner: task::Runnable, worker: Rc<Worker>, held: Rc<Cell<usize>>) -> Self {
        held.set(held.get() + 1);
        Self { origin: inner.origin(), inner: Some(inner), worker, held }
    }

    /// Polls the task once. A panic of the task is reported by its [`JoinHandle`].
    pub fn run(mut self) {
        if let Some(inner) = self.inner.take() {
            context::enter_worker(&self.worker, || {
                self.worker.run_task(inner);
                // The task may have dropped the loop, and then waited: nobody else would cancel it.
                while self.worker.pool().is_closing() && run_all(&self.worker) {}
                if self.worker.has_own() {
                    // A worker would come to its own queue by itself; a loop must be told to look.
                    self.worker.pool().poller().kick();
                }
            });
        }
    }

    /// The task's name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.origin.name.as_deref()
    }

    /// Where the task was spawned.
    pub fn location(&self) -> &'static Location<'static> {
        self.origin.location
    }
}

impl Drop for Runnable {
    fn drop(&mut self) {
        self.held.set(self.held.get() - 1);
        let Some(inner) = self.inner.take() else { return };
        let pool = self.worker.pool();
        if pool.is_closing() {
            // The loop is gone: this cancels the task.
            context::enter_worker(&self.worker, || self.worker.run_task(inner));
        } else {
            pool.push(inner);
        }
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runnable").field("location", &self.location()).finish_non_exhaustive()
    }
}
