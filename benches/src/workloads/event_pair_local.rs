//! The auto-reset events by themselves: two futures on one thread, under an executor of two flags.

use std::time::Instant;

use tokio::sync::Notify;
use windlass::sync::AutoResetEvent;

use super::event_round_trip::{Listened, Signal, answer, call};
use super::{Aim, Row, Workload};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::support::run_pair;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "event_pair_local",
    about: "the same events between two futures on one thread, without a runtime; per round trip",
    base: "tokio",
    rows: &[Row::time("ns/trip").aim(Aim::Ratio(1.0))],
    peers: &[
        ("tokio", run::<Notify>),
        ("event-listener", run::<Listened>),
        ("windlass", run::<AutoResetEvent>),
    ],
}];

const TRIPS: usize = 50_000;

fn run<S: Signal>(budget: &Budget) -> Metrics {
    let (ping, pong) = (S::unset(), S::unset());
    passes(budget, || {
        let began = Instant::now();
        run_pair(answer(&ping, &pong, TRIPS), call(&ping, &pong, TRIPS));
        Pass::new(TRIPS, began.elapsed())
    })
}
