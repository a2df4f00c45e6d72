//! Eight connections on which 64 KiB go there and back, echoed as they come.

use super::both;
use super::served::Served;
use crate::load::Style;
use crate::measure::{Budget, Metrics};
use crate::peers::NetPeer;
use crate::service::Kind;
use crate::workloads::echo::P99;
use crate::workloads::{Aim, Row, Workload};

/// What a connection reads into.
const BUFFER: usize = 64 * 1024;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "requests_bulk_8",
    about: "8 connections that have 64 KiB echoed, again and again; per 64 KiB",
    base: "tokio",
    rows: &[
        Row::gain("messages_per_s", "k × 64 KiB/s").scaled(1e3).aim(Aim::Ratio(1.0)),
        P99.aim(Aim::Ratio(1.0)),
        Row::cost("cpu_ns_per_message", "µs server CPU/64 KiB").scaled(1e3),
        Row::cost("switches_per_message", "switches/64 KiB"),
    ],
    peers: both!(run, 8),
}];

fn run<P: NetPeer, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    Served::<P>::start(serve::<P>).loaded(budget, Kind::Echo, CONNECTIONS, Style::Bulk)
}

async fn serve<P: NetPeer>(mut stream: P::Stream) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(count @ 1..) = P::read(&mut stream, &mut buffer).await {
        if P::write_all(&mut stream, &buffer[..count]).await.is_err() {
            return;
        }
    }
}
