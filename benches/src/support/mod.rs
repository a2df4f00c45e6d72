//! Runtime-neutral pieces that workloads share.

mod pair;
mod slot;

pub(crate) use pair::run_pair;
pub(crate) use slot::Slot;
