//! Timers: how late, at what cost of CPU and memory; and time-outs, which nearly never run out.
//!
//! - `sleeps_100k`: 100,000 tasks sleep once, for a time between 1 ms and 1 s each. Lateness is counted from
//!   the time at which the sleep was asked for.
//! - `sleep_memory`: the heap that 100,000 sleeping tasks hold, as `idle_memory` counts it.
//! - `timeout_ready`, `timeout_cancel`: a time-out around a future that is ready at once, and one that is
//!   armed and then dropped.
//! - `nap`: one task that sleeps for 100 µs, again and again, while nothing else happens.

use std::future::{pending, poll_fn, ready};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use super::{Aim, Row, Workload, peers};
use crate::alloc;
use crate::measure::{Budget, Metrics, Pass, passes, percentiles};
use crate::peers::TimePeer;
use crate::usage::Usage;

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "sleeps_100k",
        about: "100k tasks that sleep 1 ms to 1 s, once each; lateness, and CPU time per sleep",
        base: "tokio",
        rows: &[
            Row::cost("p50_ns", "µs late, p50").scaled(1e3).aim(Aim::Ratio(0.2)),
            Row::cost("p99_ns", "µs late, p99").scaled(1e3).aim(Aim::Ratio(0.8)),
            Row::cost("cpu_ns_per_op", "CPU ns/sleep").aim(Aim::Ratio(1.1)),
        ],
        peers: peers![sleeps: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "sleep_memory",
        about: "100k tasks that sleep for an hour; heap bytes per task",
        base: "tokio",
        rows: &[Row::cost("heap_bytes", "B/sleep").aim(Aim::Ratio(0.5))],
        peers: peers![memory: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "timeout_ready",
        about: "a time-out of a minute around a future that is ready; per time-out",
        base: "tokio",
        rows: &[Row::time("ns").aim(Aim::Ratio(0.15))],
        peers: peers![timeout_ready: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "timeout_cancel",
        about: "a time-out of a minute around a future that is pending, polled once and dropped",
        base: "tokio",
        rows: &[Row::time("ns").aim(Aim::Ratio(0.3))],
        peers: peers![timeout_cancel: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "nap",
        about: "one task that sleeps for 100 µs again and again; lateness, and CPU time per nap",
        base: "tokio",
        rows: &[
            Row::cost("p50_ns", "µs late, p50").scaled(1e3).aim(Aim::Value(80.0)),
            Row::cost("cpu_ns_per_op", "CPU ns/nap"),
        ],
        peers: peers![nap: Tokio, CurrentThread, Smol, Windlass],
    },
];

const TASKS: usize = 100_000;
const BATCH: usize = 100;
const TIMEOUTS: usize = 10_000;
const MINUTE: Duration = Duration::from_secs(60);
const NAP: Duration = Duration::from_micros(100);

fn sleeps<P: TimePeer>(_: &Budget) -> Metrics {
    let peer = P::start();
    // A small run first, because the runtime sets some things up once.
    peer.run_task(crowd::<P>(1_000, Duration::from_millis(100)));
    let before = Usage::now();
    let late = peer.run_task(crowd::<P>(TASKS, Duration::from_secs(1)));
    let cpu = Usage::now().cpu() - before.cpu();
    percentiles(&late).with("cpu_ns_per_op", cpu.as_nanos() as f64 / TASKS as f64)
}

/// Returns how late each of this many sleeps was, which take from a millisecond to `longest`.
async fn crowd<P: TimePeer>(count: usize, longest: Duration) -> Vec<u64> {
    let beyond = longest.as_micros() as u64 - 1_000;
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut tasks = Vec::with_capacity(count);
    for _ in 0..count {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let time = Duration::from_micros(1_000 + random % beyond);
        tasks.push(P::spawn(late::<P>(time)));
    }
    let mut all = Vec::with_capacity(count);
    for task in tasks {
        all.push(task.await);
    }
    all
}

pub(super) async fn late<P: TimePeer>(time: Duration) -> u64 {
    let began = Instant::now();
    P::sleep(time).await;
    let late = began.elapsed().checked_sub(time).expect("a timer was early");
    late.as_nanos() as u64
}

fn memory<P: TimePeer>(_: &Budget) -> Metrics {
    alloc::start_counting();
    let peer = P::start();
    let sleeping = Arc::new(AtomicUsize::new(0));
    peer.run_task(fill::<P>(Arc::clone(&sleeping), BATCH));
    let before = alloc::live().bytes;
    peer.run_task(fill::<P>(Arc::clone(&sleeping), BATCH + TASKS));
    let bytes = alloc::live().bytes - before;
    Metrics::new().with("heap_bytes", bytes as f64 / TASKS as f64)
}

/// Spawns tasks that sleep for an hour until there are `count` of them.
pub(super) async fn fill<P: TimePeer>(sleeping: Arc<AtomicUsize>, count: usize) {
    let mut spawned = sleeping.load(Ordering::Relaxed);
    while spawned < count {
        for _ in 0..BATCH {
            let sleeping = Arc::clone(&sleeping);
            P::detach(async move {
                let mut sleep = pin!(P::sleep(MINUTE * 60));
                let mut counted = false;
                poll_fn(|cx| {
                    let polled = sleep.as_mut().poll(cx);
                    if !std::mem::replace(&mut counted, true) {
                        sleeping.fetch_add(1, Ordering::Relaxed);
                    }
                    polled
                })
                .await;
            });
            spawned += 1;
        }
        while sleeping.load(Ordering::Relaxed) < spawned {
            P::yield_now().await;
        }
    }
}

fn timeout_ready<P: TimePeer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let began = Instant::now();
            for number in 0..TIMEOUTS {
                let output = P::timeout(MINUTE, ready(black_box(number))).await;
                assert_eq!(output, Some(number));
            }
            began.elapsed()
        });
        Pass::new(TIMEOUTS, elapsed)
    })
}

fn timeout_cancel<P: TimePeer>(budget: &Budget) -> Metrics {
    arm_and_cancel(&P::start(), budget)
}

pub(super) fn arm_and_cancel<P: TimePeer>(peer: &P, budget: &Budget) -> Metrics {
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let began = Instant::now();
            for _ in 0..TIMEOUTS {
                let mut timeout = pin!(P::timeout(MINUTE, pending::<()>()));
                poll_fn(|cx| {
                    assert!(timeout.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            began.elapsed()
        });
        Pass::new(TIMEOUTS, elapsed)
    })
}

fn nap<P: TimePeer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    let time = budget.time;
    let (late, cpu) = peer.run_task(async move {
        for _ in 0..100 {
            late::<P>(NAP).await;
        }
        let (began, before) = (Instant::now(), Usage::now());
        let mut all = Vec::new();
        while began.elapsed() < time {
            all.push(late::<P>(NAP).await);
        }
        (all, Usage::now().cpu() - before.cpu())
    });
    percentiles(&late).with("cpu_ns_per_op", cpu.as_nanos() as f64 / late.len() as f64)
}
