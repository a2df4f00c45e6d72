//! Sixteen messages of 64 bytes in flight on each connection, each answered by a write of its own.

use super::served::Served;
use super::{MESSAGE, both};
use crate::measure::{Budget, Metrics};
use crate::peers::NetPeer;
use crate::service::{BATCH, Kind};
use crate::workloads::echo::P99;
use crate::workloads::{Aim, Row, Workload};

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "requests_pipelined_16",
    about: "16 connections with 16 messages of 64 bytes in flight on each; per batch of 16",
    base: "tokio",
    rows: &[
        Row::gain("messages_per_s", "kbatches/s").scaled(1e3).aim(Aim::Ratio(1.0)),
        P99.aim(Aim::Ratio(1.0)),
        Row::cost("cpu_ns_per_message", "µs server CPU/batch").scaled(1e3),
    ],
    peers: both!(run, 16),
}];

fn run<P: NetPeer, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    Served::<P>::start(serve::<P>).asked(budget, Kind::Batch, CONNECTIONS)
}

async fn serve<P: NetPeer>(mut stream: P::Stream) {
    let mut buffer = [0; BATCH * MESSAGE];
    let mut filled = 0;
    while let Ok(count @ 1..) = P::read(&mut stream, &mut buffer[filled..]).await {
        filled += count;
        let whole = filled - filled % MESSAGE;
        for message in buffer[..whole].chunks_exact(MESSAGE) {
            if P::write_all(&mut stream, message).await.is_err() {
                return;
            }
        }
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
    }
}
