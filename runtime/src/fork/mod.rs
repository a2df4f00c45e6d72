//! Fork-join on the workers: `join`, `scope`, `compute` and `par`. `README.md` in this folder has the
//! protocol and its proof.

mod completion;
mod compute;
mod guest;
mod install;
mod job;
mod join;
mod latch;
#[cfg(loom)]
pub(crate) mod model;
mod offer;
mod outside;
mod pace;
pub mod par;
mod pending;
mod posted;
mod scope;
mod spawned;
mod split;
#[cfg(not(loom))]
pub mod support;
mod thief;
mod wait;

pub use compute::compute;
pub use join::join;
pub use scope::{Scope, scope, scope_in_place};

pub(crate) use guest::Guests;
pub(crate) use job::JobRef;
pub(crate) use pace::{LONG_LEAF, Pace};
pub(crate) use pending::{Offers, Pending};
pub(crate) use posted::Posted;
pub(crate) use thief::NEXT_JOB;
