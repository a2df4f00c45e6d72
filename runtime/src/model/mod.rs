//! Access to the real tasks and the real scheduler for the models in `loom-tests`, and to a single task for `fuzz`.
//!
//! It is a thin layer. All that it adds is schedulers for models of a single task and of the owner's list.

#[cfg(loom)]
mod local;
#[cfg(loom)]
mod owner;
#[cfg(loom)]
mod parts;
#[cfg(loom)]
mod pool;
mod ready;

#[cfg(loom)]
pub use local::Local;
#[cfg(loom)]
pub use owner::Owner;
#[cfg(loom)]
pub use parts::{LifoSlot, Ring, Sleepers};
#[cfg(loom)]
pub use pool::{Monitor, Pool, Workplace};
pub use ready::Ready;

#[cfg(loom)]
pub use crate::fork::model::Fork;
#[cfg(loom)]
pub use crate::poller::model::{Asked, Kicks, Pipe, Reader, Source, Waiter};
#[cfg(loom)]
pub use crate::poller::{Direction, Seen};
use crate::task;

/// The right to run a task.
#[derive(Debug)]
pub struct Runnable(task::Runnable);

impl Runnable {
    /// Polls the task once, or drops its future if it was cancelled.
    pub fn run(self) {
        self.0.run();
    }

    /// Drops the task's future.
    pub fn cancel(self) {
        self.0.cancel();
    }
}
