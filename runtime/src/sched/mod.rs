//! The scheduler: workers, their queues, sleeping and waking. `README.md` in this folder has the
//! protocol and its proof.

mod activity;
mod choices;
mod config;
mod contention;
mod lifo;
mod monitor;
mod pacing;
pub(crate) mod policy;
mod pool;
mod pool_ref;
mod round;
mod search;
mod sleepers;
mod slot;
mod spares;
mod spawn;
mod spin;
mod standstill;
mod status;
pub(crate) mod steal;
mod survey;
mod threads;
mod trial;
mod worker;

use std::io;

pub(crate) use activity::Interrupted;
pub(crate) use config::Config;
pub(crate) use monitor::Monitor;
pub(crate) use pool::Pool;
pub(crate) use sleepers::MOST_WORKERS;
pub(crate) use slot::{Counter, Counters, Polled, Slot};
#[cfg(loom)]
pub(crate) use status::Duty;
pub(crate) use status::WaitKind;
pub(crate) use threads::Spawner;
pub(crate) use worker::Worker;
#[cfg(loom)]
pub(crate) use {
    lifo::LifoSlot,
    sleepers::{SleepPlace, Sleepers},
};

use crate::companion::{self, ThreadKind};
use crate::context;
use crate::hooks;
use crate::primitives::Arc;

/// Starts the thread of a worker or a spare in its slot, which must be vacant.
pub(crate) fn start_worker(pool: &Arc<Pool>, index: usize) -> io::Result<()> {
    let config = &pool.config;
    let name = match index.checked_sub(config.workers) {
        None => worker_name(config, index)?,
        Some(spare) => format!("{}-spare-{spare}", config.thread_name),
    };
    pool.note_move_in(index);
    let spawner = config.spawner.as_ref().filter(|_| index < config.workers);
    let spawner = spawner.map(|spawner| (spawner, index));
    let started = start_thread_with(pool, spawner, name, move |pool| {
        crate::poller::keep_time();
        if index < pool.config.workers {
            context::set_worker_index(index);
        }
        pool.slots[index].mark.set();
        companion::surround(pool, ThreadKind::Worker, || {
            let _stops = hooks::thread_starts(pool);
            if let Some(worker) = Worker::new(pool.clone(), index) {
                worker.run();
            }
        });
        pool.slots[index].mark.clear();
        pool.note_move_out(index);
    });
    if started.is_err() {
        pool.note_move_out(index);
    }
    started
}

/// Returns the name for the thread of a worker.
fn worker_name(config: &Config, index: usize) -> io::Result<String> {
    let Some(name) = &config.hooks.worker_name else {
        return Ok(format!("{}-{index}", config.thread_name));
    };
    let name = name(index);
    if name.contains('\0') {
        let message = format!("the name of worker {index} contains a NUL character: {name:?}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(name)
}

/// Starts a thread that holds the pool until it ends.
pub(crate) fn start_thread(
    pool: &Arc<Pool>,
    name: String,
    body: impl FnOnce(&Arc<Pool>) + Send + 'static,
) -> io::Result<()> {
    start_thread_with(pool, None, name, body)
}

/// Like [`start_thread`], but uses the program's spawner if there is one.
fn start_thread_with(
    pool: &Arc<Pool>,
    spawner: Option<(&Spawner, usize)>,
    name: String,
    body: impl FnOnce(&Arc<Pool>) + Send + 'static,
) -> io::Result<()> {
    let held = pool.clone();
    // A thread that the program has started may go on after the pool has ended, and nobody joins it for us.
    let goes_on = spawner.is_some();
    pool.threads.start(spawner, name, pool.config.stack_size, move |id| {
        let ticket = ThreadTicket { pool: held.clone(), id };
        let _ends_here = if goes_on {
            Some((ticket, context::Before::here()))
        } else {
            ticket.hand_in_last();
            None
        };
        context::set_thread_of(&held);
        let _done = SayDone(&held);
        body(&held);
    })
}

/// Reports, when it is dropped, that a thread has done its work or has panicked.
struct SayDone<'a>(&'a Pool);

impl Drop for SayDone<'_> {
    fn drop(&mut self) {
        self.0.threads.done();
    }
}

/// Reports, when it is dropped, that a thread has ended.
struct ThreadTicket {
    pool: Arc<Pool>,
    id: u64,
}

impl ThreadTicket {
    /// Keeps the ticket until the destructors of the thread's other thread-locals have run, if the platform runs them
    /// in the reverse order of their creation. Then a thread that joins this one does not wait for them, and can give
    /// up at its deadline.
    #[cfg(not(loom))]
    fn hand_in_last(self) {
        thread_local! {
            static TICKET: std::cell::Cell<Option<ThreadTicket>> = const { std::cell::Cell::new(None) };
        }
        TICKET.set(Some(self));
    }

    #[cfg(loom)]
    fn hand_in_last(self) {}
}

impl Drop for ThreadTicket {
    fn drop(&mut self) {
        self.pool.threads.ended(self.id);
    }
}
