//! The list of a runtime's unfinished tasks, so that shutdown reaches every one of them.
//!
//! The list is cut into shards, each with a lock of its own: what a worker spawns belongs to its
//! own shards in turn, and other threads spread over the rest. A task stays in its shard until it is
//! complete, and that is also what keeps the runtime in memory for the task's wakers: workers
//! leave only when every shard is empty.
//!
//! Nobody but its waker knows an idle task, so every task is bound here before it is idle for the first
//! time; what a worker spawns in a poll is bound no sooner. Until then it lies in a queue, which workers
//! empty, or is being run by one of them.

use std::ptr::NonNull;

use crossbeam_utils::CachePadded;

use super::Runnable;
use super::header::{Header, Links, Origin};
use super::state::Notify;
use crate::primitives::Mutex;

/// Shards of each worker, used in turn: tasks end in about the order in which they began, so that a
/// thief who ends them rarely meets the worker that spawns more.
const SHARDS: usize = if cfg!(loom) { 1 } else { 4 };
/// Shards for threads that are not workers of the runtime.
const FOREIGN_SHARDS: usize = if cfg!(loom) { 1 } else { 8 };

struct List {
    head: Option<NonNull<Header>>,
    closed: bool,
}

// SAFETY: the pointers are to tasks, which may be used from any thread; the links are touched
// under the lock only.
unsafe impl Send for List {}

/// The unfinished tasks of one runtime.
pub(crate) struct OwnedTasks {
    shards: Box<[CachePadded<Mutex<List>>]>,
}

impl OwnedTasks {
    /// An empty list with shards for so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        let shard = |_| CachePadded::new(Mutex::new(List { head: None, closed: false }));
        Self { shards: (0..workers * SHARDS + FOREIGN_SHARDS).map(shard).collect() }
    }

    /// How many shards there are.
    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// The shard for a task that a worker spawns as its `count`th.
    pub(crate) fn worker_shard(&self, worker: usize, count: u64) -> usize {
        worker * SHARDS + count as usize % SHARDS
    }

    /// The shard for a task that a foreign thread spawns.
    pub(crate) fn foreign_shard(&self, spread: usize) -> usize {
        self.shards.len() - 1 - spread % FOREIGN_SHARDS
    }

    /// Takes a task into a shard, whose `Runnable` the caller holds or which it runs. False if the
    /// runtime is shutting down: then the caller must cancel the task.
    #[must_use]
    pub(crate) fn bind(&self, shard: usize, header: NonNull<Header>) -> bool {
        self.bind_counted(shard, header, || {})
    }

    /// As [`bind`](Self::bind), and has `count` count the task under the shard's lock: whoever closes the shard
    /// finds either the task counted, or none that will be.
    #[must_use]
    pub(crate) fn bind_counted(
        &self,
        shard: usize,
        header: NonNull<Header>,
        count: impl FnOnce(),
    ) -> bool {
        let mut list = self.shards[shard].lock();
        if list.closed {
            return false;
        }
        count();
        let next = list.head.replace(header);
        // SAFETY: we hold the shard's lock, and all tasks in the list are alive.
        unsafe {
            links(header, |links| links.next = next);
            if let Some(next) = next {
                links(next, |links| links.prev = Some(header));
            }
        }
        true
    }

    /// Takes a task off its shard; one that was never bound is left alone.
    pub(crate) fn remove(&self, shard: usize, header: NonNull<Header>) {
        let mut list = self.shards[shard].lock();
        // SAFETY: we hold the shard's lock, and all tasks in the list are alive.
        unsafe {
            let Links { next, prev } = links(header, std::mem::take);
            match prev {
                Some(prev) => links(prev, |links| links.next = next),
                None if list.head == Some(header) => list.head = next,
                None => return,
            }
            if let Some(next) = next {
                links(next, |links| links.prev = prev);
            }
        }
    }

    /// Lets no task in any more, and cancels all there are. What was idle is returned, to be queued.
    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut idle = Vec::new();
        for shard in &self.shards {
            let mut list = shard.lock();
            list.closed = true;
            for_each(&list, |header| {
                // SAFETY: tasks in the list are alive.
                if unsafe { header.as_ref() }.state.cancel() == Notify::Schedule {
                    // SAFETY: `Schedule` gives us the `Runnable`.
                    idle.push(unsafe { Runnable::new(header) });
                }
            });
        }
        idle
    }

    /// True if every task that was bound is complete and no other can be. A shard that is not closed yet does
    /// not count as empty: a task could be bound to it after the look.
    pub(crate) fn is_over(&self) -> bool {
        self.shards.iter().all(|shard| {
            let list = shard.lock();
            list.closed && list.head.is_none()
        })
    }

    /// Those of the tasks that are being polled at this moment.
    pub(crate) fn running(&self, is_polled: impl Fn(NonNull<Header>) -> bool) -> Vec<Origin> {
        let mut running = Vec::new();
        for shard in &self.shards {
            for_each(&shard.lock(), |header| {
                if is_polled(header) {
                    // SAFETY: tasks in the list are alive.
                    running.push(unsafe { Header::origin(header) });
                }
            });
        }
        running
    }
}

/// Touches a task's links.
///
/// # Safety
///
/// The caller holds the lock of the task's shard, and the task is alive.
unsafe fn links<R>(header: NonNull<Header>, f: impl FnOnce(&mut Links) -> R) -> R {
    // SAFETY: the lock gives exclusive access to the links.
    unsafe { header.as_ref() }.links.with_mut(|links| f(unsafe { &mut *links }))
}

/// Visits every task of a shard whose lock the caller holds.
fn for_each(list: &List, mut f: impl FnMut(NonNull<Header>)) {
    let mut next = list.head;
    while let Some(header) = next {
        f(header);
        // SAFETY: the borrow of the list proves that its lock is held; its tasks are alive.
        next = unsafe { links(header, |links| links.next) };
    }
}
