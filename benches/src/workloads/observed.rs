//! What observing costs: the same workloads with it, as by default, and without.

use super::{Aim, Row, Workload, echo, fork, peers, spawn_inside, yielding};
use crate::peers::{Peer, Unobserved, Windlass};
use echo::{Server, Tasks};

/// The peer without histograms, spawn sites, notes of tasks and flight record.
const WITHOUT: &str = Unobserved::NAME;

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "observed_echo_64",
        about: "echo_64 with and without observation",
        base: WITHOUT,
        rows: &[echo::RATE.aim(Aim::Ratio(0.98)), echo::P50, echo::P99, echo::CPU],
        peers: &[
            (WITHOUT, echo::plain::<Tasks<Unobserved>, 64>),
            (Tasks::<Windlass>::NAME, echo::plain::<Tasks<Windlass>, 64>),
        ],
    },
    Workload {
        name: "observed_spawn_inside",
        about: "spawn_inside with and without observation; per task",
        base: WITHOUT,
        rows: &[Row::time("ns/task").aim(Aim::Ratio(1.0 / 0.97))],
        peers: {
            use spawn_inside::run;
            peers![run: Unobserved, Windlass]
        },
    },
    Workload {
        name: "observed_yield_1000",
        about: "yield_1000 with and without observation; per yield",
        base: WITHOUT,
        rows: &[Row::time("ns/yield").aim(Aim::Ratio(1.0 / 0.95))],
        peers: {
            use yielding::run;
            peers![run, 1_000: Unobserved, Windlass]
        },
    },
    Workload {
        name: "observed_fork_fib_32",
        about: "fork_fib_32 with and without observation",
        base: WITHOUT,
        rows: &[Row::time("ms").scaled(1e6).aim(Aim::Ratio(1.0))],
        peers: fork::OBSERVED,
    },
];
