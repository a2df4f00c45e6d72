//! The handle to a runtime, which any thread may hold.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::pin;

use crate::blocking;
use crate::companion::{self, ThreadKind};
use crate::context::{self, Role};
use crate::coop;
use crate::entered::{self, EnteredScope, LeaveOrder};
use crate::local::calls::BlockOnCall;
use crate::local::{LocalScope, LocalTasks};
use crate::metrics::Metrics;
use crate::poller::outside_activity;
use crate::primitives::Arc;
use crate::sched::Pool;
use crate::task::{self, JoinHandle, Origin, boxed_if_large};

/// A cheap reference to a runtime, for spawning from anywhere.
///
/// It does not keep the runtime running. Once the runtime has been shut down, tasks spawned through a handle are
/// cancelled at once.
///
/// # Examples
///
/// ```
/// let runtime = windlass::Runtime::new()?;
/// let handle = runtime.handle().clone();
/// let thread = std::thread::spawn(move || handle.block_on(async { 1 + 1 }));
/// assert_eq!(thread.join().unwrap(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    pool: Arc<Pool>,
}

// A panic leaves no broken invariant that could be observed through a handle.
impl std::panic::UnwindSafe for Handle {}
impl std::panic::RefUnwindSafe for Handle {}

impl Handle {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Returns a handle to the runtime that the current thread works for or has entered. Outside of any runtime, that
    /// is the global one, which is started if necessary.
    ///
    /// # Panics
    ///
    /// Panics outside of any runtime if the global one can't be started, because the OS refuses a thread or
    /// `WINDLASS_WORKERS` is invalid.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::Handle;
    ///
    /// let runtime = windlass::Builder::new().thread_name("web").build()?;
    /// let handle = runtime.block_on(async { Handle::current() });
    /// assert_eq!(handle.thread_name(), "web");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn current() -> Handle {
        context::with_pool(|pool| Handle::new(pool.clone()))
    }

    /// Returns a handle to the runtime that the current thread works for or has entered, or `None` if there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::Handle;
    ///
    /// assert!(Handle::try_current().is_none());
    /// windlass::block_on(async { assert!(Handle::try_current().is_some()) });
    /// ```
    pub fn try_current() -> Option<Handle> {
        context::try_pool(|pool| Handle::new(pool.clone()))
    }

    /// Spawns a task onto this runtime; see [`spawn`](crate::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let task = runtime.handle().spawn(async { 42 });
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let origin = Origin::caller();
        boxed_if_large!(future => self.pool.spawn(future, origin))
    }

    /// Runs a closure that blocks on this runtime's blocking pool; see [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let file = runtime.handle().spawn_blocking(|| std::fs::read("Cargo.toml"));
    /// assert!(runtime.block_on(file).unwrap().is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        blocking::spawn(&self.pool, f, Origin::caller())
    }

    /// Runs a future on the calling thread until it is ready, with this runtime as the current one.
    ///
    /// The future need not be `Send`, because it never leaves the thread. If the handle is that of a
    /// [manual loop](crate::manual::Loop::handle), another thread has to drive the loop meanwhile.
    ///
    /// In the destructor of a thread-local, the thread's record of the runtimes it has entered may already be gone. The
    /// future still runs, but its current runtime is the global one. Use [`Handle::spawn`] there, which does not depend
    /// on the current runtime.
    ///
    /// # Panics
    ///
    /// Panics on a worker thread, where it would block other tasks: await the future there, or move the blocking code
    /// to [`spawn_blocking`](crate::spawn_blocking), where `block_on` is allowed. Panics also if a custom waker calls
    /// it while the runtime's poller is calling that waker.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let runtime = windlass::Runtime::new()?;
    /// let local = Rc::new(42); // not `Send`
    /// let answer = runtime.handle().block_on(async {
    ///     windlass::spawn(async {}).await.unwrap();
    ///     *local
    /// });
    /// assert_eq!(answer, 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        refuse_on_worker();
        self.notice_block_on(Location::caller());
        self.block_on_with(future, Some(Location::caller()), None)
    }

    /// Reports a `block_on` inside a task, unless the task has a thread of its own.
    fn notice_block_on(&self, location: &'static Location<'static>) {
        if context::role() == Role::Outside && self.pool.config.long_polls.is_some() {
            if let Some(task) = task::try_id() {
                self.pool.reports.block_on_in_task(&self.pool, task, location);
            }
        }
    }

    /// Does the work of [`block_on`](Self::block_on) on any thread, and runs `tasks` beside the future. The call is
    /// listed if `location` is `Some`.
    pub(crate) fn block_on_with<F: Future>(
        &self,
        future: F,
        location: Option<&'static Location<'static>>,
        tasks: Option<Arc<LocalTasks>>,
    ) -> F::Output {
        let _entered = EnteredScope::enter(self.clone());
        let future = pin!(future);
        let wait = || {
            let call = location.map(|location| BlockOnCall::new(&self.pool, location));
            let local = LocalScope::enter(call, tasks);
            // With a budget, like a task: otherwise a branch of the future that never has to wait would starve the
            // other branches.
            let future = local.poll_beside(future);
            if self.pool.poller().is_virtual() {
                return outside_activity::block_on(&self.pool, future);
            }
            let poller = self.pool.poller();
            windlass_sync::block_on_parking(future, |parker| poller.park(parker))
        };
        companion::surround(&self.pool, ThreadKind::BlockOn, || coop::uncounted(wait))
    }

    /// Makes this runtime the current one of the calling thread until the guard is dropped.
    ///
    /// The guard borrows nothing, so a runtime can be shut down while it is entered. It then stays the current one and
    /// cancels every task that is spawned. A guard created inside a task, a `block_on` or a blocking closure has no
    /// effect after the end of that poll, call or closure, even if it is kept or forgotten.
    ///
    /// # Panics
    ///
    /// `enter` does not panic, but dropping the guard does if guards are not dropped in the reverse order of their
    /// creation: while a later guard is still alive or was forgotten, or inside a `block_on` that began later. It does
    /// not panic while the thread is already panicking. The guard leaves its runtime in any case, and the current
    /// runtime is then that of the most recent guard still alive.
    ///
    /// A future that holds a guard across an `.await` runs into this when it is polled beside another that does the
    /// same: each would see the other's runtime as the current one. Enter a runtime only for the duration of a call, or
    /// use [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let task = {
    ///     let _entered = runtime.handle().enter();
    ///     windlass::spawn(async { 1 + 1 })
    /// };
    /// assert_eq!(runtime.block_on(task).unwrap(), 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn enter(&self) -> EnterGuard<'static> {
        EnterGuard { number: entered::enter(self.clone()), not_send: PhantomData }
    }

    /// Returns the prefix of the names of the runtime's threads; see
    /// [`Builder::thread_name`](crate::Builder::thread_name).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().thread_name("web").build()?;
    /// assert_eq!(runtime.handle().thread_name(), "web");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn thread_name(&self) -> &str {
        &self.pool.config.thread_name
    }

    /// Returns a snapshot of the runtime's counters.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(2).build()?;
    /// assert_eq!(runtime.handle().metrics().workers.len(), 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn metrics(&self) -> Metrics {
        Metrics::of(&self.pool)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("runtime", &self.pool.config.thread_name)
            .finish_non_exhaustive()
    }
}

