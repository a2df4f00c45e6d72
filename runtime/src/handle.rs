//! A reference to a runtime that anyone may hold.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::pin;

use crate::blocking;
use crate::companion::{self, ThreadKind};
use crate::context::{self, Role};
use crate::coop;
use crate::entered::{self, Left, Scope};
use crate::local::{LocalScope, LocalTasks};
use crate::metrics::Metrics;
use crate::poller::outside;
use crate::primitives::Arc;
use crate::sched::Pool;
use crate::task::{JoinHandle, Origin, boxed_if_large};

/// A cheap reference to a runtime, to spawn onto it from anywhere. It does not keep the runtime
/// running: once that is shut down, what is spawned is cancelled at once.
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

// A panic leaves nothing half done that a handle could show.
impl std::panic::UnwindSafe for Handle {}
impl std::panic::RefUnwindSafe for Handle {}

impl Handle {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self { pool }
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The runtime that the current thread works for or has entered; outside of any, the global
    /// one, which is started if need be.
    ///
    /// # Panics
    ///
    /// Outside of any runtime, if the global one can't be started: no thread to be had, or a bad
    /// `WINDLASS_WORKERS`.
    pub fn current() -> Handle {
        context::with_pool(|pool| Handle::new(pool.clone()))
    }

    /// The runtime that the current thread works for or has entered.
    pub fn try_current() -> Option<Handle> {
        context::try_pool(|pool| Handle::new(pool.clone()))
    }

    /// Spawns a task; see [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let origin = Origin::new(Location::caller(), None);
        boxed_if_large!(future => self.pool.spawn(future, origin))
    }

    /// Runs a closure that blocks; see [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        blocking::spawn(&self.pool, f, Origin::new(Location::caller(), None))
    }

    /// Runs a future on the calling thread until it is done, with this runtime as the current one.
    /// The future need not be `Send`: it never leaves the thread. Whoever has the handle of a
    /// [manual loop](crate::manual::Loop::handle) has to drive that from another thread.
    ///
    /// In the destructor of a thread-local, the place where a thread remembers what it has entered may be gone. Then the
    /// future is run, but the runtime current for it is the global one: name the runtime, by
    /// [`Handle::spawn`], rather than rely on it.
    ///
    /// # Panics
    ///
    /// On a worker thread, where it would block other tasks. Await the future there, or move the
    /// blocking code to [`spawn_blocking`](crate::spawn_blocking), where `block_on` is allowed. And in a waker of one's own
    /// making, if it is the runtime's poller that calls it.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        refuse_on_worker();
        self.block_on_with(future, None)
    }

    /// As [`block_on`](Self::block_on), on any thread, beside tasks that there are already.
    pub(crate) fn block_on_with<F: Future>(
        &self,
        future: F,
        tasks: Option<Arc<LocalTasks>>,
    ) -> F::Output {
        let _entered = Scope::enter(self.clone());
        let future = pin!(future);
        let wait = || {
            let local = LocalScope::enter(tasks);
            // As for a task, with a budget: without, one branch of the future that never has to wait would keep the
            // others from their turn.
            let future = local.poll_beside(future);
            if self.pool.poller().is_virtual() {
                return outside::block_on(&self.pool, future);
            }
            windlass_sync::block_on(future)
        };
        companion::surround(&self.pool, ThreadKind::BlockOn, || coop::uncounted(wait))
    }

    /// Makes this runtime the current one of the calling thread until the guard is dropped. The guard borrows nothing: a
    /// runtime can be shut down while it is entered. It stays the current one, and cancels what is spawned. A guard that is made
    /// within a task, a `block_on` or a closure of the blocking pool counts until the end of that poll, call or closure
    /// at the latest, also if it is forgotten.
    ///
    /// # Panics
    ///
    /// Not here, but where the guard is dropped: guards go in the reverse order of their making. If one is dropped
    /// while a later one is still there, or was forgotten, or inside of a `block_on` that began later, that drop panics,
    /// except while the thread is panicking already. This happens to futures that keep a guard over an `.await` and are
    /// polled side by side; each would run with the other's runtime as the current one. Enter the runtime for the
    /// time of a call, or use [`spawn`](Self::spawn). The runtime is left nevertheless, and
    /// the one of the last guard that is there is the current one.
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

    /// Returns what the names of the runtime's threads begin with; see
    /// [`Builder::thread_name`](crate::Builder::thread_name).
    pub fn thread_name(&self) -> &str {
        &self.pool.config.thread_name
    }

    /// What the runtime has done so far and what it does now.
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

/// Panics if the current thread is a worker, or looks after the OS.
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

/// Keeps a runtime the current one of a thread. See [`Handle::enter`], also for the panics of its drop.
///
/// The lifetime is `'static` wherever windlass makes a guard. It is there because tokio's guard has one, so that programs
/// that name it come over as they are.
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
            left != Left::OutOfOrder || std::thread::panicking(),
            "a guard of `enter` was dropped while one that was made later is still there. \
             Drop guards in the reverse order of their making, and keep none over an `.await`"
        );
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}
