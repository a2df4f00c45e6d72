//! Queues of ready tasks.

use crate::deque::{self, settle};
use crate::task::Runnable;

/// The owner's end of a worker's queue: first in, first out.
pub(crate) struct LocalQueue(deque::Worker<Runnable>);

/// The thieves' end of a worker's queue.
pub(crate) struct Stealer(deque::Stealer<Runnable>);

impl LocalQueue {
    pub(crate) fn new() -> Self {
        Self(deque::Worker::new_fifo())
    }

    pub(crate) fn push(&self, runnable: Runnable) {
        self.0.push(runnable);
    }

    pub(crate) fn pop(&self) -> Option<Runnable> {
        self.0.pop()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn stealer(&self) -> Stealer {
        Stealer(self.0.stealer())
    }
}

impl Stealer {
    /// Moves about half of the queue into `to`, and returns one of them.
    pub(crate) fn steal_into(&self, to: &LocalQueue) -> Option<Runnable> {
        settle(|| self.0.steal_batch_and_pop(&to.0))
    }

    /// Takes one.
    pub(crate) fn take(&self) -> Option<Runnable> {
        settle(|| self.0.steal())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// A queue that any thread may push to.
pub(crate) struct Injector(deque::Injector<Runnable>);

impl Injector {
    pub(crate) fn new() -> Self {
        Self(deque::Injector::new())
    }

    pub(crate) fn push(&self, runnable: Runnable) {
        self.0.push(runnable);
    }

    /// Takes one.
    pub(crate) fn take(&self) -> Option<Runnable> {
        settle(|| self.0.steal())
    }

    /// Moves a batch into `to`, and returns one of them.
    pub(crate) fn take_into(&self, to: &LocalQueue) -> Option<Runnable> {
        if self.0.is_empty() {
            return None;
        }
        settle(|| self.0.steal_batch_and_pop(&to.0))
    }

    /// Moves a batch into `to`. Returns false if there was nothing.
    pub(crate) fn move_into(&self, to: &LocalQueue) -> bool {
        !self.0.is_empty() && settle(|| self.0.steal_batch(&to.0)).is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
