//! Connects timers to the runtime that they belong to. The public interface is in [`api`] and [`test`].

#[cfg(not(loom))]
pub(crate) mod api;
#[cfg(not(loom))]
pub mod test;

use std::task::Waker;

use windlass_timer::{Host, ShardRef};

use crate::context::{self, Role};
use crate::global;
use crate::primitives::Arc;
use crate::sched::{Pool, Worker};
use crate::task::wakes_polled_task;

/// All runtimes of the process.
// Models do not use the exports.
#[cfg_attr(loom, allow(unreachable_pub))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtimes {}

impl Host for Runtimes {
    #[inline]
    fn offer(waker: &Waker, mut take: impl FnMut(&ShardRef) -> bool) {
        if !offer_own(&mut take) {
            offer_others(waker, &mut take);
        }
    }

    fn with_current<R>(see: impl FnOnce(&ShardRef) -> R) -> Option<R> {
        context::try_pool(|pool| see(own_shard(pool)))
    }
}

/// Offers the current worker's shard, unless the thread has entered another runtime.
fn offer_own(take: &mut dyn FnMut(&ShardRef) -> bool) -> bool {
    !context::has_entered()
        && context::with_worker(|worker| {
            worker
                .is_some_and(|worker| take(worker.pool().poller().timers().worker(worker.index())))
        })
}

#[cold]
fn offer_others(waker: &Waker, take: &mut dyn FnMut(&ShardRef) -> bool) {
    let is_elsewhere = context::has_entered() || context::role() != Role::Worker;
    if is_elsewhere && context::try_pool(|pool| take(own_shard(pool))) == Some(true) {
        return;
    }
    // The runtime that was entered is shutting down. The worker's own may not be. If it is, its tasks are being
    // cancelled and need no timer, but code that blocks the worker until a timer fires does: a task that does not
    // await, or a drop that cleans up.
    if context::role() == Role::Worker {
        let own =
            |worker: Option<&Worker>| worker.is_some_and(|worker| take(own_shard(worker.pool())));
        if context::with_worker(own) || wakes_polled_task(waker) {
            return;
        }
    }
    take(own_shard(global::runtime().handle().pool()));
}

/// Returns the current thread's shard of a pool: that of the worker if it is one of the pool's workers.
fn own_shard(pool: &Arc<Pool>) -> &ShardRef {
    let timers = pool.poller().timers();
    context::worker_of(Arc::as_ptr(pool), |worker| match worker {
        Some(worker) => timers.worker(worker.index()),
        None => timers.outside(context::thread_number()),
    })
}
