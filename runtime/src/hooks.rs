//! What a program wants to be told of: threads that start, sleep and stop, tasks that are spawned and end.
//!
//! A hook that is not set costs a look at an `Option` where a thread or a task begins or ends. One that is set is
//! called on the thread that it is about, never under a lock. Its panics end here: the panic hook prints them, and the
//! thread goes on.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc as StdArc;

use crate::entered::Scope;
use crate::handle::Handle;
use crate::primitives::Arc;
use crate::sched::{Pool, Worker};
use crate::task::{Id, Origin, Runnable, quietly};

/// A closure that takes nothing.
type Hook = StdArc<dyn Fn() + Send + Sync>;
/// A closure that is told which task it is about.
pub(crate) type TaskHook = StdArc<dyn Fn(&TaskMeta<'_>) + Send + Sync>;
/// A closure that names the worker with an index.
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
}

// A panic of a hook leaves nothing half done that a runtime could show.
impl UnwindSafe for Hooks {}
impl RefUnwindSafe for Hooks {}

impl Hooks {
    /// True if somebody wants to know when a thread sleeps.
    pub(crate) fn has_park(&self) -> bool {
        self.park.is_some() || self.unpark.is_some()
    }

    /// The thread is about to sleep.
    pub(crate) fn parks(&self) {
        call(&self.park);
    }

    /// The thread has slept.
    pub(crate) fn unparks(&self) {
        call(&self.unpark);
    }

    /// A task was made, and nobody has run it yet.
    #[inline]
    pub(crate) fn spawned(&self, runnable: &Runnable) {
        if let Some(hook) = &self.task_spawn {
            call_for_task(hook, runnable.id(), &runnable.origin());
        }
    }

    /// Whoever is to be told of the end of a task.
    #[inline]
    pub(crate) fn task_end(&self) -> Option<&TaskHook> {
        self.task_end.as_ref()
    }
}

/// Tells of a thread's start; what is returned tells of its end.
pub(crate) fn thread_starts(pool: &Arc<Pool>) -> ThreadStops<'_> {
    call_in(pool, &pool.config.hooks.thread_start);
    ThreadStops(pool)
}

impl Worker {
    /// Tells that this worker is about to sleep. If that brings it something to do, returns it.
    pub(crate) fn before_park(&self) -> Option<Runnable> {
        let hooks = &self.pool().config.hooks;
        if !hooks.has_park() {
            return None;
        }
        hooks.parks();
        let found = self.take_own();
        if found.is_some() {
            hooks.unparks();
        }
        found
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

/// Says that a thread stops when it is dropped.
pub(crate) struct ThreadStops<'a>(&'a Arc<Pool>);

impl Drop for ThreadStops<'_> {
    fn drop(&mut self) {
        call_in(self.0, &self.0.config.hooks.thread_stop);
    }
}

/// Calls a hook with the runtime as the current one.
fn call_in(pool: &Arc<Pool>, hook: &Option<Hook>) {
    if hook.is_some() {
        let _entered = Scope::enter(Handle::new(pool.clone()));
        call(hook);
    }
}

fn call(hook: &Option<Hook>) {
    if let Some(hook) = hook {
        quietly(|| hook());
    }
}

/// Tells a hook of a task.
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
    pub fn id(&self) -> Id {
        self.id
    }

    /// Returns where the task was spawned.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Returns the name given with [`task::Builder`](crate::task::Builder), if there is one.
    pub fn name(&self) -> Option<&str> {
        self.name
    }
}
