//! Requests that do something: computing, in place or fanned out; a lock; a pipeline of tasks; a broadcast;
//! and connections that are used otherwise than by echo.
//!
//! The load is a process of its own, as for echo. Messages have 64 bytes, and the answer is the request.

mod broadcast;
mod bulk;
mod churn;
mod lock;
pub(crate) mod open;
mod pipeline;
mod pipelined;
mod served;
mod work;

use super::Workload;
use crate::report::heat::Heat;

/// What stands in tables of the usual kind.
pub(super) const LISTS: &[&[Workload]] = &[
    lock::WORKLOADS,
    pipeline::WORKLOADS,
    broadcast::WORKLOADS,
    pipelined::WORKLOADS,
    churn::WORKLOADS,
    bulk::WORKLOADS,
];
pub(super) use open::WORKLOADS as OPEN;
pub(super) use work::WORKLOADS as WORK;

/// A message, as the load sends it.
const MESSAGE: usize = 64;

/// The window is this many times the measuring time of a child.
const LONGER: f64 = 1.5;

pub(super) fn heats() -> Vec<Heat> {
    let mut heats = work::heats();
    heats.push(open::heat());
    heats
}

/// tokio and windlass, with the constants that follow the peer.
macro_rules! both {
    ($run:ident $(, $constant:literal)*) => {
        &[
            ("tokio", $run::<$crate::peers::Tokio $(, $constant)*>),
            ("windlass", $run::<$crate::peers::Windlass $(, $constant)*>),
        ]
    };
}
use both;
