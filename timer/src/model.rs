//! Access to the real shards and their lock for the models in `loom-tests`.

use std::task::Waker;

pub use crate::holders::{ArmedTimer, ShardRef};
pub use crate::lock::Lock;
pub use crate::shard::Ended;

/// The time after which another thread takes over a shard, in nanoseconds.
pub const CLAIM_EXPIRY_NANOS: u64 = crate::nanos::in_nanos(crate::policy::CLAIM_EXPIRY);

/// Arms a timer for a time of the model's choice. Returns `None` if the runtime is gone.
pub fn arm(shard: &ShardRef, deadline: u64, waker: &Waker) -> Option<ArmedTimer> {
    shard.arm(deadline, waker)
}
