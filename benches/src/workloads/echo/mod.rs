//! Echo over loopback TCP: 64-byte messages back and forth, the load in a process of its own; and
//! HTTP/1.1 the same way.
//!
//! The server is the same program under every peer: a task that accepts, and a task per connection
//! that reads into a buffer of 1 KiB and writes what the service answers. The single-threaded raw
//! epoll loop is the limit: the same system calls with nothing around them.

mod compio;
mod epoll;
mod hog;
mod idle;
mod server;

use std::sync::Arc;
use std::time::Instant;

use super::{Aim, Row, Workload};
use crate::load::{Ask, Job, Loads};
use crate::measure::{Budget, Metrics};
use crate::peers::{CurrentThread, Smol, Tokio, Windlass};
use crate::service::{Echo, Http, Kind, Service};
use crate::support::sys;
use compio::Compio;
use epoll::Epoll;
use hog::Hog;
pub(super) use server::{Server, Tasks};

/// A function for each kind of server, with constants that follow it.
macro_rules! servers {
    ($run:ident $(, $constant:literal)*) => {
        &[
            (Tasks::<Tokio>::NAME, $run::<Tasks<Tokio> $(, $constant)*>),
            (Tasks::<CurrentThread>::NAME, $run::<Tasks<CurrentThread> $(, $constant)*>),
            (Tasks::<Smol>::NAME, $run::<Tasks<Smol> $(, $constant)*>),
            (Compio::NAME, $run::<Compio $(, $constant)*>),
            (Epoll::NAME, $run::<Epoll $(, $constant)*>),
            (Tasks::<Windlass>::NAME, $run::<Tasks<Windlass> $(, $constant)*>),
        ]
    };
}
use servers;

pub(super) const RATE: Row = Row::gain("messages_per_s", "kmsg/s").scaled(1e3);
pub(super) const P50: Row = Row::cost("p50_ns", "µs p50").scaled(1e3);
pub(super) const P99: Row = Row::cost("p99_ns", "µs p99").scaled(1e3);
pub(super) const P999: Row = Row::cost("p999_ns", "µs p99.9").scaled(1e3);
/// User and system time of all threads of the server.
pub(super) const CPU: Row = Row::cost("cpu_ns_per_message", "µs server CPU/msg").scaled(1e3);

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "echo_1",
        about: "64-byte ping-pong on 1 connection, the load in another process",
        base: "tokio",
        rows: &[RATE.aim(Aim::Ratio(2.5)), P50, P99, P999, CPU.aim(Aim::Ratio(1.0))],
        peers: servers!(plain, 1),
    },
    Workload {
        name: "echo_64",
        about: "the same on 64 connections at once",
        base: "tokio",
        rows: &[
            RATE.aim(Aim::Ratio(1.15)),
            P50,
            P99.aim(Aim::Ratio(1.0)),
            P999,
            CPU.aim(Aim::Ratio(1.0)),
        ],
        peers: servers!(plain, 64),
    },
    Workload {
        name: "echo_1024",
        about: "the same on 1,024 connections at once",
        base: "tokio",
        rows: &[
            RATE.aim(Aim::Ratio(1.0)),
            P50,
            P99.aim(Aim::Ratio(0.7)),
            P999,
            CPU.aim(Aim::Ratio(1.0)),
        ],
        peers: servers!(plain, 1024),
    },
    Workload {
        name: "echo_8_hog",
        about: "8 connections beside a task of the server that burns 2 ms of CPU between yields",
        base: "tokio",
        rows: &[
            RATE.aim(Aim::Ratio(1.0)),
            P50,
            P99.aim(Aim::Ratio(1.1)),
            P999,
            Row::gain("hog_ms_per_s", "ms/s for the hog"),
        ],
        peers: servers!(beside_a_hog, 8),
    },
    Workload {
        name: "echo_1_one_cpu",
        about: "1 connection, server and load pinned to the same CPU",
        base: "tokio",
        rows: &[RATE.aim(Aim::Ratio(0.95)), P50, P99, P999, CPU.aim(Aim::Ratio(1.0))],
        peers: servers!(on_one_cpu, 1),
    },
    Workload {
        name: "http_64",
        about: "HTTP/1.1 on 64 connections kept alive, one request in flight on each",
        base: "tokio",
        rows: &[
            Row::gain("messages_per_s", "kreq/s").scaled(1e3).aim(Aim::Ratio(1.0)),
            P50,
            P99,
            P999,
            Row::cost("cpu_ns_per_message", "µs server CPU/req").scaled(1e3),
        ],
        peers: servers!(http, 64),
    },
    idle::SOME,
    idle::MANY,
];

/// A window has to be longer than the usual, for its p99.9 to stand on more than a few messages.
const LONGER: f64 = 2.5;

pub(super) fn plain<S: Server, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    serve::<S, Echo>(budget, CONNECTIONS)
}

fn http<S: Server, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    serve::<S, Http>(budget, CONNECTIONS)
}

fn serve<S: Server, K: Service>(budget: &Budget, connections: usize) -> Metrics {
    let server = S::start::<K>(None);
    let job = job(&server, K::KIND, connections, budget);
    server.beside(|| Loads::one(&job).figures())
}

fn on_one_cpu<S: Server, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    // Whatever is started from here inherits it: the threads of the server, and the load.
    sys::pin_to_one_cpu().expect("a process may narrow its own CPUs");
    plain::<S, CONNECTIONS>(budget)
}

fn beside_a_hog<S: Server, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    let hog = Arc::new(Hog::new());
    let server = S::start::<Echo>(Some(Arc::clone(&hog)));
    let job = job(&server, Kind::Echo, CONNECTIONS, budget);
    let (metrics, burnt) = server.beside(|| {
        let (began, before) = (Instant::now(), hog.burnt());
        let metrics = Loads::one(&job).figures();
        let burnt = hog.burnt().saturating_sub(before);
        hog.stop();
        (metrics, burnt.as_secs_f64() / began.elapsed().as_secs_f64())
    });
    metrics.with("hog_ms_per_s", 1e3 * burnt)
}

fn job(server: &impl Server, service: Kind, connections: usize, budget: &Budget) -> Job {
    let time = budget.time.mul_f64(LONGER);
    Job::Ask(Ask::closed(server.address(), service, connections, budget.warm_up, time))
}
