//! Hooks: closures of the program, called when threads start, sleep and stop, and when tasks are spawned and end.
//!
//! A hook that is not set costs one check of an `Option`. A hook that is set is called on the thread concerned, never
//! under a lock. If it panics, the panic hook prints the panic, and the thread continues.

use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc as StdArc;

use crate::companion;
use crate::entered::EnteredScope;
use crate::handle::Handle;
use crate::primitives::Arc;
use crate::sched::{Pool, Worker};
use crate::stuck;
use crate::task::{Id, Origin, Runnable, quietly};

/// A hook without arguments.
type Hook = StdArc<dyn Fn() + Send + Sync>;
/// A hook that is called for a task.
pub(crate) type TaskHook = StdArc<dyn Fn(&TaskMeta<'_>) + Send + Sync>;
/// A hook that is called with the index of a worker.
type IndexHook = StdArc<dyn Fn(usize) + Send + Sync>;
/// A closure that names workers by their index.
type Naming = StdArc<dyn Fn(usize) -> String + Send + Sync>;

/// The hooks of one runtime.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) thread_start: Option<Hook>,
    pub(crate) thread_stop: Option<Hook>,
    pub(crate) park: Option<Hook>,
    pub(crate) unpark: Option<Hook>,
    pub(crate) task_spawn: Option<TaskHook>,
    pub(crate) task_end: Option<TaskHook>,
    pub(crate) worker_name: Option<Naming>,
    /// Called on the worker, as its first job and its last.
    pub(crate) first_job: Option<IndexHook>,
    pub(crate) last_job: Option<IndexHook>,
    pub(crate) companion: Option<companion::Make>,
    pub(crate) long_poll: Option<stuck::Callback>,
}

// A panic of a hook leaves no broken invariant that could be observed through a runtime.
impl UnwindSafe for Hooks {}
impl RefUnwindSafe for Hooks {}

impl Hooks {
    /// Returns true if there is a hook for threads that sleep.
    pub(crate) fn has_park(&self) -> bool {
        self.park.is_some() || self.unpark.is_some()
    }

    /// Calls the hook for a thread that is about to sleep.
    pub(crate) fn call_park(&self) {
        call(&self.park);
    }

    /// Calls the hook for a thread that has slept.
    pub(crate) fn call_unpark(&self) {
        call(&self.unpark);
    }

    /// Calls the hook for a task that was created and has not run yet.
    #[inline]
    pub(crate) fn spawned(&self, runnable: &Runnable) {
        if let Some(hook) = &self.task_spawn {
            call_for_task(hook, runnable.id(), &runnable.origin());
        }
    }

    /// Returns the hook for the end of a task.
    #[inline]
    pub(crate) fn task_end(&self) -> Option<&TaskHook> {
        self.task_end.as_ref()
    }
}

/// Calls the hook for a thread's start. Dropping the result calls the hook for its end.
pub(crate) fn thread_starts(pool: &Arc<Pool>) -> ThreadStops<'_> {
    call_in(pool, &pool.config.hooks.thread_start);
    ThreadStops(pool)
}

/// Calls the hook for the first job of a worker.
pub(crate) fn run_first_job(worker: &Worker) {
    call_as_job(worker, &worker.pool().config.hooks.first_job);
}

/// Calls the hook for the last job of a worker.
pub(crate) fn run_last_job(worker: &Worker) {
    call_as_job(worker, &worker.pool().config.hooks.last_job);
}

/// Calls a hook, which may fork, and runs what it has spawned.
fn call_as_job(worker: &Worker, hook: &Option<IndexHook>) {
    // Not for spares: each stands in for a worker whose hook has been called.
    let Some(hook) = hook.as_ref().filter(|_| worker.is_regular()) else { return };
    let tick = &worker.slot().counters.tick;
    tick.bump();
    worker.begin_computing();
    quietly(|| hook(worker.index()));
    worker.end_computing();
    tick.bump();
}

windlass_sync::opaque_debug!([] Hooks);

/// Calls the hook for a thread's end when it is dropped.
pub(crate) struct ThreadStops<'a>(&'a Arc<Pool>);

impl Drop for ThreadStops<'_> {
    fn drop(&mut self) {
        call_in(self.0, &self.0.config.hooks.thread_stop);
    }
}

/// Calls a hook with the runtime as the current one.
fn call_in(pool: &Arc<Pool>, hook: &Option<Hook>) {
    if hook.is_some() {
        let _entered = EnteredScope::enter(Handle::new(pool.clone()));
        call(hook);
    }
}

fn call(hook: &Option<Hook>) {
    if let Some(hook) = hook {
        quietly(|| hook());
    }
}

/// Calls a hook for a task.
#[cold]
pub(crate) fn call_for_task(hook: &TaskHook, id: Id, origin: &Origin) {
    let meta = TaskMeta { id, location: origin.location, name: origin.name.as_deref() };
    quietly(|| hook(&meta));
}

/// Describes a task to the hooks [`on_task_spawn`](crate::Builder::on_task_spawn) and
/// [`on_task_end`](crate::Builder::on_task_end).
///
/// # Examples
///
/// ```
/// let runtime = windlass::Builder::new()
///     .on_task_spawn(|task| println!("task {} was spawned at {}", task.id(), task.location()))
///     .build()?;
/// runtime.block_on(async { windlass::spawn(async {}).await.unwrap() });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TaskMeta<'a> {
    id: Id,
    location: &'static Location<'static>,
    name: Option<&'a str>,
}

impl TaskMeta<'_> {
    /// Returns the task's id, as [`JoinHandle::id`](crate::task::JoinHandle::id) does.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::Builder::new().on_task_end(|task| println!("{} has ended", task.id()));
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }

    /// Returns where the task was spawned.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::Builder::new().on_task_spawn(|task| println!("line {}", task.location().line()));
    /// ```
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Returns the name given with [`task::Builder`](crate::task::Builder), if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::Builder::new().on_task_spawn(|task| println!("{}", task.name().unwrap_or("unnamed")));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name
    }
}
