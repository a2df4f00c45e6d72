//! A lock that all requests take, and hold while they compute for 2 µs.

use std::sync::Arc;
use std::time::Duration;

use super::served::{Served, answer};
use crate::measure::{Budget, Metrics};
use crate::peers::{NetPeer, Tokio, Windlass};
use crate::service::Kind;
use crate::support::Compute;
use crate::workloads::echo::{CPU, P99, RATE};
use crate::workloads::mutex::{Lock, TokioMutex, WindlassMutex};
use crate::workloads::{Aim, Row, Workload};

const ROWS: &[Row] = &[RATE.aim(Aim::Ratio(1.0)), P99.aim(Aim::Ratio(1.0)), CPU];

const HELD: Duration = Duration::from_micros(2);

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "requests_lock_16",
        about: "16 connections whose requests all take one lock and hold it for 2 µs of computing",
        base: "tokio",
        rows: ROWS,
        peers: &[
            ("tokio", |budget| run::<Tokio, TokioMutex>(budget, 16)),
            ("windlass", |budget| run::<Windlass, WindlassMutex>(budget, 16)),
        ],
    },
    Workload {
        name: "requests_lock_64",
        about: "the same on 64 connections",
        base: "tokio",
        rows: ROWS,
        peers: &[
            ("tokio", |budget| run::<Tokio, TokioMutex>(budget, 64)),
            ("windlass", |budget| run::<Windlass, WindlassMutex>(budget, 64)),
        ],
    },
];

fn run<P: NetPeer, L: Lock>(budget: &Budget, connections: usize) -> Metrics {
    let compute = Compute::lasting(HELD);
    let lock = Arc::new(L::default());
    let served = Served::<P>::start(move |stream| {
        let lock = Arc::clone(&lock);
        answer::<P, _, _>(stream, move || {
            let lock = Arc::clone(&lock);
            async move {
                let mut count = lock.lock().await;
                compute.run();
                *count += 1;
            }
        })
    });
    served.asked(budget, Kind::Echo, connections)
}
