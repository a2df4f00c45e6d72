//! A message from one connection goes to all of them, as in a chat: each has a channel and a task that writes
//! what comes through it. The load sends the next when all have got the last.

use std::sync::{Arc, Mutex, PoisonError};

use async_channel::{Sender, bounded};

use super::served::Served;
use super::{MESSAGE, both};
use crate::load::{GREETING, Style};
use crate::measure::{Budget, Metrics};
use crate::peers::SplitPeer;
use crate::service::Kind;
use crate::workloads::echo::P99;
use crate::workloads::{Aim, Row, Workload};

/// Messages that a channel holds.
const ROOM: usize = 16;

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "requests_broadcast_64",
    about: "a message to 64 connections from one of them; until all have it",
    base: "tokio",
    rows: &[
        Row::gain("messages_per_s", "broadcasts/s").aim(Aim::Ratio(1.0)),
        P99.aim(Aim::Ratio(1.0)),
        Row::cost("cpu_ns_per_message", "µs server CPU/broadcast").scaled(1e3),
    ],
    peers: both!(run, 64),
}];

type Everybody = Arc<Mutex<Vec<Sender<[u8; MESSAGE]>>>>;

fn run<P: SplitPeer, const CONNECTIONS: usize>(budget: &Budget) -> Metrics {
    let everybody = Everybody::default();
    let served = Served::<P>::start(move |stream| serve::<P>(stream, Arc::clone(&everybody)));
    served.loaded(budget, Kind::Echo, CONNECTIONS, Style::Broadcast)
}

async fn serve<P: SplitPeer>(stream: P::Stream, everybody: Everybody) {
    let (mut reader, mut writer) = P::split(stream);
    let (own, to_write) = bounded(ROOM);
    everybody.lock().unwrap_or_else(PoisonError::into_inner).push(own);
    if P::write_half(&mut writer, &[GREETING]).await.is_err() {
        return;
    }
    P::detach(async move {
        while let Ok(message) = to_write.recv().await {
            if P::write_half(&mut writer, &message).await.is_err() {
                return;
            }
        }
    });
    // All connections stand before the first message: nobody comes later.
    let mut members = Vec::new();
    let (mut message, mut filled) = ([0; MESSAGE], 0);
    while let Ok(count @ 1..) = P::read_half(&mut reader, &mut message[filled..]).await {
        filled += count;
        if filled < MESSAGE {
            continue;
        }
        filled = 0;
        if members.is_empty() {
            members.clone_from(&everybody.lock().unwrap_or_else(PoisonError::into_inner));
        }
        for member in &members {
            // Who has left has closed its channel.
            let _ = member.send(message).await;
        }
    }
}
