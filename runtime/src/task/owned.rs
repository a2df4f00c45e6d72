//! The list of a runtime's unfinished tasks, so that shutdown reaches every one of them.
//!
//! The list consists of shards, each with its own lock. The tasks that a worker spawns go to its own shards in turn;
//! other threads are spread over the rest. A task stays in its shard until it is complete. That also keeps the runtime
//! in memory for the task's wakers, because workers leave only when every shard is empty.
//!
//! Only its wakers can reach an idle task, so every task is bound to the list before it is idle for the first time. A
//! task that a worker spawns in a poll is bound no sooner: until then it is in a queue, which workers empty, or is
//! being run by one of them.

use std::ptr::NonNull;

use crossbeam_utils::CachePadded;

use super::Runnable;
use super::header::{Header, Links, Origin};
use super::id::Id;
use super::policy::{FOREIGN_TASK_SHARDS, TASK_SHARDS, VISITED_TASKS};
use super::state::Notify;
use super::waker;
use crate::primitives::Mutex;

/// A counted reference to a task, for looking at it.
pub(crate) struct TaskRef(NonNull<Header>);

// SAFETY: the header may be used from any thread.
unsafe impl Send for TaskRef {}

impl TaskRef {
    /// Returns a reference to a task that is ready.
    pub(crate) fn of(runnable: &Runnable) -> Self {
        // SAFETY: the `Runnable` keeps it alive.
        unsafe { runnable.header().as_ref() }.state.retain();
        Self(runnable.header())
    }

    /// Returns another reference to the same task.
    pub(crate) fn again(&self) -> Self {
        self.header().state.retain();
        Self(self.0)
    }

    /// Returns the part of the task that does not depend on its future.
    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the reference keeps it alive.
        unsafe { self.0.as_ref() }
    }

    /// Returns a pointer to the task, to be compared and not followed.
    pub(crate) fn as_pointer(&self) -> NonNull<Header> {
        self.0
    }

    /// Its name and spawn site.
    pub(crate) fn origin(&self) -> Origin {
        // SAFETY: as above.
        unsafe { Header::origin(self.0) }
    }
}

impl Drop for TaskRef {
    fn drop(&mut self) {
        // SAFETY: the reference is given up here.
        unsafe { waker::release(self.0) }
    }
}

struct List {
    head: Option<NonNull<Header>>,
    closed: bool,
}

// SAFETY: the pointers are to tasks, which may be used from any thread; the links are touched only under the lock.
unsafe impl Send for List {}

/// The unfinished tasks of one runtime.
pub(crate) struct OwnedTasks {
    shards: Box<[CachePadded<Mutex<List>>]>,
}

impl OwnedTasks {
    /// Creates an empty list with shards for this many workers.
    pub(crate) fn new(workers: usize) -> Self {
        let shard = |_| CachePadded::new(Mutex::new(List { head: None, closed: false }));
        Self { shards: (0..workers * TASK_SHARDS + FOREIGN_TASK_SHARDS).map(shard).collect() }
    }

    /// Returns the number of shards.
    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Returns the shard for the `count`th task that a worker spawns.
    pub(crate) fn worker_shard(&self, worker: usize, count: u64) -> usize {
        worker * TASK_SHARDS + count as usize % TASK_SHARDS
    }

    /// Returns the shard for a task that an outside thread spawns.
    pub(crate) fn outside_shard(&self, spread: usize) -> usize {
        self.shards.len() - 1 - spread % FOREIGN_TASK_SHARDS
    }

    /// Adds a task, whose `Runnable` the caller holds or which it runs, to a shard. Returns false if the runtime is
    /// shutting down; the caller must then cancel the task.
    #[must_use]
    pub(crate) fn bind(&self, shard: usize, header: NonNull<Header>) -> bool {
        self.bind_counted(shard, header, || {})
    }

    /// Does the same as [`bind`](Self::bind), and calls `count` under the shard's lock, so that the thread that closes
    /// the shard either finds the task counted or knows that it never will be.
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

    /// Removes a task from its shard, if it was bound.
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

    /// Refuses further tasks and cancels all others. Returns those that were idle, to be queued.
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

    /// Returns true if every task that was bound is complete and no other can be bound. A shard that is not closed yet
    /// does not count as empty, because a task could still be bound to it.
    pub(crate) fn is_over(&self) -> bool {
        self.shards.iter().all(|shard| {
            let list = shard.lock();
            list.closed && list.head.is_none()
        })
    }

