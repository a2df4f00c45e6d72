//! What a runtime costs that has nothing to do, after it had something to do.

use std::time::Duration;

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics};
use crate::peers::Peer;
use crate::usage::OtherThreads;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "idle_cpu",
    about: "a runtime idle for up to 2 s after use; wake-ups and CPU time of its threads",
    base: "tokio",
    rows: &[
        Row::cost("wake_ups", "wake-ups/s").aim(Aim::Value(0.0)),
        Row::cost("cpu_us", "µs CPU/s").aim(Aim::Value(0.0)),
    ],
    peers: peers![run: Tokio, Smol, Windlass],
}];

const TASKS: usize = 1_000;
/// For the workers to find that there is no more work, and to sleep.
const SETTLE: Duration = Duration::from_millis(100);

fn run<P: Peer>(budget: &Budget) -> Metrics {
    let watched = (5 * budget.time).min(Duration::from_secs(2));
    let peer = P::start();
    peer.run_task(async {
        let mut handles = Vec::with_capacity(TASKS);
        for _ in 0..TASKS {
            handles.push(P::spawn(async { P::yield_now().await }));
        }
        for handle in handles {
            handle.await;
        }
    });
    std::thread::sleep(SETTLE);

    let before = OtherThreads::now();
    std::thread::sleep(watched);
    let after = OtherThreads::now();
    let switches = |used: &OtherThreads| used.voluntary_switches + used.involuntary_switches;
    let per_second = |total: u64| total as f64 / watched.as_secs_f64();
    Metrics::new()
        .with("wake_ups", per_second(switches(&after).saturating_sub(switches(&before))))
        .with("cpu_us", per_second(after.cpu_ns.saturating_sub(before.cpu_ns)) / 1e3)
        .with("threads", after.threads as f64)
}
