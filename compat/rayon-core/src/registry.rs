//! Finds the runtime that serves a call: that of the current thread's pool, or the global one; see `global`.

use std::any::Any;
use std::cell::RefCell;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windlass_runtime::{Handle, Runtime};

use crate::{global, support};

/// The most workers that a runtime can have.
pub(crate) const MOST_THREADS: usize = 1024;

pub(crate) type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;
pub(crate) type IndexHandler = dyn Fn(usize) + Send + Sync;

/// A pool, as seen by its jobs and threads.
#[derive(Clone)]
pub(crate) struct Registry {
    handle: Handle,
    /// The parts of a rayon pool besides its runtime. `None` for a windlass runtime, even if rayon has built it.
    pub(crate) own: Option<Arc<Own>>,
}

/// The parts of a pool that rayon has built besides its runtime.
pub(crate) struct Own {
    pub(crate) panic_handler: Option<Box<PanicHandler>>,
    pub(crate) start_handler: Option<Box<IndexHandler>>,
    pub(crate) exit_handler: Option<Box<IndexHandler>>,
    keeper: Mutex<std::sync::Weak<Keeper>>,
}

/// Ends the runtime when the pool and all of its jobs are gone.
pub(crate) struct Keeper(Mutex<Option<Runtime>>);

impl Drop for Keeper {
    fn drop(&mut self) {
        let runtime = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            // This must not wait: the last one is dropped by a job's thread, or by a thread that the jobs may wait for.
            let _ = runtime.shutdown(Duration::ZERO);
        }
    }
}

impl Own {
    pub(crate) fn new(
        panic_handler: Option<Box<PanicHandler>>,
        start_handler: Option<Box<IndexHandler>>,
        exit_handler: Option<Box<IndexHandler>>,
    ) -> Self {
        Self { panic_handler, start_handler, exit_handler, keeper: Mutex::default() }
    }

    /// Calls a handler with the index of its thread.
    pub(crate) fn call(&self, handler: &Option<Box<IndexHandler>>, index: usize) {
        if let Some(handler) = handler {
            if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| handler(index))) {
                handle_panic(self.panic_handler.as_deref(), payload);
            }
        }
    }
}

thread_local! {
    /// The pool that the current thread was started for.
    static CURRENT: RefCell<Option<Registry>> = const { RefCell::new(None) };
}

/// The pool that the current thread belonged to before it entered another. Dropping it restores that.
#[must_use = "the pool is left at once"]
pub(crate) struct Entered(Option<Registry>);

impl Entered {
    /// Stays in the entered pool for the rest of the thread's life.
    pub(crate) fn stay(self) {
        std::mem::forget(self);
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.0.take();
        // Dropped after the borrow has ended, because dropping handlers runs the program's code.
        let _left = CURRENT.try_with(|current| current.replace(before));
    }
}

impl Registry {
    /// Creates a pool on a runtime of its own, and the guard that keeps it running.
    pub(crate) fn new(runtime: Runtime, own: Arc<Own>) -> (Self, Arc<Keeper>) {
        let handle = runtime.handle().clone();
        let keeper = Arc::new(Keeper(Mutex::new(Some(runtime))));
        *own.keeper.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&keeper);
        (Self { handle, own: Some(own) }, keeper)
    }

    /// Wraps a windlass runtime.
    pub(crate) fn of_runtime(handle: Handle) -> Self {
        Self { handle, own: None }
    }

    /// Returns the pool that serves the current thread.
    pub(crate) fn current() -> Self {
        Self::entered()
            .or_else(|| support::current_worker().map(Self::of_runtime))
            .unwrap_or_else(global::serving)
    }

    /// Returns the rayon pool that the current thread belongs to.
    pub(crate) fn entered() -> Option<Self> {
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    /// Declares that the current thread belongs to this pool, until the result is dropped.
    pub(crate) fn enter(&self) -> Entered {
        Entered(CURRENT.with(|current| current.replace(Some(self.clone()))))
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `f` on a worker at some point, and keeps the pool alive until then.
    ///
    /// # Safety
    ///
    /// Everything that `f` borrows must live until it has run.
    pub(crate) unsafe fn post<F: FnOnce() + Send>(&self, f: F) {
        // SAFETY: the caller guarantees it.
        unsafe { support::post(&self.handle, f) };
    }

    /// Returns the guard that keeps the pool alive, for a job that nobody waits for.
    pub(crate) fn keeper(&self) -> Option<Arc<Keeper>> {
        let keeper = &self.own.as_ref()?.keeper;
        keeper.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    /// Calls `f`. If it panics, the pool's handler gets the payload, or the process ends.
    pub(crate) fn catch(&self, f: impl FnOnce()) {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f)) {
            let own = self.own.clone().or_else(|| global::own_of(&self.handle));
            handle_panic(own.as_ref().and_then(|own| own.panic_handler.as_deref()), payload);
        }
    }
}

fn handle_panic(handler: Option<&PanicHandler>, payload: Box<dyn Any + Send>) {
    let handled = handler
        .is_some_and(|handler| panic::catch_unwind(AssertUnwindSafe(|| handler(payload))).is_ok());
    if !handled {
        let _ = writeln!(std::io::stderr(), "Rayon: detected unexpected panic; aborting");
        std::process::abort();
    }
}

/// Returns the number of threads that the environment sets, if any.
pub(crate) fn threads_from_environment() -> Option<usize> {
    let number = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    // The second is the old name of the first.
    let threads = number("RAYON_NUM_THREADS").or_else(|| number("RAYON_RS_NUM_CPUS"));
    threads.filter(|&threads| threads > 0)
}

/// Calls `f` on a thread of the current pool, with true if it had to move there.
pub(crate) fn in_worker<R: Send>(f: impl FnOnce(bool) -> R + Send) -> R {
    match support::place() {
        Some(_) => f(false),
        None => support::install(&Registry::current().handle, || f(true)),
    }
}
