//! What an operation costs while something grows tenfold, and tenfold again. Flat is good.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::echo::{self, Tasks};
use super::timers::{arm_and_cancel, fill};
use super::yielding::yields;
use super::{Row, Workload, peers};
use crate::measure::{Budget, Metrics, passes};
use crate::peers::{NetPeer, Peer, SizedPeer, TimePeer};

/// Workloads that differ in size only.
pub(crate) struct Series {
    /// What grows.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Each size, and the workload of that size.
    pub(crate) sizes: &'static [(usize, &'static str)],
}

pub(crate) const SERIES: &[Series] = &[
    Series {
        name: "tasks",
        about: "a yield of one of them",
        sizes: &[
            (100, "grow_tasks_100"),
            (1_000, "grow_tasks_1k"),
            (10_000, "grow_tasks_10k"),
            (100_000, "grow_tasks_100k"),
        ],
    },
    Series {
        name: "timers",
        about: "arming and cancelling one more",
        sizes: &[
            (100, "grow_timers_100"),
            (1_000, "grow_timers_1k"),
            (10_000, "grow_timers_10k"),
            (100_000, "grow_timers_100k"),
        ],
    },
    Series {
        name: "connections",
        about: "server CPU time for an echo",
        sizes: &[(10, "grow_conns_10"), (100, "grow_conns_100"), (1_000, "grow_conns_1k")],
    },
    Series {
        name: "workers",
        about: "a yield of one of 1,000 tasks",
        sizes: &[(1, "grow_threads_1"), (3, "grow_threads_3"), (10, "grow_threads_10")],
    },
];

const YIELD: &[Row] = &[Row::time("ns/yield")];
const TIMER: &[Row] = &[Row::time("ns/timer")];
const MESSAGE: &[Row] = &[Row::cost("cpu_ns_per_message", "ns server CPU/msg")];

/// A workload of one size.
macro_rules! sized {
    ($name:literal, $about:literal, $rows:ident, $run:ident, $size:literal: $($peer:ident),+) => {
        Workload {
            name: $name,
            about: $about,
            base: "tokio",
            rows: $rows,
            peers: peers![$run, $size: $($peer),+],
        }
    };
}

pub(super) const WORKLOADS: &[Workload] = &[
    sized!("grow_tasks_100", "100 tasks that yield", YIELD, tasks, 100: Tokio, Smol, Windlass),
    sized!("grow_tasks_1k", "1,000 tasks that yield", YIELD, tasks, 1_000: Tokio, Smol, Windlass),
    sized!("grow_tasks_10k", "10,000 tasks that yield", YIELD, tasks, 10_000: Tokio, Smol, Windlass),
    sized!("grow_tasks_100k", "100,000 tasks that yield", YIELD, tasks, 100_000: Tokio, Smol, Windlass),
    sized!("grow_timers_100", "arm and cancel beside 100 timers", TIMER, timers, 100: Tokio, Smol, Windlass),
    sized!("grow_timers_1k", "arm and cancel beside 1,000 timers", TIMER, timers, 1_000: Tokio, Smol, Windlass),
    sized!("grow_timers_10k", "arm and cancel beside 10,000 timers", TIMER, timers, 10_000: Tokio, Smol, Windlass),
    sized!("grow_timers_100k", "arm and cancel beside 100,000 timers", TIMER, timers, 100_000: Tokio, Smol, Windlass),
    sized!("grow_conns_10", "echo on 10 connections", MESSAGE, connections, 10: Tokio, Smol, Windlass),
    sized!("grow_conns_100", "echo on 100 connections", MESSAGE, connections, 100: Tokio, Smol, Windlass),
    sized!("grow_conns_1k", "echo on 1,000 connections", MESSAGE, connections, 1_000: Tokio, Smol, Windlass),
    sized!("grow_threads_1", "1,000 tasks that yield, 1 worker", YIELD, threads, 1: Tokio, Windlass),
    sized!("grow_threads_3", "1,000 tasks that yield, 3 workers", YIELD, threads, 3: Tokio, Windlass),
    sized!("grow_threads_10", "1,000 tasks that yield, 10 workers", YIELD, threads, 10: Tokio, Windlass),
];

/// The series that a workload belongs to, if any.
pub(crate) fn series_of(workload: &str) -> Option<&'static Series> {
    SERIES.iter().find(|series| series.sizes.iter().any(|(_, name)| *name == workload))
}

/// Yields of each task: enough for its spawn not to count.
const TURNS: usize = 20;

fn tasks<P: Peer, const TASKS: usize>(budget: &Budget) -> Metrics {
    let peer = P::start();
    // As many yields in a pass, however few the tasks.
    let turns = TURNS.max(100_000 / TASKS);
    passes(budget, || yields(&peer, TASKS, turns))
}

fn timers<P: TimePeer, const TIMERS: usize>(budget: &Budget) -> Metrics {
    let peer = P::start();
    peer.run_task(fill::<P>(Arc::new(AtomicUsize::new(0)), TIMERS));
    arm_and_cancel(&peer, budget)
}

fn connections<P: NetPeer, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    echo::plain::<Tasks<P>, CONNECTIONS>(budget)
}

fn threads<P: SizedPeer, const WORKERS: usize>(budget: &Budget) -> Metrics {
    let peer = P::with_workers(WORKERS);
    passes(budget, || yields(&peer, 1_000, 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_a_workload_and_every_workload_a_size() {
        for (_, name) in SERIES.iter().flat_map(|series| series.sizes) {
            assert!(WORKLOADS.iter().any(|workload| workload.name == *name), "{name}");
        }
        for workload in WORKLOADS {
            assert!(series_of(workload.name).is_some(), "{}", workload.name);
        }
    }
}
