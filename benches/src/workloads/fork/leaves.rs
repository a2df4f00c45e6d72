//! Leaves that sleep, on more workers than there are CPUs: whether the work spreads to all of them. Two leaves
//! for each worker, so that the ideal is the time of two.

use std::thread;
use std::time::Duration;

use super::timed;
use crate::measure::{Budget, Metrics, passes};
use crate::workloads::{Aim, Row, Workload};

/// Within a tenth of the ideal.
const ROWS: &[Row] = &[Row::time("ms (ideal: 40)").scaled(1e6).aim(Aim::Value(44.0))];

macro_rules! leaves {
    ($name:literal, $workers:literal) => {
        Workload {
            name: $name,
            about: concat!(
                "two leaves that sleep 20 ms for each of ",
                $workers,
                " workers, split by join"
            ),
            base: "rayon",
            rows: ROWS,
            peers: &[
                ("rayon", |budget| on_rayon(budget, $workers)),
                ("windlass", |budget| on_windlass(budget, $workers)),
            ],
        }
    };
}

pub(in crate::workloads) const WORKLOADS: &[Workload] =
    &[leaves!("leaves_8", 8), leaves!("leaves_32", 32), leaves!("leaves_64", 64)];

const LEAF: Duration = Duration::from_millis(20);

fn on_rayon(budget: &Budget, workers: usize) -> Metrics {
    fn split(leaves: usize) {
        if leaves == 1 {
            thread::sleep(LEAF);
        } else {
            rayon::join(|| split(leaves / 2), || split(leaves - leaves / 2));
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("rayon starts");
    pool.install(|| passes(budget, || timed(1, || split(2 * workers))))
}

fn on_windlass(budget: &Budget, workers: usize) -> Metrics {
    fn split(leaves: usize) {
        if leaves == 1 {
            thread::sleep(LEAF);
        } else {
            windlass::join(|| split(leaves / 2), || split(leaves - leaves / 2));
        }
    }
    let runtime = windlass::Builder::new().workers(workers).build().expect("windlass starts");
    let _entered = runtime.enter();
    windlass::scope(|_| passes(budget, || timed(1, || split(2 * workers))))
}
