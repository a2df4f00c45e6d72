//! How the models in `loom-tests` reach the real shards, and their lock.

use std::task::Waker;

use windlass_sync::primitives::Mutex;

pub use crate::lease::{Home, Lease};
pub use crate::lock::Lock;
pub use crate::shard::Ended;

/// In place of [`Lock`]: a lock that blocks.
#[derive(Debug)]
pub(crate) struct Blocking<T>(Mutex<T>);

impl<T> Blocking<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock())
    }
}

/// Arms a timer at a time of the model's choice; `None` if the runtime is gone.
pub fn arm(home: &Home, deadline: u64, waker: &Waker) -> Option<Lease> {
    home.arm(deadline, waker)
}
