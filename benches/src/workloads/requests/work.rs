//! Requests that compute for 0 to 1,000 µs, in place, or fanned out over eight spawned tasks under a time-out.

use std::time::Duration;

use super::served::{Served, answer};
use crate::measure::{Budget, Metrics};
use crate::peers::{NetPeer, TimePeer, Tokio, Windlass};
use crate::report::growth::grouped;
use crate::report::heat::Heat;
use crate::service::Kind;
use crate::support::Compute;
use crate::workloads::echo::{CPU, P99, RATE};
use crate::workloads::{self, Aim, Row, Workload};

const ROWS: &[Row] = &[RATE.aim(Aim::Ratio(1.0)), P99.aim(Aim::Ratio(1.0)), CPU];

const MICROS: [u64; 5] = [0, 5, 20, 100, 1000];
const CONNECTIONS: [usize; 2] = [16, 64];

/// Tasks that a request is fanned out over.
const TASKS: u64 = 8;

/// Never runs out.
const TIMEOUT: Duration = Duration::from_secs(30);

macro_rules! cells {
    ($($run:ident $way:literal $micros:literal x $connections:literal),+ $(,)?) => {
        &[$(Workload {
            name: concat!("work_", $way, "_", $micros, "x", $connections),
            about: concat!(
                "requests on ", $connections, " connections that compute for ", $micros, " µs, ", $way,
            ),
            base: "tokio",
            rows: ROWS,
            peers: &[
                ("tokio", |budget| $run::<Tokio>(budget, $micros, $connections)),
                ("windlass", |budget| $run::<Windlass>(budget, $micros, $connections)),
            ],
        }),+]
    };
}

pub(in crate::workloads) const WORKLOADS: &[Workload] = cells![
    place "place" 0 x 16, place "place" 0 x 64,
    place "place" 5 x 16, place "place" 5 x 64,
    place "place" 20 x 16, place "place" 20 x 64,
    place "place" 100 x 16, place "place" 100 x 64,
    place "place" 1000 x 16, place "place" 1000 x 64,
    fan "fan" 0 x 16, fan "fan" 0 x 64,
    fan "fan" 5 x 16, fan "fan" 5 x 64,
    fan "fan" 20 x 16, fan "fan" 20 x 64,
    fan "fan" 100 x 16, fan "fan" 100 x 64,
    fan "fan" 1000 x 16, fan "fan" 1000 x 64,
];

/// Kept out of the cells, which are many.
#[inline(never)]
fn place<P: NetPeer>(budget: &Budget, micros: u64, connections: usize) -> Metrics {
    let compute = Compute::lasting(Duration::from_micros(micros));
    let served = Served::<P>::start(move |stream| {
        answer::<P, _, _>(stream, move || async move { compute.run() })
    });
    served.asked(budget, Kind::Echo, connections)
}

#[inline(never)]
fn fan<P: NetPeer + TimePeer>(budget: &Budget, micros: u64, connections: usize) -> Metrics {
    let part = Compute::lasting(Duration::from_micros(micros)).part(TASKS);
    let served = Served::<P>::start(move |stream| {
        answer::<P, _, _>(stream, move || async move {
            let done = P::timeout(TIMEOUT, fanned_out::<P>(part)).await;
            done.expect("so long nothing takes");
        })
    });
    served.asked(budget, Kind::Echo, connections)
}

async fn fanned_out<P: NetPeer>(part: Compute) {
    let mut tasks = Vec::with_capacity(TASKS as usize);
    for _ in 0..TASKS {
        tasks.push(P::spawn(async move { part.run() }));
    }
    for task in tasks {
        task.await;
    }
}

pub(super) fn heats() -> Vec<Heat> {
    let rows = [("place", "in place"), ("fan", "over 8 tasks")]
        .into_iter()
        .flat_map(|way| CONNECTIONS.map(|connections| (way, connections)));
    let row = |((way, words), connections): ((&str, &str), usize)| {
        let cell = |micros: u64| {
            let name = format!("work_{way}_{micros}x{connections}");
            workloads::all().find(|workload| workload.name == name)
        };
        (format!("{words}, {connections} connections"), MICROS.map(cell).into())
    };
    vec![Heat {
        title: "Requests that do work".to_owned(),
        corner: "µs of computing a request".to_owned(),
        columns: MICROS.map(|micros| grouped(micros as usize)).into(),
        rows: rows.map(row).collect(),
        figures: false,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_has_its_cell() {
        let heats = heats();
        let cells: Vec<&str> = heats[0].workloads().map(|workload| workload.name).collect();
        assert_eq!(cells.len(), MICROS.len() * 2 * CONNECTIONS.len());
        for workload in WORKLOADS {
            assert!(cells.contains(&workload.name), "{}", workload.name);
        }
    }
}
