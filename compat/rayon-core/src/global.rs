//! The global pool: what serves threads that belong to no pool, settled by its first use or by `build_global`.
//!
//! Only one thread builds it. Others that need it meanwhile wait for that, as they do with rayon's own core, and then
//! use what was built. No lock is held while it is built, because that runs closures of the program.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use windlass_runtime::Handle;

use crate::error::{ErrorKind, ThreadPoolBuildError};
use crate::registry::{MOST_THREADS, Own, Registry, threads_from_environment};
use crate::support;

/// What serves threads that belong to no pool.
pub(crate) enum Global {
    /// The current runtime of windlass or the global one, and what `build_global` was given if it has built the latter.
    Runtimes(Option<Arc<Own>>),
    /// A pool of rayon's, beside these.
    Pool(Registry),
}

static GLOBAL: OnceLock<Global> = OnceLock::new();

/// The thread that builds it.
static BUILDER: Mutex<Option<ThreadId>> = Mutex::new(None);
static BUILT: Condvar = Condvar::new();

fn builder() -> MutexGuard<'static, Option<ThreadId>> {
    BUILDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while another thread builds it.
fn settled() -> MutexGuard<'static, Option<ThreadId>> {
    let mut builder = builder();
    while builder.is_some_and(|other| other != thread::current().id()) {
        builder = BUILT.wait(builder).unwrap_or_else(PoisonError::into_inner);
    }
    builder
}

/// Returns the global pool, which is settled from now on; `None` on the thread that builds it.
fn get() -> Option<&'static Global> {
    GLOBAL.get().or_else(|| {
        let builder = settled();
        builder.is_none().then(|| GLOBAL.get_or_init(|| Global::Runtimes(None)))
    })
}

/// Returns what serves the current thread, which belongs to no pool.
pub(crate) fn serving() -> Registry {
    if let Some(Global::Pool(registry)) = get() {
        return registry.clone();
    }
    let threads = threads_from_environment().map(|threads| threads.min(MOST_THREADS));
    Registry::of_runtime(support::serving(threads))
}

/// Returns what `build_global` was given if it has built this runtime.
pub(crate) fn own_of(runtime: &Handle) -> Option<Arc<Own>> {
    match get() {
        Some(Global::Runtimes(own)) if support::is_global(runtime) => own.clone(),
        _ => None,
    }
}

/// Settles what the global pool is.
pub(crate) fn build(
    start: impl FnOnce() -> Result<Global, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    let taken = || ThreadPoolBuildError::new(ErrorKind::GlobalPoolAlreadyInitialized);
    let _turn = Turn::take().ok_or_else(taken)?;
    // Nobody else sets it during our turn.
    GLOBAL.set(start()?).map_err(|_| taken())
}

/// The right to build it. Dropping it lets the others go on.
struct Turn;

impl Turn {
    /// Waits while another thread builds it. `None` if it is settled, or if this thread is building it.
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
