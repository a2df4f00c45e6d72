//! Runtime-neutral pieces that workloads share.

mod compute;
mod histogram;
mod pair;
pub(crate) mod quota;
mod slot;
pub(crate) mod sys;

pub(crate) use compute::Compute;
pub(crate) use histogram::Histogram;
pub(crate) use pair::run_pair;
pub(crate) use slot::Slot;
