//! Spawning from outside onto workers whose polls are long: 10 µs of computing, and a call that gives the CPU
//! away, before they yield.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::{Peer, WORKERS};
use crate::support::Compute;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "spawn_long_polls",
    about: "spawn from outside while 2 tasks per worker compute 10 µs a poll and yield; per task",
    base: "tokio",
    rows: &[Row::time("ns/task").aim(Aim::Ratio(0.60))],
    peers: peers![run: Tokio, Smol, Windlass],
}];

const TASKS: usize = 10_000;
const POLL: Duration = Duration::from_micros(10);

fn run<P: Peer>(budget: &Budget) -> Metrics {
    let compute = Compute::lasting(POLL);
    let peer = P::start();
    let stop = Arc::new(AtomicBool::new(false));
    let busy: Vec<_> = (0..2 * WORKERS)
        .map(|_| {
            let stop = Arc::clone(&stop);
            peer.spawn_from_outside(async move {
                while !stop.load(Ordering::Relaxed) {
                    compute.run();
                    thread::yield_now();
                    P::yield_now().await;
                }
            })
        })
        .collect();
    let metrics = passes(budget, || {
        let mut handles = Vec::with_capacity(TASKS);
        let began = Instant::now();
        for _ in 0..TASKS {
            handles.push(peer.spawn_from_outside(async {}));
        }
        peer.block_on(async {
            for handle in handles {
                handle.await;
            }
        });
        Pass::new(TASKS, began.elapsed())
    });
    stop.store(true, Ordering::Relaxed);
    peer.block_on(async {
        for task in busy {
            task.await;
        }
    });
    metrics
}
