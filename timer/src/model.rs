//! How the models in `loom-tests` reach the real shards.

use std::task::Waker;

use windlass_sync::primitives::Arc;

pub use crate::shard::Outcome;
use crate::shard::Shard;
use crate::wheel::Key;

/// A timer that a model arms at a time of its choice.
#[derive(Debug)]
pub struct Timer {
    shard: Arc<Shard>,
    key: Key,
}

impl Timer {
    /// Arms a timer; `None` if the runtime is gone.
    pub fn arm(shard: &Arc<Shard>, deadline: u64, waker: Waker) -> Option<Self> {
        let key = shard.arm(deadline, waker).ok()?;
        Some(Self { shard: shard.clone(), key })
    }

    /// Polls it with a waker.
    pub fn poll(&self, waker: &Waker) -> Outcome {
        self.shard.poll(self.key, waker)
    }

    /// Moves it.
    pub fn reset(&self, deadline: u64) -> Outcome {
        self.shard.reset(self.key, deadline)
    }

    /// Cancels it; true if it had not fired.
    pub fn cancel(self) -> bool {
        self.shard.cancel(self.key).is_some()
    }
}
