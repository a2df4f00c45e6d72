//! Fork-join on the workers: `join`, `scope`, `compute` and `par`. `README.md` in this folder has the
//! protocol and its proof.

mod completion;
mod computation;
mod compute;
mod forecast;
mod guest;
mod install;
mod job;
mod join;
mod latch;
#[cfg(loom)]
pub(crate) mod model;
mod offer;
mod offering;
mod outside_calls;
mod pace;
pub mod par;
mod pending;
pub(crate) mod policy;
mod posted;
mod relieved;
mod reserved;
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

pub(crate) use computation::Computation;
pub(crate) use forecast::Forecast;
pub(crate) use guest::Guests;
pub(crate) use job::JobRef;
pub(crate) use pending::{Offers, Pending};
pub(crate) use posted::Posted;
