//! A runtime driven by hand, for programs that have a main loop of their own.
//!
//! A [`Loop`] starts no worker and runs nothing on its own: [`Loop::ready_tasks`] returns the tasks that are ready, and
//! the program runs them when, and in the order, it likes. Sockets, events and everything else that can be awaited on a
//! [`Runtime`](crate::Runtime) work here too.
//!
//! To wait for the loop together with other things, nest it in another event loop: it is a descriptor (`AsFd`; on
//! Windows a handle, `AsHandle`) that becomes readable (signalled) when `ready_tasks` has something to do.
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
use std::vec;

use crate::context;
use crate::handle::Handle;
use crate::metrics::Metrics;
use crate::poller::Descriptor;
use crate::primitives::{Arc, Ordering, fence, thread};
use crate::sched::policy::IDLE_CHECK_PAUSE;
use crate::sched::{Pool, Worker};
use crate::shutdown;
use crate::task::{self, JoinHandle, Origin};

/// A single-threaded runtime that the program drives. Created by
/// [`Builder::build_manual`](crate::Builder::build_manual).
///
/// Dropping it cancels all of its tasks; their futures are dropped before the drop returns.
pub struct Loop {
    worker: Rc<Worker>,
    handle: Handle,
    /// The number of ready tasks that the program holds.
    held: Rc<Cell<usize>>,
}

impl Loop {
    pub(crate) fn of(pool: Arc<Pool>) -> Self {
        let handle = Handle::new(pool.clone());
        let worker = Worker::new(pool, 0).expect("a new pool has its slots free");
        Self { worker: Rc::new(worker), handle, held: Rc::default() }
    }

    /// Spawns a task that stays on this thread and need not be `Send`. It does not run before
    /// [`ready_tasks`](Self::ready_tasks) returns it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let mut tasks = windlass::Builder::new().build_manual()?;
    /// let shared = Rc::new(42); // not `Send`
    /// let task = tasks.spawn_local(async move { *shared });
    /// while !task.is_finished() {
    ///     tasks.ready_tasks(None)?.for_each(|runnable| runnable.run());
    /// }
    /// assert_eq!(windlass::block_on(task).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let origin = Origin::caller();
        let pool = self.handle.pool();
        let handle = context::enter_worker(&self.worker, || {
            // SAFETY: the tasks of this pool are run through `Runnable`, and cancelled by the loop's drop, and neither
            // leaves this thread.
            unsafe { pool.spawn_unchecked(future, origin) }
        });
        // As in `Runnable::run`.
        pool.poller().kick();
        handle
    }

    /// Returns a handle with which other threads spawn onto the loop, and this one [enters](Handle::enter) it.
    ///
    /// [`Handle::block_on`] does not drive the loop. Another thread may call it while this one drives the loop; on this
    /// thread, a future that waits for a timer or a socket of the loop would wait forever.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut tasks = windlass::Builder::new().build_manual()?;
    /// let handle = tasks.handle().clone();
    /// let thread = std::thread::spawn(move || handle.block_on(handle.spawn(async { 42 })).unwrap());
    /// while !thread.is_finished() {
    ///     let timeout = Some(std::time::Duration::from_millis(1));
    ///     tasks.ready_tasks(timeout)?.for_each(|runnable| runnable.run());
    /// }
    /// assert_eq!(thread.join().unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns a snapshot of the loop's counters.
    ///
    /// # Examples
    ///
    /// ```
    /// let tasks = windlass::Builder::new().build_manual()?;
    /// tasks.spawn_local(async {});
    /// assert_eq!(tasks.metrics().tasks_alive, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    /// Waits until tasks are ready and returns them, or returns none after `timeout`. `None` waits without a limit, and
    /// zero does not wait. The tasks are not run: call [`Runnable::run`].
    ///
    /// Tasks that are not run, because the iterator or a `Runnable` is dropped, are returned again by the next call.
    ///
    /// This call also runs jobs that were posted to the loop. Only the replacement of rayon's core posts any, for
    /// example for a `spawn_broadcast` in a task of the loop.
    ///
    /// # Errors
    ///
    /// Returns the OS's error if waiting fails, or if there is no descriptor left for the alarm that the first timer
    /// needs. No task is lost: call it again.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let mut tasks = windlass::Builder::new().build_manual()?;
    /// tasks.spawn_local(async {});
    /// assert_eq!(tasks.ready_tasks(None)?.count(), 1); // dropped, not run
    /// for runnable in tasks.ready_tasks(None)? {
    ///     runnable.run();
    /// }
    /// assert_eq!(tasks.ready_tasks(Some(Duration::ZERO))?.count(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn ready_tasks(
        &mut self,
        timeout: Option<Duration>,
    ) -> io::Result<impl Iterator<Item = Runnable> + use<>> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut left = timeout;
        loop {
            let ready = self.look(left)?;
            if ready.len() > 0 {
                return Ok(ready);
            }
            // Nothing yet: a signal, or an event that no task waits for.
            left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(ready);
            }
        }
    }

    /// Returns the descriptor behind `AsFd` or `AsHandle`.
    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        self.handle.pool().poller().descriptor()
    }

    /// Waits for at most `timeout`, and returns the tasks that are then ready, if any.
    fn look(&mut self, timeout: Option<Duration>) -> io::Result<ReadyTasks> {
        let pool = self.handle.pool();
        let poller = pool.poller();
        let jumps = poller.is_virtual() && poller.timers().in_use();
        // Checked before the ready tasks are taken, so that they include all that other threads have woken until now.
        let may_jump = jumps && poller.is_quiet_outside(pool);
        let timeout = match timeout {
            // In virtual time there is nothing to wait for while there is a deadline to jump to.
            _ if may_jump => Some(Duration::ZERO),
            // Nothing signals that the last of the other threads is done.
            _ if jumps => Some(timeout.unwrap_or(Duration::MAX).min(IDLE_CHECK_PAUSE.1)),
            _ => timeout,
        };
        context::enter_worker(&self.worker, || poller.wait_in_loop(timeout))?;
        // A thread that pushes from here on kicks again. The fence pairs with the one in `Pool::after_push`, and with
        // those of all threads that post jobs.
        pool.monitor.settle();
        fence(Ordering::SeqCst);
        let ready = context::enter_worker(&self.worker, || {
            self.worker.run_posted();
            let ready = self.worker.take_ready();
            if !ready.is_empty() || !may_jump || !poller.jump() {
                return ready;
            }
            self.worker.take_ready()
        });
        // From now on the loop's descriptor becomes readable at the next deadline, too.
        match poller.set_alarm() {
            // Ready tasks come first. If setting the alarm fails again in the next call, that returns the error.
            Err(error) if ready.is_empty() => return Err(error),
            _ => {}
        }
        self.held.set(self.held.get() + ready.len());
        let (worker, held) = (self.worker.clone(), self.held.clone());
        Ok(ReadyTasks { ready: ready.into_iter(), worker, held })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let start = Instant::now();
        let pool = self.handle.pool();
        shutdown::begin(pool);
        context::enter_worker(&self.worker, || {
            // `Runnable`s that the program still holds keep the pool alive. All other tasks must end before the pool
            // does, including one that another thread has woken and not yet pushed.
            while pool.unfinished() > self.held.get() as u64 {
                if !run_all(&self.worker) {
                    thread::yield_now();
                }
            }
            self.worker.run_posted();
        });
        let _ = shutdown::finish_dropped(pool, start);
    }
}

