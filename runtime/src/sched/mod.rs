//! The scheduler: workers, their queues, sleeping and waking. `README.md` in this folder has the
//! protocol and its proof.

mod lifo;
mod pool;
mod queue;
mod sleepers;
mod slot;
mod spin;
mod threads;
mod watch;
mod worker;

use std::io;

pub(crate) use pool::{Config, Pool};
pub(crate) use sleepers::MOST_WORKERS;
pub(crate) use slot::Counters;
pub(crate) use watch::Watcher;
pub(crate) use worker::Worker;

use crate::primitives::Arc;
use crate::primitives::plain::Ordering;

/// Starts the thread of a worker or a spare in its slot, which must be vacant.
pub(crate) fn start_worker(pool: &Arc<Pool>, index: usize) -> io::Result<()> {
    let config = &pool.config;
    let name = match index.checked_sub(config.workers) {
        None => format!("{}-{index}", config.thread_name),
        Some(spare) => format!("{}-spare-{spare}", config.thread_name),
    };
    let slot = &pool.slots[index];
    slot.occupied.store(true, Ordering::Relaxed);
    let started = pool.start_thread(name, move |pool| {
        if let Some(worker) = Worker::new(pool.clone(), index) {
            worker.run();
        }
        pool.slots[index].occupied.store(false, Ordering::Relaxed);
    });
    if started.is_err() {
        slot.occupied.store(false, Ordering::Relaxed);
    }
    started
}

impl Pool {
    /// Starts a thread that holds the pool until it ends.
    pub(crate) fn start_thread(
        self: &Arc<Self>,
        name: String,
        body: impl FnOnce(&Arc<Pool>) + Send + 'static,
    ) -> io::Result<()> {
        let (pool, last) = (self.clone(), self.clone());
        self.threads.start(
            name,
            self.config.stack_size,
            move || {
                body(&pool);
                drop(pool);
            },
            move |id| last.threads.ended(id),
        )
    }
}
