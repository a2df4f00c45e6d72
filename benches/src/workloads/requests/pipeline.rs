//! Three tasks for each connection, joined by channels: one reads, one handles, one writes.

use async_channel::bounded;

use super::served::Served;
use super::{MESSAGE, both};
use crate::measure::{Budget, Metrics};
use crate::peers::SplitPeer;
use crate::service::Kind;
use crate::workloads::echo::{CPU, P99, RATE};
use crate::workloads::{Aim, Row, Workload};

const ROWS: &[Row] = &[RATE.aim(Aim::Ratio(1.0)), P99.aim(Aim::Ratio(1.0)), CPU];

/// Messages that a channel holds.
const ROOM: usize = 16;

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "requests_pipeline_16",
        about: "16 connections, for each a task that reads, one that handles and one that writes",
        base: "tokio",
        rows: ROWS,
        peers: both!(run, 16),
    },
    Workload {
        name: "requests_pipeline_64",
        about: "the same on 64 connections",
        base: "tokio",
        rows: ROWS,
        peers: both!(run, 64),
    },
];

fn run<P: SplitPeer, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    Served::<P>::start(serve::<P>).asked(budget, Kind::Echo, CONNECTIONS)
}

async fn serve<P: SplitPeer>(stream: P::Stream) {
    let (mut reader, mut writer) = P::split(stream);
    let (requests, to_handle) = bounded::<[u8; MESSAGE]>(ROOM);
    let (answers, to_write) = bounded::<[u8; MESSAGE]>(ROOM);
    P::detach(async move {
        while let Ok(request) = to_handle.recv().await {
            if answers.send(request).await.is_err() {
                return;
            }
        }
    });
    P::detach(async move {
        while let Ok(answer) = to_write.recv().await {
            if P::write_half(&mut writer, &answer).await.is_err() {
                return;
            }
        }
    });
    let (mut message, mut filled) = ([0; MESSAGE], 0);
    while let Ok(count @ 1..) = P::read_half(&mut reader, &mut message[filled..]).await {
        filled += count;
        if filled == MESSAGE {
            filled = 0;
            if requests.send(message).await.is_err() {
                return;
            }
        }
    }
}
