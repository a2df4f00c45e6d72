//! A task spawns a thousand tasks and awaits them all, again and again.
//!
//! The batch is small enough for the workers to run dry after each, so that going to sleep and
//! being woken count, which `spawn_inside` hides.

use std::time::Instant;

use super::{Row, Workload, peers};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::Peer;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "fan_out",
    about: "a task spawns 1,000 no-op tasks and awaits every handle, over and over; per task",
    base: "tokio",
    rows: &[Row::time("ns/task")],
    peers: peers![run: Tokio, CurrentThread, Smol, Windlass],
}];

const TASKS: usize = 1_000;
const BATCHES: usize = 20;

fn run<P: Peer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let mut handles = Vec::with_capacity(TASKS);
            let began = Instant::now();
            for _ in 0..BATCHES {
                for _ in 0..TASKS {
                    handles.push(P::spawn(async {}));
                }
                for handle in handles.drain(..) {
                    handle.await;
                }
            }
            began.elapsed()
        });
        Pass::new(TASKS * BATCHES, elapsed)
    })
}
