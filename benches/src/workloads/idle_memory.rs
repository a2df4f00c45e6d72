//! The heap that 100k waiting tasks hold, counted by the allocator.
//!
//! Each future holds three words and a counter's handle and is never ready. The tasks are detached
//! and spawned in batches that are polled before the next, so that no queue grows and what is
//! counted is the tasks and the runtime's book-keeping of them.
//!
//! The heap figure is what was asked of the allocator. What a strict alignment makes the allocator
//! waste shows only in the resident figure, which 100k tasks make steady enough to compare.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Aim, Row, Workload, peers};
use crate::alloc;
use crate::measure::{Budget, Metrics};
use crate::peers::Peer;
use crate::usage;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "idle_memory",
    about: "100k tasks that wait for ever, holding 4 words each; heap and resident bytes per task",
    base: "tokio",
    rows: &[
        Row::cost("heap_bytes", "B/task").aim(Aim::Ratio(0.40)),
        Row::cost("resident_bytes", "B/task resident").aim(Aim::Ratio(0.40)),
    ],
    peers: peers![run: Tokio, CurrentThread, Smol, Windlass],
}];

const TASKS: usize = 100_000;
const BATCH: usize = 100;

fn run<P: Peer>(_: &Budget) -> Metrics {
    alloc::start_counting();
    let peer = P::start();
    let waiting = Arc::new(AtomicUsize::new(0));
    // One batch first, because the runtime sets some things up once.
    peer.run_task(fill::<P>(Arc::clone(&waiting), BATCH));

    let (heap, resident) = (alloc::live(), usage::resident_bytes());
    peer.run_task(fill::<P>(Arc::clone(&waiting), BATCH + TASKS));
    let (heap_now, resident_now) = (alloc::live(), usage::resident_bytes());

    let per_task = |total: i64| total as f64 / TASKS as f64;
    Metrics::new()
        .with("heap_bytes", per_task(heap_now.bytes - heap.bytes))
        .with("heap_blocks", per_task(heap_now.blocks - heap.blocks))
        .with("resident_bytes", per_task(resident_now as i64 - resident as i64))
}

/// Spawns tasks that wait for ever until there are `count` of them.
async fn fill<P: Peer>(waiting: Arc<AtomicUsize>, count: usize) {
    let mut spawned = waiting.load(Ordering::Relaxed);
    while spawned < count {
        for _ in 0..BATCH {
            P::detach(wait_for_ever([spawned; 3], Arc::clone(&waiting)));
            spawned += 1;
        }
        while waiting.load(Ordering::Relaxed) < spawned {
            P::yield_now().await;
        }
    }
}

async fn wait_for_ever(held: [usize; 3], waiting: Arc<AtomicUsize>) {
    waiting.fetch_add(1, Ordering::Relaxed);
    std::future::pending::<()>().await;
    // Both are used after the wait, so the future has to keep them.
    waiting.fetch_sub(held[0] + held[1] + held[2], Ordering::Relaxed);
}
