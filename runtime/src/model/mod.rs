//! Access to the real tasks and the real scheduler for the models in `loom-tests`.
//!
//! It is a thin layer. All that it adds is schedulers for models of a single task and of the owner's list.

mod local;
mod owner;
mod parts;
mod pool;
mod ready;

use std::panic::Location;

pub use local::Local;
pub use owner::Owner;
pub use parts::{LifoSlot, Sleepers};
pub use pool::{Monitor, Pool, Workplace};
pub use ready::Ready;

pub use crate::fork::model::Fork;
pub use crate::poller::model::{Kicks, Pipe, Reader, Source, Waiter};
pub use crate::poller::{Direction, Seen};
use crate::task::{self, Origin};

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

#[track_caller]
fn origin() -> Origin {
    Origin::new(Location::caller(), None)
}