/// Runs the ready tasks, which cancels them in a loop that is ending. Returns true if there were any.
fn run_all(worker: &Worker) -> bool {
    let ready = worker.take_ready();
    let any = !ready.is_empty();
    ready.into_iter().for_each(|runnable| worker.run_task(runnable));
    any
}

windlass_sync::opaque_debug!([] Loop);

/// The tasks that were ready. Dropping it puts the remaining ones back.
struct ReadyTasks {
    ready: vec::IntoIter<task::Runnable>,
    worker: Rc<Worker>,
    held: Rc<Cell<usize>>,
}

impl Iterator for ReadyTasks {
    type Item = Runnable;

    fn next(&mut self) -> Option<Runnable> {
        let inner = Some(self.ready.next()?);
        Some(Runnable { inner, worker: self.worker.clone(), held: self.held.clone() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ready.size_hint()
    }
}

impl ExactSizeIterator for ReadyTasks {}

impl Drop for ReadyTasks {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// A task of a [`Loop`] that is ready. Dropping it without running it puts it back.
///
/// # Examples
///
/// ```
/// let mut tasks = windlass::Builder::new().build_manual()?;
/// tasks.spawn_local(async {});
/// for runnable in tasks.ready_tasks(None)? {
///     println!("{:?} was spawned at {}", runnable.name(), runnable.location());
///     runnable.run();
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "a runnable that is dropped is only put back"]
pub struct Runnable {
    /// Taken by `run` or by the drop.
    inner: Option<task::Runnable>,
    worker: Rc<Worker>,
    held: Rc<Cell<usize>>,
}

impl Runnable {
    /// Polls the task once. If the task panics, its [`JoinHandle`] returns the panic.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut tasks = windlass::Builder::new().build_manual()?;
    /// let task = tasks.spawn_local(async { 7 });
    /// tasks.ready_tasks(None)?.into_iter().for_each(|runnable| runnable.run());
    /// assert!(task.is_finished());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn run(mut self) {
        if let Some(inner) = self.inner.take() {
            context::enter_worker(&self.worker, || {
                self.worker.run_task(inner);
                // The task may have dropped the loop and then waited: nothing else would cancel it.
                while self.worker.pool().is_closing() && run_all(&self.worker) {}
                if self.worker.has_own() {
                    // A worker would look at its own queue anyway; a loop must be told to.
                    self.worker.pool().poller().kick();
                }
            });
        }
    }

    /// Returns the task's name, if it has one.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut tasks = windlass::Builder::new().build_manual()?;
    /// drop(tasks.spawn_local(async {}));
    /// for runnable in tasks.ready_tasks(None)? {
    ///     assert_eq!(runnable.name(), None);
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.inner().name()
    }

    /// Returns where the task was spawned.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut tasks = windlass::Builder::new().build_manual()?;
    /// drop(tasks.spawn_local(async {}));
    /// for runnable in tasks.ready_tasks(None)? {
    ///     println!("a task that was spawned at {}", runnable.location());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn location(&self) -> &'static Location<'static> {
        self.inner().location()
    }

    fn inner(&self) -> &task::Runnable {
        self.inner.as_ref().expect("taken only by what consumes it")
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
