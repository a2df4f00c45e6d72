//! The dedicated thread that blocks on the OS so that no worker has to.
//!
//! It waits for the next deadline and watches over the workers. It never runs user code other than
//! wakers, and what it wakes goes into the pool's fast lane.

use std::io;
use std::time::Instant;

use windlass_sync::Parker;

use crate::context::{self, Role};
use crate::primitives::Arc;
use crate::primitives::plain::Ordering;
use crate::sched::{Pool, Watcher};

/// Starts the poller's thread, which ends with the last worker.
pub(crate) fn start(pool: &Arc<Pool>, parker: Parker) -> io::Result<()> {
    let name = format!("{}-poller", pool.config.thread_name);
    pool.start_thread(name, move |pool| run(pool, &parker))
}

fn run(pool: &Arc<Pool>, parker: &Parker) {
    context::set_role(Role::Poller);
    let mut watcher = Watcher::new(pool);
    while !is_done(pool) {
        match watcher.pause(pool) {
            None => parker.park(),
            Some(pause) => {
                parker.park_timeout(pause);
            }
        }
        watcher.look(pool, Instant::now());
    }
}

/// True once the runtime is closing and every worker has moved out.
fn is_done(pool: &Pool) -> bool {
    pool.is_closing() && !pool.slots.iter().any(|slot| slot.occupied.load(Ordering::Relaxed))
}
