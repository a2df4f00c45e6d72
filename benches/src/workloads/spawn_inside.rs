//! A task spawns 100k tasks that do nothing, keeps their handles, and awaits them all.

use std::time::Instant;

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::Peer;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "spawn_inside",
    about: "a task spawns 100k no-op tasks and awaits every handle; per task",
    base: "tokio",
    rows: &[Row::time("ns/task").aim(Aim::Ratio(0.30))],
    peers: peers![run: Tokio, CurrentThread, Smol, Windlass],
}];

const TASKS: usize = 100_000;

pub(super) fn run<P: Peer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let mut handles = Vec::with_capacity(TASKS);
            let began = Instant::now();
            for _ in 0..TASKS {
                handles.push(P::spawn(async {}));
            }
            for handle in handles {
                handle.await;
            }
            began.elapsed()
        });
        Pass::new(TASKS, elapsed)
    })
}
