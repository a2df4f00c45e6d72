//! How the models in `loom-tests` reach the real shards, and their lock.

use std::task::Waker;

pub use crate::lease::{Home, Lease};
pub use crate::lock::Lock;
pub use crate::shard::Ended;
pub use crate::turn::PATIENCE;

/// Arms a timer at a time of the model's choice; `None` if the runtime is gone.
pub fn arm(home: &Home, deadline: u64, waker: &Waker) -> Option<Lease> {
    home.arm(deadline, waker)
}
