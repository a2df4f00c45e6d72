//! A task's pointer to its pool: where its wakers queue it, and where it is listed.

use std::any::Any;
use std::ptr::{self, NonNull};

use super::pool::Pool;
use crate::companion;
use crate::context::{self, Role};
use crate::hooks;
use crate::primitives::Arc;
use crate::primitives::plain::{AtomicPtr, Ordering as Plain};
use crate::task::{End, Header, Runnable, Schedule};

/// A shard of the owner's list, and the pool it is part of.
pub(super) struct PoolShard {
    pool: AtomicPtr<Pool>,
    shard: usize,
}

impl PoolShard {
    /// Returns a shard that does not know its pool yet.
    pub(super) fn new(shard: usize) -> Self {
        Self { pool: AtomicPtr::new(ptr::null_mut()), shard }
    }

    /// Sets the pool, before there is any task.
    pub(super) fn set_pool(&self, pool: &Arc<Pool>) {
        self.pool.store(Arc::as_ptr(pool).cast_mut(), Plain::Relaxed);
    }
}

impl Pool {
    /// Returns the pointer for the tasks of a shard.
    pub(super) fn pool_ref(&self, shard: usize) -> PoolRef {
        PoolRef(NonNull::from(&self.pool_shards[shard]))
    }
}

/// A task's pool and its shard of the list of all tasks, in one word.
///
/// A bare pointer, because counting references to the pool would make all spawning threads share a cache line. It is
/// valid while the task is in its shard: workers hold the pool and leave only when the shards are empty. Wakers use it
/// only with the `Runnable` of a task that was idle. Such a task is in its shard, and stays there until the `Runnable`
/// has been run. All other threads that use it are workers.
#[derive(Clone, Copy)]
pub(crate) struct PoolRef(NonNull<PoolShard>);

// SAFETY: `Pool` is `Sync`, and the pointer is used as described above only.
unsafe impl Send for PoolRef {}
// SAFETY: as above.
unsafe impl Sync for PoolRef {}

impl PoolRef {
    /// # Safety
    ///
    /// The task is in its shard, or the caller holds the pool.
    unsafe fn get(self) -> (*const Pool, usize) {
        // SAFETY: part of the pool, which is alive, as the caller guarantees.
        let shard = unsafe { self.0.as_ref() };
        (shard.pool.load(Plain::Relaxed), shard.shard)
    }
}

impl Schedule for PoolRef {
    fn schedule(self, runnable: Runnable) {
        // SAFETY: the task was idle, so it is in its shard, and stays there until `runnable` was run.
        let (pool, _) = unsafe { self.get() };
        context::worker_of(pool, |worker| {
            if let Some(worker) = worker {
                return worker.push_woken(runnable);
            }
            // Once pushed, the task may be run and the pool may end before we have looked for a sleeper, so we take a
            // reference of our own. SAFETY: the pool is alive here, as above.
            let pool = unsafe {
                Arc::increment_strong_count(pool);
                Arc::from_raw(pool)
            };
            let from_poller = context::role() == Role::Poller;
            pool.observe_wake(&runnable, from_poller);
            if from_poller {
                pool.push_lane(runnable);
            } else {
                pool.push(runnable);
            }
        });
    }

    fn reschedule(self, runnable: Runnable) {
        context::with_worker(|worker| {
            worker.expect("a task of a pool is run by its workers").push_again(runnable);
        });
    }

    fn bind(self, task: NonNull<Header>) -> bool {
        // SAFETY: the caller is a worker of the pool.
        let (pool, shard) = unsafe { self.get() };
        // SAFETY: as above.
        let bound = unsafe { &*pool }.owned.bind(shard, task);
        if bound {
            // SAFETY: the caller runs the task.
            let notes = &unsafe { task.as_ref() }.notes;
            context::with_worker(|worker| {
                if let Some(worker) = worker {
                    worker.observer.note_listed(notes);
                }
            });
        }
        bound
    }

    fn list(self, task: NonNull<Header>) -> bool {
        // SAFETY: the caller holds the pool.
        let (pool, shard) = unsafe { self.get() };
        // SAFETY: as above.
        unsafe { &*pool }.owned.bind(shard, task)
    }

    fn timed(self, task: &Header) {
        context::with_worker(|worker| {
            if let Some(worker) = worker {
                worker.time_poll(task);
            }
        });
    }

    fn explain(self, payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
        // SAFETY: the caller is a worker of the pool.
        let (pool, _) = unsafe { self.get() };
        // SAFETY: as above.
        companion::explain(unsafe { &*pool }, payload)
    }

    fn release(self, task: NonNull<Header>, end: End) {
        // SAFETY: the caller is a worker of the pool, or a spawner that holds it.
        let (pool, shard) = unsafe { self.get() };
        // SAFETY: as above.
        let pool = unsafe { &*pool };
        if let Some(hook) = pool.config.hooks.task_end() {
            // SAFETY: the owner's reference keeps the task alive until this returns.
            let (id, origin) = unsafe { (task.as_ref().id, Header::origin(task)) };
            hooks::call_for_task(hook, id, &origin);
        }
        if end.listed {
            pool.owned.remove(shard, task);
        }
        context::worker_of(pool, |worker| {
            match worker {
                Some(worker) => {
                    let counters = &worker.slot().counters;
                    if end.panicked {
                        counters.panicked.bump();
                    }
                    // SAFETY: the owner's reference keeps the task alive until this returns.
                    worker.observer.note_finish(&unsafe { task.as_ref() }.notes, end.listed);
                    counters.finished.bump();
                }
                // Only workers finish what was taken in.
                None => {
                    if end.panicked {
                        pool.outside.panicked.bump_shared();
                    }
                    // SAFETY: as above.
                    pool.observe_end(&unsafe { task.as_ref() }.notes);
                    pool.outside.finished.bump_shared();
                }
            }
        });
    }
}
