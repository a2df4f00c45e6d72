//! Tasks.

mod join_set;
mod local_set;

pub use join_set::JoinSet;
pub use local_set::LocalSet;
pub use windlass::task::{
    AbortHandle, Id, JoinError, JoinHandle, LocalKey, block_in_place, consume_budget, id,
    spawn_local, try_id, unconstrained, yield_now,
};
pub use windlass::{spawn, spawn_blocking};

/// The cooperative budget.
pub mod coop {
    pub use windlass::task::{consume_budget, cooperative, has_budget_remaining, unconstrained};
}

/// Futures with names.
pub mod futures {
    pub use windlass::task::TaskLocalFuture;
}