/// Panics if the current thread is a worker or is calling wakers for the poller.
#[track_caller]
pub(crate) fn refuse_on_worker() {
    assert!(
        context::role() != Role::Worker,
        "block_on was called from within a task: it would block a worker thread. \
         Use `.await` instead, or move the blocking code to `spawn_blocking`"
    );
    assert!(
        context::role() != Role::Poller,
        "block_on was called from within a waker: it would block the thread that the workers rely on. \
         Spawn a task instead"
    );
}

/// Keeps a runtime the current one of a thread. See [`Handle::enter`], which also says when dropping it panics.
///
/// The lifetime is always `'static`. It exists because tokio's guard has one, so that programs that name the type
/// compile unchanged.
#[must_use = "the runtime is current only while the guard lives"]
pub struct EnterGuard<'a> {
    number: u64,
    // Bound to the thread that has entered.
    not_send: PhantomData<(&'a Handle, *const ())>,
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        let left = entered::leave(self.number);
        assert!(
            left != LeaveOrder::OutOfOrder || std::thread::panicking(),
            "a guard of `enter` was dropped while one that was made later is still there. \
             Drop guards in the reverse order of their making, and keep none over an `.await`"
        );
    }
}

windlass_sync::opaque_debug!(['a] EnterGuard<'a>);
