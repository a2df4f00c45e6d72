//! A future in `block_on`, as most of `main` is, that sleeps on a machine on which nothing else happens: how
//! late it goes on. Five sleeps of 200 ms, and the same by the OS alone.

use std::thread;
use std::time::{Duration, Instant};

use super::timers::late;
use super::{Row, Workload};
use crate::measure::{Budget, Metrics};
use crate::peers::{CurrentThread, Peer, Smol, TimePeer, Tokio, Windlass};
use crate::stats::median;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "block_on_sleep",
    about: "5 sleeps of 200 ms in block_on, and nothing else; how late",
    // tokio's timers have a resolution of a millisecond, so that it says nothing.
    base: "os",
    rows: &[
        Row::cost("median_ns", "µs late").scaled(1e3),
        Row::cost("max_ns", "µs late at most").scaled(1e3),
    ],
    peers: &[
        ("os", os),
        (Tokio::NAME, run::<Tokio>),
        (CurrentThread::NAME, run::<CurrentThread>),
        (Smol::NAME, run::<Smol>),
        (Windlass::NAME, run::<Windlass>),
    ],
}];

const SLEEPS: usize = 5;
const SLEEP: Duration = Duration::from_millis(200);

fn run<P: TimePeer>(_: &Budget) -> Metrics {
    let peer = P::start();
    // Once for what is set up once.
    peer.block_on(late::<P>(Duration::from_millis(1)));
    figures(|| peer.block_on(late::<P>(SLEEP)))
}

fn os(_: &Budget) -> Metrics {
    figures(|| {
        let began = Instant::now();
        thread::sleep(SLEEP);
        began.elapsed().saturating_sub(SLEEP).as_nanos() as u64
    })
}

fn figures(mut sleep: impl FnMut() -> u64) -> Metrics {
    let late: Vec<f64> = (0..SLEEPS).map(|_| sleep() as f64).collect();
    Metrics::new()
        .with("median_ns", median(&late))
        .with("max_ns", late.iter().copied().fold(0.0, f64::max))
}