    /// Returns a reference to every task in the list, which keeps the task for the caller to look at.
    pub(crate) fn all(&self) -> Vec<TaskRef> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let mut walk = Walk::new(shard);
            while walk.step() {}
            all.append(&mut walk.visited);
        }
        all
    }

    /// Returns the tasks that are being polled.
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

    /// Returns the id, the name and the spawn site of a task, if it is in the list. The task need not be alive.
    pub(crate) fn describe(&self, task: NonNull<Header>) -> Option<(Id, Origin)> {
        // In steps, like every visit of all tasks, so that no lock is held for long.
        let found = self.all().into_iter().find(|listed| listed.0 == task)?;
        // SAFETY: the reference keeps the task alive.
        Some(unsafe { (found.0.as_ref().id, Header::origin(found.0)) })
    }
}

/// A walk over the tasks of a shard, in steps.
///
/// No lock is held for longer than it takes to visit some tasks. Each step resumes at the last visited task that is
/// still in the shard. If none is, they have all ended, and the shard's first task has not been visited. A task that
/// has ended never comes back, so it is asked only once whether it has, and the walk takes time in proportion to the
/// number of tasks.
struct Walk<'a> {
    shard: &'a Mutex<List>,
    visited: Vec<TaskRef>,
    /// The indices of the visited tasks that may still be in the list.
    open: Vec<usize>,
    /// How often a task was asked, for tests.
    #[cfg(test)]
    asked: usize,
}

impl<'a> Walk<'a> {
    fn new(shard: &'a Mutex<List>) -> Self {
        Self {
            shard,
            visited: Vec::new(),
            open: Vec::new(),
            #[cfg(test)]
            asked: 0,
        }
    }

    /// Visits some tasks under one hold of the lock. Returns false if there are no more.
    fn step(&mut self) -> bool {
        let list = self.shard.lock();
        let mut left = VISITED_TASKS;
        let mut next = loop {
            let Some(&last) = self.open.last() else { break list.head };
            if left == 0 {
                // Many have ended, and others want the lock.
                return true;
            }
            left -= 1;
            #[cfg(test)]
            {
                self.asked += 1;
            }
            let task = self.visited[last].0;
            // SAFETY: the lock is held, and the reference keeps the task alive.
            let Links { next, prev } = unsafe { links(task, |links| Links { ..*links }) };
            if prev.is_some() || list.head == Some(task) {
                break next;
            }
            self.open.pop();
        };
        for _ in 0..VISITED_TASKS {
            let Some(header) = next else { return false };
            // SAFETY: tasks in the list are alive.
            unsafe { header.as_ref() }.state.retain();
            self.open.push(self.visited.len());
            self.visited.push(TaskRef(header));
            // SAFETY: the lock is held.
            next = unsafe { links(header, |links| links.next) };
        }
        next.is_some()
    }
}

/// Calls `f` with a task's links.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::future::pending;

    use super::*;
    use crate::sched::Pool;
    use crate::shutdown;

    /// Each time that the lock was taken again, all visited tasks were asked, if all had ended meanwhile.
    #[test]
    fn a_walk_past_tasks_that_end_meanwhile_takes_time_in_proportion_to_their_number() {
        const TASKS: usize = 100 * VISITED_TASKS;
        let pool = Pool::for_tests(1);
        // They are spread over the shards for tasks of other threads.
        for _ in 0..TASKS * FOREIGN_TASK_SHARDS {
            drop(pool.spawn(pending::<()>(), Origin::caller()));
        }
        let owned = &pool.owned;
        let shard = owned.shards() - 1;
        let mut walk = Walk::new(&owned.shards[shard]);
        let (mut steps, mut removed) = (0, 0);
        while walk.step() {
            steps += 1;
            for task in &walk.visited[removed..] {
                owned.remove(shard, task.0);
            }
            removed = walk.visited.len();
            assert!(steps < 10 * TASKS);
        }
        assert!(walk.visited.len() >= TASKS, "all were visited");
        assert!(walk.asked <= 2 * walk.visited.len(), "{} questions", walk.asked);
        // The others have left the list as if they had ended.
        for task in &walk.visited[..removed] {
            assert!(owned.bind(shard, task.0));
        }
        drop(walk);
        shutdown::begin(&pool);
        crate::sched::Worker::new(pool.clone(), 0).unwrap().run();
        assert!(pool.is_over());
    }
}
