//! What connections cost on which nothing happens: CPU time, wake-ups and memory of the server.
//!
//! Every connection has echoed one message, so that its task waits for the next. The kernel's
//! memory for a socket is the same for all and not counted.

use std::thread;
use std::time::Duration;

use super::server::Server;
use super::{Compio, CurrentThread, Epoll, Smol, Tasks, Tokio, Windlass, servers};
use crate::alloc;
use crate::load::{Job, Load};
use crate::measure::{Budget, Metrics};
use crate::service::Echo;
use crate::usage::{OtherThreads, resident_bytes};
use crate::workloads::{Aim, Row, Workload};

pub(super) const SOME: Workload = Workload {
    name: "echo_idle_1000",
    about: "1,000 connections idle for some seconds; CPU, context switches and memory of the server",
    base: "tokio",
    rows: ROWS,
    peers: servers!(run, 1000),
};

pub(super) const MANY: Workload = Workload {
    name: "echo_idle_9000",
    about: "the same with 9,000 connections",
    base: "tokio",
    rows: ROWS,
    peers: servers!(run, 9000),
};

const ROWS: &[Row] = &[
    Row::cost("cpu_us", "µs CPU/s").aim(Aim::Ratio(1.0)),
    Row::cost("wake_ups", "wake-ups/s"),
    Row::cost("heap_bytes", "B/connection"),
    Row::cost("resident_bytes", "B/connection resident"),
];

/// Before what is counted, for what the runtime sets up once.
const FIRST: usize = 24;
/// For every thread to find that there is no more work, and to sleep.
const SETTLE: Duration = Duration::from_millis(100);

fn run<S: Server, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    alloc::start_counting();
    let server = S::start::<Echo>(None);
    let watched = (5 * budget.time).min(Duration::from_secs(10));
    let job = Job::Hold {
        server: std::process::id(),
        address: server.address(),
        first: FIRST,
        rest: CONNECTIONS,
        time: watched + 2 * SETTLE,
    };
    server.beside(|| {
        let mut load = Load::start(&job);
        load.hear();
        thread::sleep(SETTLE);
        let (heap, resident) = (alloc::live(), resident_bytes());
        load.tell("go on");
        load.hear();
        thread::sleep(SETTLE);
        let (heap_now, resident_now) = (alloc::live(), resident_bytes());

        let before = OtherThreads::now();
        thread::sleep(watched);
        let after = OtherThreads::now();
        load.finish();

        let each = |total: i64| total as f64 / CONNECTIONS as f64;
        let per_second = |total: u64| total as f64 / watched.as_secs_f64();
        let switches = |used: &OtherThreads| used.voluntary_switches + used.involuntary_switches;
        Metrics::new()
            .with("cpu_us", per_second(after.cpu_ns.saturating_sub(before.cpu_ns)) / 1e3)
            .with("wake_ups", per_second(switches(&after).saturating_sub(switches(&before))))
            .with("heap_bytes", each(heap_now.bytes - heap.bytes))
            .with("heap_blocks", each(heap_now.blocks - heap.blocks))
            .with("resident_bytes", each(resident_now as i64 - resident as i64))
            .with("threads", after.threads as f64)
    })
}
