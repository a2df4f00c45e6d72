//! The main thread spawns 100k tasks that do nothing and waits for them all: onto workers that
//! sleep, and onto workers kept busy by tasks that yield for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::{Peer, WORKERS};

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "spawn_outside_idle",
        about: "an outside thread spawns 100k no-op tasks onto idle workers and awaits them; per task",
        base: "tokio",
        rows: &[Row::time("ns/task").aim(Aim::Ratio(0.50))],
        peers: peers![idle: Tokio, Smol, Windlass],
    },
    Workload {
        name: "spawn_outside_busy",
        about: "the same while 2 tasks per worker yield for ever; per task",
        base: "tokio",
        rows: &[Row::time("ns/task").aim(Aim::Ratio(0.60))],
        peers: peers![busy: Tokio, Smol, Windlass],
    },
];

const TASKS: usize = 100_000;

/// Long enough for every worker to have gone to sleep.
const PAUSE: Duration = Duration::from_millis(2);

fn idle<P: Peer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        std::thread::sleep(PAUSE);
        spawn_all(&peer)
    })
}

fn busy<P: Peer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    let stop = Arc::new(AtomicBool::new(false));
    let yielders: Vec<_> = (0..2 * WORKERS)
        .map(|_| {
            let stop = Arc::clone(&stop);
            peer.spawn_from_outside(async move {
                while !stop.load(Ordering::Relaxed) {
                    P::yield_now().await;
                }
            })
        })
        .collect();
    let metrics = passes(budget, || spawn_all(&peer));
    stop.store(true, Ordering::Relaxed);
    peer.block_on(async {
        for yielder in yielders {
            yielder.await;
        }
    });
    metrics
}

fn spawn_all<P: Peer>(peer: &P) -> Pass {
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
}
