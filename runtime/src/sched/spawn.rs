//! Puts new tasks into a pool: onto the queue of the worker that spawns them, or to where any worker takes them from.
//! Shutdown depends on when they are listed, and when they are counted.

use super::pool::Pool;
use super::worker::Worker;
use crate::context;
use crate::task::{self, JoinHandle, Listing, Origin, Runnable};

impl Pool {
    /// Spawns a future on this pool. If the pool is closing, the future is dropped at once, and the
    /// handle returns an error.
    pub(crate) fn spawn<F>(&self, future: F, origin: Origin) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: both are `Send`.
        unsafe { self.spawn_unchecked(future, origin) }
    }

    /// Like [`spawn`](Self::spawn), but for a fork-join root.
    pub(crate) fn spawn_root<F>(&self, future: F, origin: Origin) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_shared(future, origin, Self::push_root)
    }

    /// Spawns a future that need not be `Send`: onto the queue of the current worker, or into the injector if the
    /// thread is not a worker of this pool.
    ///
    /// # Safety
    ///
    /// The future and its output are `Send`, or the pool runs its tasks on the current thread only.
    pub(crate) unsafe fn spawn_unchecked<F>(
        &self,
        future: F,
        origin: Origin,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        context::worker_of(self, |worker| match worker {
            Some(worker) => self.spawn_own(worker, future, origin),
            None => self.spawn_shared(future, origin, Self::push),
        })
    }

    /// Spawns onto the queue of the current worker.
    #[inline]
    fn spawn_own<F>(&self, worker: &Worker, future: F, origin: Origin) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let spawned = &worker.slot().counters.spawned;
        let shard = self.owned.worker_shard(worker.index(), spawned.get());
        // The task is listed when it first waits, which many never do. A named one is listed at once, so that shutdown
        // can name it; so is one that no task has spawned, because then no unfinished task shows that there may be
        // more.
        let late = origin.name.is_none() && worker.slot().is_polling();
        let listing = if late { Listing::Late } else { Listing::AtSpawn };
        let (runnable, handle) = task::new_task(future, self.pool_ref(shard), origin, listing);
        self.config.hooks.spawned(&runnable);
        worker.observer.note_spawn(runnable.notes(), late);
        // Before it can finish: nobody may see more tasks finished than spawned.
        spawned.bump();
        let refused =
            if late { self.is_closing() } else { !self.owned.bind(shard, runnable.header()) };
        if refused {
            runnable.cancel();
        } else {
            worker.push(runnable);
        }
        handle
    }

    /// Spawns for any worker to take from the queue that `push` puts it into.
    fn spawn_shared<F>(
        &self,
        future: F,
        origin: Origin,
        push: fn(&Self, Runnable),
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let shard = self.owned.outside_shard(outside_spread());
        let (runnable, handle) =
            task::new_task(future, self.pool_ref(shard), origin, Listing::AtSpawn);
        self.config.hooks.spawned(&runnable);
        self.observe_spawn(runnable.notes());
        // Before it can finish, as above; and before the shard can be closed, because a manual loop that is dropped
        // relies on the count alone.
        let count = || self.outside.spawned.bump_shared();
        if self.owned.bind_counted(shard, runnable.header(), count) {
            push(self, runnable);
        } else {
            // A worker counts a task that ends on it as finished, so this one must count as spawned.
            context::worker_of(self, |worker| {
                if let Some(worker) = worker {
                    worker.slot().counters.spawned.bump();
                }
            });
            runnable.cancel();
        }
        handle
    }
}

/// Spreads the tasks of outside threads over the shards, by thread.
fn outside_spread() -> usize {
    windlass_sync::thread_cell!(static NEXT: usize = 0);
    NEXT.with(|next| next.replace(next.get().wrapping_add(1)))
}
