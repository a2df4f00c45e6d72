//! The workloads: what is done, on which peers, and which figures of it go into the report.
//!
//! To add one: a file here with a `WORKLOADS` list, its `mod` line, and its name in [`SECTIONS`].
//! The program should be the same for every peer, written once over [`Peer`](crate::peers::Peer);
//! where peers differ in kind, the list takes a function per peer.
//!
//! A run gets a [`Budget`] and returns [`Metrics`]. It warms up by itself, and should neither need
//! nor leave anything in the process: `one` may follow it with a profiler attached.

mod block_on;
mod chained_spawn;
pub(crate) mod crowd;
mod echo;
mod event_pair_local;
mod event_round_trip;
mod fan_out;
mod foreign_wake;
mod fork;
pub(crate) mod growth;
mod idle_cpu;
mod idle_memory;
mod mutex;
mod observed;
mod ping_pong;
pub(crate) mod requests;
mod spawn_inside;
mod spawn_long_polls;
mod spawn_outside;
mod stall;
mod startup_shutdown;
mod timers;
mod yielding;

use std::sync::OnceLock;

use crate::measure::{Budget, Metrics};
use crate::report::heat::Heat;

/// Workloads that stand together in the report.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    lists: &'static [&'static [Workload]],
}

impl Section {
    pub(crate) fn workloads(&self) -> impl Iterator<Item = &'static Workload> + use<> {
        self.lists.iter().copied().flatten()
    }
}

/// Every list of workloads, in the order of the report.
pub(crate) const SECTIONS: &[Section] = &[
    Section {
        title: "Tasks and wake-ups",
        lists: &[
            spawn_inside::WORKLOADS,
            spawn_outside::WORKLOADS,
            spawn_long_polls::WORKLOADS,
            yielding::WORKLOADS,
            ping_pong::WORKLOADS,
            chained_spawn::WORKLOADS,
            fan_out::WORKLOADS,
            foreign_wake::WORKLOADS,
            event_round_trip::WORKLOADS,
            event_pair_local::WORKLOADS,
            mutex::WORKLOADS,
        ],
    },
    Section {
        title: "Memory, idling, starting",
        lists: &[idle_memory::WORKLOADS, idle_cpu::WORKLOADS, startup_shutdown::WORKLOADS],
    },
    Section { title: "Timers", lists: &[timers::WORKLOADS, block_on::WORKLOADS] },
    Section { title: "I/O", lists: &[echo::WORKLOADS] },
    Section {
        title: "Fork-join",
        lists: &[fork::WORKLOADS, fork::PAR, fork::KERNELS, fork::OUTSIDE, fork::LEAVES],
    },
    Section {
        title: "I/O beside computing, and beside blocked workers",
        lists: &[fork::MIXED, stall::WORKLOADS],
    },
    Section { title: "Requests", lists: requests::LISTS },
    Section { title: "Requests that do work", lists: &[requests::WORK] },
    Section { title: "Open loop", lists: &[requests::OPEN] },
    Section {
        title: "Crowding",
        lists: &[
            crowd::ECHO,
            crowd::ECHO_1,
            crowd::ECHO_2,
            crowd::ECHO_QUOTA,
            crowd::HTTP,
            crowd::HTTP_1,
            crowd::HTTP_2,
            crowd::HTTP_QUOTA,
        ],
    },
    Section { title: "Growth", lists: &[growth::WORKLOADS] },
    Section { title: "What observing costs", lists: &[observed::WORKLOADS] },
];

/// The heat tables of the report, in their order.
pub(crate) fn heats() -> &'static [Heat] {
    static HEATS: OnceLock<Vec<Heat>> = OnceLock::new();
    HEATS.get_or_init(|| crowd::heats().into_iter().chain(requests::heats()).collect())
}

pub(crate) fn all() -> impl Iterator<Item = &'static Workload> {
    SECTIONS.iter().flat_map(Section::workloads)
}

/// Runs a workload on one peer.
pub(crate) type Run = fn(&Budget) -> Metrics;

pub(crate) struct Workload {
    /// As written on the command line and in results.
    pub(crate) name: &'static str,
    /// One line: what one operation is.
    pub(crate) about: &'static str,
    /// The peer that the others are compared with.
    pub(crate) base: &'static str,
    pub(crate) rows: &'static [Row],
    pub(crate) peers: &'static [(&'static str, Run)],
}

