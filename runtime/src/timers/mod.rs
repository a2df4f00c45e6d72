//! How timers find the runtime they belong to. What programs see of them is in [`api`] and [`test`].

#[cfg(not(loom))]
pub(crate) mod api;
#[cfg(not(loom))]
pub mod test;

use std::task::Waker;

use windlass_timer::{Home, Host};

use crate::context::{self, Role};
use crate::global;
use crate::primitives::Arc;
use crate::sched::{Pool, Worker};
use crate::task::wakes_polled_task;

/// All runtimes of the process.
// Models have no use for what is exported.
#[cfg_attr(loom, allow(unreachable_pub))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtimes {}

impl Host for Runtimes {
    #[inline]
    fn offer(waker: &Waker, mut take: impl FnMut(&Home) -> bool) {
        if !offer_own(&mut take) {
            offer_others(waker, &mut take);
        }
    }

    fn with_current<R>(see: impl FnOnce(&Home) -> R) -> Option<R> {
        context::try_pool(|pool| see(home(pool)))
    }
}

/// Offers the current worker's shard, unless the thread has entered another runtime.
fn offer_own(take: &mut dyn FnMut(&Home) -> bool) -> bool {
    !context::has_entered()
        && context::with_worker(|worker| {
            worker
                .is_some_and(|worker| take(worker.pool().poller().timers().worker(worker.index())))
        })
}

#[cold]
fn offer_others(waker: &Waker, take: &mut dyn FnMut(&Home) -> bool) {
    if context::has_entered() && context::try_pool(|pool| take(home(pool))) == Some(true) {
        return;
    }
    // A runtime that was entered is shutting down. The worker's own may go on; if that is shutting
    // down too, its tasks are being cancelled, and no timer is of any use to them. But it is to whoever
    // blocks the worker until it fires: a task that does not await, a drop that cleans up.
    if context::role() == Role::Worker {
        let own = |worker: Option<&Worker>| worker.is_some_and(|worker| take(home(worker.pool())));
        if context::with_worker(own) || wakes_polled_task(waker) {
            return;
        }
    }
    take(home(global::runtime().handle().pool()));
}

/// The current thread's shard of a pool: its own if it works there.
fn home(pool: &Arc<Pool>) -> &Home {
    let timers = pool.poller().timers();
    context::worker_of(Arc::as_ptr(pool), |worker| match worker {
        Some(worker) => timers.worker(worker.index()),
        None => timers.foreign(context::thread_number()),
    })
}
