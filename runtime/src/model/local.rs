//! The tasks of one thread, for models.

use std::future::{Future, poll_fn};
use std::task::Poll;

use super::Pool;
use crate::local::LocalTasks;
use crate::primitives::Arc;
use crate::task::{JoinHandle, Origin};

/// Tasks that the thread of the model runs.
pub struct Local(Arc<LocalTasks>);

impl Local {
    /// Creates an executor without tasks.
    pub fn new(pool: &Pool) -> Self {
        Self(LocalTasks::new(pool.pool().clone()))
    }

    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: 'static,
    {
        // SAFETY: the future is `Send`.
        unsafe { LocalTasks::spawn(&self.0, future, Origin::caller()) }
    }

    /// Runs tasks until `done`, as a `block_on` does.
    pub fn run_until(&self, done: impl Fn() -> bool) {
        windlass_sync::block_on(poll_fn(|cx| {
            self.0.run_ready(cx);
            if done() { Poll::Ready(()) } else { Poll::Pending }
        }));
    }

    /// Cancels the tasks, as the end of a `block_on` does.
    pub fn close(self) {
        self.0.close();
    }
}