/// What a quick run leaves out unless it is asked for by name: it takes long, or says little more than its
/// neighbours.
const LONG: &[&str] = &[
    "ping_pong_main",
    "ping_pong_64",
    "foreign_wake_paced",
    "mutex",
    "echo_idle_9000",
    "mixed_sort",
    "mixed_leaves",
    "fork_tree_22",
    "fork_quicksort",
    "fork_par_collect",
    "fork_par_for_each",
    "grow_tasks_1k",
    "grow_tasks_10k",
    "grow_timers_1k",
    "grow_timers_10k",
    "grow_conns_100",
    "grow_threads_3",
];

/// Families that are left out, but for some members.
const LONG_FAMILIES: &[&str] =
    &["crowd_", "work_", "open_", "requests_", "kernel_", "leaves_", "block_on_"];
const MEMBERS_SHOWN: &[&str] = &[
    "crowd_echo_none_2x64",
    "crowd_echo_1_1x64",
    "work_fan_20x16",
    "open_echo_50",
    "requests_churn_8",
    "kernel_life",
];

impl Workload {
    pub(crate) fn takes_long(&self) -> bool {
        let family = LONG_FAMILIES.iter().any(|family| self.name.starts_with(family));
        LONG.contains(&self.name) || (family && !MEMBERS_SHOWN.contains(&self.name))
    }

    pub(crate) fn run_of(&self, peer: &str) -> Option<Run> {
        self.peers.iter().find(|(name, _)| *name == peer).map(|(_, run)| *run)
    }

    /// The names of its peers that are wanted; an empty list wants all.
    pub(crate) fn peers_among(&self, wanted: &[String]) -> impl Iterator<Item = &'static str> {
        let names = self.peers.iter().map(|(name, _)| *name);
        names.filter(|name| wanted.is_empty() || wanted.iter().any(|other| other == name))
    }
}

/// One line of the report: a metric of the workload and what we want of it.
pub(crate) struct Row {
    pub(crate) metric: &'static str,
    pub(crate) unit: &'static str,
    /// The metric is divided by this to get to the unit.
    pub(crate) scale: f64,
    pub(crate) better: Better,
    pub(crate) aim: Option<Aim>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Better {
    Less,
    More,
}

/// What windlass shall reach, at most or at least as the row's `better` says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    /// Of the base peer's figure in the same round.
    Ratio(f64),
    /// In the row's unit.
    Value(f64),
}

impl Row {
    /// A cost: less is better.
    pub(crate) const fn cost(metric: &'static str, unit: &'static str) -> Row {
        Row { metric, unit, scale: 1.0, better: Better::Less, aim: None }
    }

    /// A rate, or something else of which more is better.
    pub(crate) const fn gain(metric: &'static str, unit: &'static str) -> Row {
        Row { better: Better::More, ..Row::cost(metric, unit) }
    }

    /// What `measure::passes` returns, in nanoseconds per operation.
    pub(crate) const fn time(unit: &'static str) -> Row {
        Row::cost("ns_per_op", unit)
    }

    pub(crate) const fn scaled(self, scale: f64) -> Row {
        Row { scale, ..self }
    }

    pub(crate) const fn aim(self, aim: Aim) -> Row {
        Row { aim: Some(aim), ..self }
    }
}

/// The peers of a workload from a function generic over them: `peers![run: Tokio, Smol]`, or with
/// constants that follow the peer, `peers![run, 64: Tokio, Smol]`.
macro_rules! peers {
    ($run:ident : $($peer:ident),+ $(,)?) => {
        &[$((
            <$crate::peers::$peer as $crate::peers::Peer>::NAME,
            $run::<$crate::peers::$peer>,
        )),+]
    };
    ($run:ident, $constant:literal : $($peer:ident),+ $(,)?) => {
        &[$((
            <$crate::peers::$peer as $crate::peers::Peer>::NAME,
            $run::<$crate::peers::$peer, $constant>,
        )),+]
    };
}
use peers;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_base_is_among_the_peers() {
        let mut names: Vec<&str> = all().map(|workload| workload.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for workload in all() {
            assert!(workload.run_of(workload.base).is_some(), "{}", workload.name);
        }
        for name in LONG.iter().chain(MEMBERS_SHOWN) {
            assert!(all().any(|workload| workload.name == *name), "{name}");
        }
    }
}
