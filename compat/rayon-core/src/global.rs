//! The global pool, which serves threads that belong to no pool. It is settled by its first use or by `build_global`.
//!
//! Only one thread builds it. Others that need it meanwhile wait, as they do with rayon's own core, and then use the
//! pool that was built. No lock is held while it is built, because building it runs closures of the program.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use windlass_runtime::Handle;

use crate::error::{ErrorKind, ThreadPoolBuildError};
use crate::registry::{MOST_THREADS, Own, Registry, threads_from_environment};
use crate::support;

/// The pool that serves threads that belong to no pool.
pub(crate) enum Global {
    /// The current windlass runtime or the global one, and the settings of `build_global` if that has built the latter.
    Runtimes(Option<Arc<Own>>),
    /// A rayon pool beside these.
    Pool(Registry),
}

static GLOBAL: OnceLock<Global> = OnceLock::new();

/// The thread that builds it.
static BUILDER: Mutex<Option<ThreadId>> = Mutex::new(None);
static BUILT: Condvar = Condvar::new();

fn builder() -> MutexGuard<'static, Option<ThreadId>> {
    BUILDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while another thread builds the pool.
fn settled() -> MutexGuard<'static, Option<ThreadId>> {
    let mut builder = builder();
    while builder.is_some_and(|other| other != thread::current().id()) {
        builder = BUILT.wait(builder).unwrap_or_else(PoisonError::into_inner);
    }
    builder
}

/// Returns the global pool, which is settled from now on, or `None` on the thread that is building it.
fn get() -> Option<&'static Global> {
    GLOBAL.get().or_else(|| {
        let builder = settled();
        builder.is_none().then(|| GLOBAL.get_or_init(|| Global::Runtimes(None)))
    })
}

/// Returns the pool that serves the current thread, which belongs to none.
pub(crate) fn serving() -> Registry {
    if let Some(Global::Pool(registry)) = get() {
        return registry.clone();
    }
    let threads = threads_from_environment().map(|threads| threads.min(MOST_THREADS));
    Registry::of_runtime(support::serving(threads))
}

/// Returns the settings of `build_global` if that has built this runtime.
pub(crate) fn own_of(runtime: &Handle) -> Option<Arc<Own>> {
    match get() {
        Some(Global::Runtimes(own)) if support::is_global(runtime) => own.clone(),
        _ => None,
    }
}

/// Settles the global pool.
pub(crate) fn build(
    start: impl FnOnce() -> Result<Global, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    let taken = || ThreadPoolBuildError::new(ErrorKind::GlobalPoolAlreadyInitialized);
    let _turn = Turn::take().ok_or_else(taken)?;
    // No other thread sets it during our turn.
    GLOBAL.set(start()?).map_err(|_| taken())
}

/// The right to build the pool. Dropping it lets the other threads continue.
struct Turn;

impl Turn {
    /// Waits while another thread builds the pool. Returns `None` if it is settled, or if this thread is building it.
    fn take() -> Option<Self> {
        let mut builder = settled();
        if builder.is_some() || GLOBAL.get().is_some() {
            return None;
        }
        *builder = Some(thread::current().id());
        Some(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *builder() = None;
        BUILT.notify_all();
    }
}
