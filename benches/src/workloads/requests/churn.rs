//! Connections that come and go: connect, one message there and back, close; eight clients at once.

use super::both;
use super::served::{Served, answer};
use crate::load::Style;
use crate::measure::{Budget, Metrics};
use crate::peers::NetPeer;
use crate::service::Kind;
use crate::workloads::echo::{P50, P99};
use crate::workloads::{Aim, Row, Workload};

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "requests_churn_8",
    about: "8 clients that connect, have 64 bytes echoed and close; per connection",
    base: "tokio",
    rows: &[
        Row::gain("messages_per_s", "kconnections/s").scaled(1e3).aim(Aim::Ratio(1.05)),
        P50,
        P99,
        Row::cost("cpu_ns_per_message", "µs server CPU/connection").scaled(1e3),
    ],
    peers: both!(run, 8),
}];

fn run<P: NetPeer, const CLIENTS: usize>(budget: &Budget) -> Metrics {
    let served = Served::<P>::start(|stream| answer::<P, _, _>(stream, || async {}));
    served.loaded(budget, Kind::Echo, CLIENTS, Style::Churn)
}
