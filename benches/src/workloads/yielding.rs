//! Tasks that do nothing but yield: two per worker, and a thousand.

use std::time::Instant;

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::Peer;

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "yield_4",
        about: "2 tasks per worker that do nothing but yield; per yield",
        base: "tokio",
        rows: &[Row::time("ns/yield").aim(Aim::Ratio(0.65))],
        peers: peers![run, 4: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "yield_1000",
        about: "1,000 tasks that do nothing but yield; per yield",
        base: "tokio",
        rows: &[Row::time("ns/yield").aim(Aim::Ratio(0.65))],
        peers: peers![run, 1_000: Tokio, CurrentThread, Smol, Windlass],
    },
];

/// Yields in one pass, divided among the tasks.
const YIELDS: usize = 200_000;

pub(super) fn run<P: Peer, const TASKS: usize>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || yields(&peer, TASKS, YIELDS / TASKS))
}

/// This many tasks, each of which yields this many times.
pub(super) fn yields<P: Peer>(peer: &P, tasks: usize, each: usize) -> Pass {
    let elapsed = peer.run_task(async move {
        let began = Instant::now();
        let mut handles = Vec::with_capacity(tasks);
        for _ in 0..tasks {
            handles.push(P::spawn(async move {
                for _ in 0..each {
                    P::yield_now().await;
                }
            }));
        }
        for handle in handles {
            handle.await;
        }
        began.elapsed()
    });
    Pass::new(tasks * each, elapsed)
}
