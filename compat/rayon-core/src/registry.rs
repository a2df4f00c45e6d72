//! Which runtime serves: that of the current thread's pool, or the global one.

use std::any::Any;
use std::cell::RefCell;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use windlass_runtime::{Handle, Runtime};

use crate::support;

/// The most workers that a runtime can have.
pub(crate) const MOST_THREADS: usize = 1024;

pub(crate) type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;
pub(crate) type IndexHandler = dyn Fn(usize) + Send + Sync;

/// A pool as its jobs and threads know it.
#[derive(Clone)]
pub(crate) struct Registry {
    handle: Handle,
    /// What is particular to a pool of rayon's; none for a runtime of windlass.
    pub(crate) own: Option<Arc<Own>>,
}

/// What a pool of rayon's has besides its runtime.
pub(crate) struct Own {
    pub(crate) panic_handler: Option<Box<PanicHandler>>,
    pub(crate) start_handler: Option<Box<IndexHandler>>,
    pub(crate) exit_handler: Option<Box<IndexHandler>>,
    keeper: Mutex<std::sync::Weak<Keeper>>,
}

/// Has the runtime end when the pool and all of its jobs are gone.
pub(crate) struct Keeper(Mutex<Option<Runtime>>);

impl Drop for Keeper {
    fn drop(&mut self) {
        let runtime = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            // Waits for nobody: it is a job's thread that drops the last one, or a thread that the jobs may wait for.
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
            self.catch(|| handler(index));
        }
    }

    /// Calls `f`; its panic goes to the pool's handler, or ends the process.
    fn catch(&self, f: impl FnOnce()) {
        catch(self.panic_handler.as_deref(), f);
    }
}

thread_local! {
    /// The pool that the current thread was started for.
    static CURRENT: RefCell<Option<Registry>> = const { RefCell::new(None) };
}

/// The global pool; `None` inside for the runtimes of windlass.
static GLOBAL: OnceLock<Option<Registry>> = OnceLock::new();

impl Registry {
    /// A pool on a runtime of its own, and what keeps that running.
    pub(crate) fn new(runtime: Runtime, own: Arc<Own>) -> (Self, Arc<Keeper>) {
        let handle = runtime.handle().clone();
        let keeper = Arc::new(Keeper(Mutex::new(Some(runtime))));
        *own.keeper.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&keeper);
        (Self { handle, own: Some(own) }, keeper)
    }

    /// The pool that serves the current thread.
    pub(crate) fn current() -> Self {
        let own = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten();
        own.or_else(|| support::current_worker().map(|handle| Self { handle, own: None }))
            .unwrap_or_else(Self::global)
    }

    /// The pool that serves threads which belong to none.
    fn global() -> Self {
        let global = GLOBAL.get_or_init(|| None);
        global.clone().unwrap_or_else(|| {
            let threads = threads_from_environment().map(|threads| threads.min(MOST_THREADS));
            Self { handle: support::serving(threads), own: None }
        })
    }

    /// Makes this the global pool; false if there is one.
    pub(crate) fn become_global(self) -> bool {
        GLOBAL.set(Some(self)).is_ok()
    }

    /// True if the global pool was built, or used.
    pub(crate) fn has_global() -> bool {
        GLOBAL.get().is_some()
    }

    /// Declares that the current thread belongs to this pool.
    pub(crate) fn enter(&self) {
        CURRENT.with(|current| *current.borrow_mut() = Some(self.clone()));
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Has a worker run `f`, whenever. The pool goes on until then.
    ///
    /// # Safety
    ///
    /// What `f` borrows is there until it has run.
    pub(crate) unsafe fn post<F: FnOnce() + Send>(&self, f: F) {
        // SAFETY: the caller says so.
        unsafe { support::post(&self.handle, f) };
    }

    /// What keeps the pool going, for a job that nobody waits for.
    pub(crate) fn keeper(&self) -> Option<Arc<Keeper>> {
        let keeper = &self.own.as_ref()?.keeper;
        keeper.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    /// Calls `f`; its panic goes to the pool's handler, or ends the process.
    pub(crate) fn catch(&self, f: impl FnOnce()) {
        catch(self.own.as_ref().and_then(|own| own.panic_handler.as_deref()), f);
    }
}

fn catch(handler: Option<&PanicHandler>, f: impl FnOnce()) {
    let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f)) else { return };
    let handled = handler
        .is_some_and(|handler| panic::catch_unwind(AssertUnwindSafe(|| handler(payload))).is_ok());
    if !handled {
        let _ = writeln!(std::io::stderr(), "Rayon: detected unexpected panic; aborting");
        std::process::abort();
    }
}

/// How many threads the environment asks for, if it does.
pub(crate) fn threads_from_environment() -> Option<usize> {
    let number = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    // The second is the old name of the first.
    let threads = number("RAYON_NUM_THREADS").or_else(|| number("RAYON_RS_NUM_CPUS"));
    threads.filter(|&threads| threads > 0)
}

/// Calls `f` on a thread of the current pool, and tells it whether it had to get there first.
pub(crate) fn in_worker<R: Send>(f: impl FnOnce(bool) -> R + Send) -> R {
    match support::place() {
        Some(_) => f(false),
        None => support::install(&Registry::current().handle, || f(true)),
    }
}
