//! Sets of tasks that stay on one thread.
//!
//! In windlass such tasks belong to a `block_on`, and can be spawned only while it runs. This set counts its own, and
//! aborts them when it is dropped.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use windlass::task::TaskTracker;

use super::{AbortHandle, JoinHandle, spawn_local};
use crate::runtime::Runtime;

pub struct LocalSet {
    tracker: TaskTracker,
    tasks: RefCell<Vec<AbortHandle>>,
    not_send: PhantomData<*mut ()>,
}

impl LocalSet {
    pub fn new() -> Self {
        let tracker = TaskTracker::new();
        tracker.close();
        Self { tracker, tasks: RefCell::default(), not_send: PhantomData }
    }

    #[track_caller]
    pub fn enter(&self) -> LocalEnterGuard {
        crate::missing("`LocalSet::enter`")
    }

    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let task = spawn_local(self.tracker.track_future(future));
        self.tasks.borrow_mut().push(task.abort_handle());
        task
    }

    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(self.run_until(future))
    }

    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        future.await
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        for task in self.tasks.get_mut() {
            task.abort();
        }
    }
}

/// Waits for all tasks of the set.
impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.tracker.is_empty() {
            return Poll::Ready(());
        }
        // Polled beside them, by the same `block_on`: what ends them wakes it.
        let _ = pin!(self.tracker.wait()).poll(cx);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub struct LocalEnterGuard(());
