//! A one-shot completion. A worker that waits for it runs jobs of its own pool; any other thread blocks.

// Models do not export it.
#![cfg_attr(loom, allow(unreachable_pub))]

use windlass_sync::Latch;

use crate::context;
use crate::primitives::{Arc, AtomicBool, Ordering, fence};
use crate::sched::Pool;

/// An event that is set once, by any thread with a clone, and waited for by the thread that made it.
#[derive(Clone)]
pub struct Completion(Arc<Inner>);

struct Inner {
    set: AtomicBool,
    waiter: Waiter,
}

enum Waiter {
    /// A worker, or a guest, and its index.
    Worker(Arc<Pool>, usize),
    Thread(Latch),
}

impl Completion {
    /// Creates a completion, for the current thread to wait for.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let waiter = context::with_forker(|worker| match worker {
            Some(worker) => Waiter::Worker(worker.pool().clone(), worker.index()),
            None => Waiter::Thread(Latch::new(1)),
        });
        Self(Arc::new(Inner { set: AtomicBool::new(false), waiter }))
    }

    /// Ends the wait. Must be called only once.
    pub fn set(&self) {
        // Release pairs with the Acquire in `is_set`.
        self.0.set.store(true, Ordering::Release);
        match &self.0.waiter {
            Waiter::Worker(pool, index) => {
                // Partner of the fence in `sleep_joining`, as in `latch_was_set`.
                fence(Ordering::SeqCst);
                pool.wake_joiner(*index);
            }
            Waiter::Thread(latch) => latch.count_down(),
        }
    }

    /// Returns true if it was set.
    pub fn is_set(&self) -> bool {
        // Acquire pairs with the Release in `set`.
        self.0.set.load(Ordering::Acquire)
    }

    /// Waits until it is set. Called by the thread that made it; a worker runs jobs of its own pool meanwhile.
    pub fn wait(&self) {
        match &self.0.waiter {
            Waiter::Thread(latch) => latch.wait_blocking(),
            Waiter::Worker(..) => context::with_forker(|worker| {
                let worker = worker.expect("the thread that made it waits");
                if !self.is_set() {
                    worker.wait_for(|| self.is_set());
                }
            }),
        }
    }
}
