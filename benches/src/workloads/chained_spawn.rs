//! A task spawns the next and ends, 100k deep; the last one says that it is done.

use std::sync::Arc;
use std::time::Instant;

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::Peer;
use crate::support::Slot;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "chained_spawn",
    about: "a task spawns the next and ends, 100k deep; per task",
    base: "tokio",
    rows: &[Row::time("ns/task").aim(Aim::Ratio(0.30))],
    peers: peers![run: Tokio, CurrentThread, Smol, Windlass],
}];

const DEPTH: usize = 100_000;

fn run<P: Peer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let done = Arc::new(Slot::new());
            let began = Instant::now();
            link::<P>(DEPTH, Arc::clone(&done));
            done.take().await;
            began.elapsed()
        });
        Pass::new(DEPTH, elapsed)
    })
}

fn link<P: Peer>(left: usize, done: Arc<Slot<()>>) {
    if left == 0 {
        done.put(());
    } else {
        P::detach(async move { link::<P>(left - 1, done) });
    }
}
