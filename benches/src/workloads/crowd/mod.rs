//! Crowding: a server with one, two or four load processes, on a quiet machine, beside neighbours that burn
//! CPU time, and with a quota of one CPU.
//!
//! Each load process is single-threaded and has its part of the connections. Neighbours are ordinary
//! processes, started when all connections stand and ended when the figures are there.

mod cell;

use std::time::Duration;

use super::echo::{CPU, P99, RATE, Server, Tasks};
use super::{Aim, Row, Workload};
use crate::load::{Ask, Job, Load, Loads};
use crate::measure::{Budget, Metrics};
use crate::peers::{Tokio, Windlass};
use crate::report::heat::Heat;
use crate::service::{Echo, Http, Service};
use crate::support::quota::Quota;
pub(crate) use cell::{CONNECTIONS, Cell, LOADS, NEIGHBOURS, Neighbours};

const ROWS: &[Row] =
    &[RATE.aim(Aim::Ratio(0.97)), P99.aim(Aim::Ratio(1.05)), CPU.aim(Aim::Ratio(1.0))];

/// The workloads of one service beside one kind of neighbours.
macro_rules! cells {
    ($kind:literal, $service:ident, $neighbours:literal: $($loads:literal x $connections:literal),+) => {
        &[$(Workload {
            name: concat!("crowd_", $kind, "_", $neighbours, "_", $loads, "x", $connections),
            about: concat!(
                $kind, ", ", $loads, " load processes with ", $connections,
                " connections in all, neighbours: ", $neighbours,
            ),
            base: "tokio",
            rows: ROWS,
            peers: &[
                ("tokio", |budget| {
                    run::<Tasks<Tokio>, $service>(budget, $loads, $connections, $neighbours)
                }),
                ("windlass", |budget| {
                    run::<Tasks<Windlass>, $service>(budget, $loads, $connections, $neighbours)
                }),
            ],
        }),+]
    };
}

macro_rules! grid {
    ($kind:literal, $service:ident, $neighbours:literal) => {
        cells!($kind, $service, $neighbours:
            1 x 1, 1 x 16, 1 x 64, 1 x 256, 1 x 1024,
            2 x 16, 2 x 64, 2 x 256, 2 x 1024,
            4 x 16, 4 x 64, 4 x 256, 4 x 1024)
    };
}

pub(super) const ECHO: &[Workload] = grid!("echo", Echo, "none");
pub(super) const ECHO_1: &[Workload] = grid!("echo", Echo, "1");
pub(super) const ECHO_2: &[Workload] = grid!("echo", Echo, "2");
pub(super) const ECHO_QUOTA: &[Workload] = grid!("echo", Echo, "quota");
pub(super) const HTTP: &[Workload] = grid!("http", Http, "none");
pub(super) const HTTP_1: &[Workload] = grid!("http", Http, "1");
pub(super) const HTTP_2: &[Workload] = grid!("http", Http, "2");
pub(super) const HTTP_QUOTA: &[Workload] = grid!("http", Http, "quota");

/// The window is this many times the measuring time of a child.
pub(crate) const LONGER: f64 = 1.5;

/// For connecting and the warm-up; neighbours are ended long before.
const GRACE: Duration = Duration::from_secs(20);

/// Kept out of the cells, which are many.
#[inline(never)]
fn run<S: Server, K: Service>(
    budget: &Budget,
    loads: usize,
    connections: usize,
    neighbours: &str,
) -> Metrics {
    let neighbours = Neighbours::named(neighbours).expect("the names are ours");
    // Before the server starts: it may look at its group, and its threads inherit it.
    let quota = (neighbours == Neighbours::Quota).then(|| Quota::enter().expect("it was tried"));
    let server = S::start::<K>(None);
    let time = budget.time.mul_f64(LONGER);
    let job = Job::Ask(Ask::closed(server.address(), K::KIND, connections, budget.warm_up, time));
    server.beside(|| {
        let loads = Loads::start(&job, loads);
        if let Some(quota) = &quota {
            loads.ids().for_each(|id| quota.release(id).expect("a process of ours"));
        }
        let mut hogs = Vec::new();
        loads.figures_after(|| {
            let burn =
                Job::Burn { server: std::process::id(), time: budget.warm_up + time + GRACE };
            hogs.extend((0..neighbours.hogs()).map(|_| Load::start(&burn)));
        })
    })
}

/// The tables of the report.
pub(super) fn heats() -> Vec<Heat> {
    [("echo", "Crowding, echo"), ("http", "Crowding, HTTP")].map(heat).into()
}

fn heat((service, title): (&str, &str)) -> Heat {
    let rows = NEIGHBOURS.iter().flat_map(|&neighbours| LOADS.map(|loads| (neighbours, loads)));
    let row = |(neighbours, loads): (Neighbours, usize)| {
        let cells = CONNECTIONS
            .map(|connections| Cell { service, neighbours, loads, connections }.workload());
        (
            format!("{}, {loads} load{}", neighbours.words(), if loads == 1 { "" } else { "s" }),
            cells.into(),
        )
    };
    Heat {
        title: title.to_owned(),
        corner: "connections in all".to_owned(),
        columns: CONNECTIONS.map(crate::report::growth::grouped).into(),
        rows: rows.map(row).collect(),
        figures: false,
    }
}
