//! The global runtime, for programs that keep none of their own.

use std::io;
use std::sync::OnceLock;

use crate::builder::Builder;
#[cfg(not(loom))]
use crate::builder_check::WORKERS_VARIABLE;
#[cfg(not(loom))]
use crate::primitives::Arc;
use crate::runtime::Runtime;
#[cfg(not(loom))]
use crate::sched::Pool;

static GLOBAL: OnceLock<Runtime> = OnceLock::new();

/// Returns the global runtime, which is started at first use and never shut down.
///
/// # Panics
///
/// Panics if its threads can't be started.
pub(crate) fn runtime() -> &'static Runtime {
    start(Builder::new())
}

/// Returns the global runtime, as [`runtime`] does. If it is started now, it has this many workers, unless the
/// environment says otherwise.
///
/// # Panics
///
/// Panics if its threads can't be started.
#[cfg(not(loom))]
pub(crate) fn runtime_with(workers: usize) -> &'static Runtime {
    start(workers_unless_set(Builder::new(), workers))
}

/// Sets the number of workers, unless the environment does.
#[cfg(not(loom))]
pub(crate) fn workers_unless_set(builder: Builder, workers: usize) -> Builder {
    let is_set = std::env::var_os(WORKERS_VARIABLE).is_some();
    if is_set { builder } else { builder.workers(workers) }
}

/// Returns true if the pool is that of the global runtime.
#[cfg(not(loom))]
pub(crate) fn is_runtime_of(pool: &Arc<Pool>) -> bool {
    GLOBAL.get().is_some_and(|global| Arc::ptr_eq(global.handle().pool(), pool))
}

fn start(builder: Builder) -> &'static Runtime {
    GLOBAL.get_or_init(|| {
        builder.build().unwrap_or_else(|error| {
            panic!("the global windlass runtime could not start its threads: {error}")
        })
    })
}

impl Builder {
    /// Builds the global runtime, which `windlass::spawn`, `windlass::block_on` and the like use outside of any other.
    ///
    /// Without this call, the first of them starts a global runtime with the default settings. Call it at the start of
    /// `main`. The global runtime is never shut down.
    ///
    /// # Errors
    ///
    /// Returns `AlreadyExists` if there is a global runtime already, which then remains as it is, and otherwise the
    /// errors of [`build`](Self::build).
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::Builder::new().workers(2).thread_name("web").build_global()?;
    ///
    /// let name = windlass::block_on(windlass::spawn(async {
    ///     std::thread::current().name().unwrap().to_owned()
    /// }));
    /// assert!(name.unwrap().starts_with("web"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn build_global(self) -> io::Result<()> {
        let refused = || {
            let message = "there is a global windlass runtime already: call `build_global` before \
                           anything spawns on it";
            io::Error::new(io::ErrorKind::AlreadyExists, message)
        };
        if GLOBAL.get().is_some() {
            return Err(refused());
        }
        // Another thread may have been faster. Then this runtime is shut down again.
        GLOBAL.set(self.build()?).map_err(|_| refused())
    }
}
