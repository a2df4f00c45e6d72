//! Tasks that stay on one thread, and so need not be `Send`.
//!
//! - `tasks`: the tasks of one thread, and the protocol by which they are woken.
//! - `calls`: the calls of `block_on` that a thread is in.
//! - this file: `spawn_local`, for tasks that run inside of a `block_on`.
//! - `pinned`: the runtime's threads for such tasks.

pub(crate) mod calls;
pub(crate) mod pinned;
mod tasks;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc as Shared;

use calls::{BlockOnCall, Place, Places};
pub(crate) use pinned::PinnedThreads;
pub use pinned::spawn_pinned;
pub(crate) use tasks::LocalTasks;

use crate::context;
use crate::coop;
use crate::primitives::Arc;
use crate::sched::Pool;
use crate::task::{JoinHandle, Origin, boxed_if_large};

thread_local! {
    // The calls of `block_on` that this thread is in, with their tasks once they have any.
    static PLACES: Shared<Places> = Places::register();
}

/// Spawns a task that stays on this thread and need not be `Send`. It runs inside of the current `block_on`, beside its
/// future, or on the thread of the [pinned](spawn_pinned) task that spawns it.
///
/// Before the `block_on` returns, it cancels the tasks that have not ended and drops their futures. Dropping the handle
/// detaches the task until then.
///
/// # Panics
///
/// Panics outside of a `block_on`, and in ordinary tasks, which may continue on another thread after each `.await`.
///
/// # Examples
///
/// ```
/// use std::rc::Rc;
///
/// windlass::block_on(async {
///     let shared = Rc::new(5); // not `Send`
///     let other = shared.clone();
///     let task = windlass::task::spawn_local(async move { *other + 1 });
///     assert_eq!(task.await.unwrap(), 6);
/// });
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let origin = Origin::caller();
    let Some(tasks) = current() else {
        panic!(
            "`spawn_local` was called outside of `block_on` and of pinned tasks: there is no thread that the task could \
             stay on. Use `spawn_pinned`, which finds one"
        )
    };
    // SAFETY: `current` returns tasks whose executor is this thread.
    boxed_if_large!(future => unsafe { LocalTasks::spawn(&tasks, future, origin) })
}

/// Returns the tasks of this thread's innermost `block_on`.
fn current() -> Option<Arc<LocalTasks>> {
    let tasks = |place: &mut Place| place.tasks.clone();
    let innermost = PLACES.try_with(|places| places.innermost(tasks)).ok().flatten();
    innermost.map(|tasks| {
        tasks.unwrap_or_else(|| {
            let tasks = LocalTasks::new(context::with_pool(Arc::clone));
            let set = |place: &mut Place| place.tasks = Some(tasks.clone());
            PLACES.with(|places| places.innermost(set));
            tasks
        })
    })
}

/// Returns the tasks of all threads that run some for this runtime.
pub(crate) fn all(pool: &Arc<Pool>) -> Vec<Arc<LocalTasks>> {
    // A thread for pinned tasks may not have begun yet.
    let mut all = pinned::threads(pool);
    let known = all.len();
    for tasks in calls::local_tasks(pool) {
        if !all[..known].iter().any(|other| Arc::ptr_eq(other, &tasks)) {
            all.push(tasks);
        }
    }
    all
}

/// A call of `block_on`. Dropping it cancels the tasks.
pub(crate) struct LocalScope {
    call: Option<Shared<BlockOnCall>>,
}

impl LocalScope {
    /// Begins a call, with the tasks that it starts with, if any.
    pub(crate) fn enter(call: Option<Shared<BlockOnCall>>, tasks: Option<Arc<LocalTasks>>) -> Self {
        let place = Place { call: call.clone(), tasks };
        // If the thread-locals are gone, there is nothing local.
        let _ = PLACES.try_with(|places| places.push(place));
        Self { call }
    }

    /// Polls `future` with a full budget, and then runs the tasks that are ready.
    pub(crate) fn poll_beside<F: Future>(
        &self,
        mut future: Pin<&mut F>,
    ) -> impl Future<Output = F::Output> {
        poll_fn(move |cx| {
            coop::start();
            let mut poll = || future.as_mut().poll(cx);
            let polled = match &self.call {
                Some(call) => call.poll(poll),
                None => poll(),
            };
            if polled.is_pending() {
                if let Some(tasks) = Self::tasks() {
                    tasks.run_ready(cx);
                }
            }
            polled
        })
    }

    /// Returns the tasks, if there are any.
    fn tasks() -> Option<Arc<LocalTasks>> {
        let tasks = |place: &mut Place| place.tasks.clone();
        PLACES.try_with(|places| places.innermost(tasks)).ok().flatten().flatten()
    }
}

impl Drop for LocalScope {
    fn drop(&mut self) {
        // Before the place is removed, so that tasks spawned by the futures' drops are refused there.
        if let Some(tasks) = Self::tasks() {
            tasks.close();
        }
        let _place = PLACES.try_with(|places| places.pop());
    }
}
