//! An open loop: messages are sent at a fixed rate, whether the last are answered or not, and a latency
//! counts from the time at which its message should have been sent. So a server that stalls pays for all
//! messages that came meanwhile.
//!
//! The rates are shares of what tokio serves when the next message waits for the last answer. The parent
//! measures that once in a run, and all rounds and peers get the same rates.

use std::process::Command;
use std::time::Duration;

use super::served::{Served, answer};
use crate::load::Style;
use crate::measure::{Budget, Metrics};
use crate::peers::{NetPeer, Tokio, Windlass};
use crate::report::heat::Heat;
use crate::service::Kind;
use crate::support::Compute;
use crate::workloads::echo::{CPU, P50, P99, P999};
use crate::workloads::{self, Aim, Row, Workload};

const ROWS: &[Row] = &[P50, P99.aim(Aim::Ratio(0.8)), P999, CPU.aim(Aim::Ratio(0.95))];

const CONNECTIONS: usize = 64;

/// Shares of the capacity, in percent.
const PERCENTS: [u32; 4] = [25, 50, 75, 90];

/// The name of a kind of request, what it is, and how long it computes.
const KINDS: [(&str, &str); 2] = [("echo", "echo"), ("work", "20 µs of computing")];

macro_rules! rates {
    ($($kind:literal $micros:literal: $($percent:literal),+;)+) => {
        &[$(
            Workload {
                name: concat!("open_", $kind, "_capacity"),
                about: concat!("what the rates of open_", $kind, " are shares of"),
                base: "tokio",
                rows: &[],
                peers: &[("tokio", |budget| capacity::<Tokio>(budget, $micros))],
            },
            $(Workload {
                name: concat!("open_", $kind, "_", $percent),
                about: concat!("64 connections, at ", $percent, " % of what tokio can serve; ", $kind),
                base: "tokio",
                rows: ROWS,
                peers: &[
                    ("tokio", |budget| run::<Tokio>(budget, $kind, $micros, $percent)),
                    ("windlass", |budget| run::<Windlass>(budget, $kind, $micros, $percent)),
                ],
            },)+
        )+]
    };
}

pub(in crate::workloads) const WORKLOADS: &[Workload] = rates! {
    "echo" 0: 25, 50, 75, 90;
    "work" 20: 25, 50, 75, 90;
};

/// The workload that measures, on tokio, what the rates of this one are shares of; and the metric.
pub(crate) fn capacity_of(workload: &str) -> Option<(&'static str, &'static str)> {
    let (family, percent) = workload.rsplit_once('_')?;
    if !family.starts_with("open_") || percent.parse::<u32>().is_err() {
        return None;
    }
    let known = WORKLOADS
        .iter()
        .find(|known| known.name.strip_suffix("_capacity").is_some_and(|known| known == family))?;
    Some((known.name, "messages_per_s"))
}

#[inline(never)]
fn serve<P: NetPeer>(micros: u64) -> Served<P> {
    let compute = Compute::lasting(Duration::from_micros(micros));
    Served::start(move |stream| answer::<P, _, _>(stream, move || async move { compute.run() }))
}

fn capacity<P: NetPeer>(budget: &Budget, micros: u64) -> Metrics {
    serve::<P>(micros).asked(budget, Kind::Echo, CONNECTIONS)
}

#[inline(never)]
fn run<P: NetPeer>(budget: &Budget, kind: &str, micros: u64, percent: u32) -> Metrics {
    let capacity = budget.capacity.unwrap_or_else(|| measured(kind));
    let per_second = (capacity * f64::from(percent) / 100.0).max(1.0) as u64;
    let served = serve::<P>(micros);
    let metrics = served.loaded(budget, Kind::Echo, CONNECTIONS, Style::Open { per_second });
    let rate = metrics.get("messages_per_s").unwrap_or(0.0);
    metrics
        .with("intended_per_s", per_second as f64)
        .with("served_share", (rate / per_second as f64).min(1.0))
}

/// For who runs one workload by hand: nobody has measured yet.
fn measured(kind: &str) -> f64 {
    let program = std::env::current_exe().expect("this program has a path");
    let child = Command::new(program)
        .args(["child", &format!("open_{kind}_capacity"), "tokio"])
        .output()
        .expect("a child starts");
    let said = String::from_utf8_lossy(&child.stdout);
    let metrics: Option<serde_json::Value> = serde_json::from_str(said.trim()).ok();
    let capacity = metrics.and_then(|metrics| metrics["messages_per_s"].as_f64());
    capacity.unwrap_or_else(|| panic!("no capacity in `{said}`"))
}

pub(super) fn heat() -> Heat {
    let row = |(kind, words): (&str, &str)| {
        let cell = |percent: u32| {
            let name = format!("open_{kind}_{percent}");
            workloads::all().find(|workload| workload.name == name)
        };
        (words.to_owned(), PERCENTS.map(cell).into())
    };
    Heat {
        title: "Open loop: messages at a fixed rate on 64 connections".to_owned(),
        corner: "share of what tokio can serve".to_owned(),
        columns: PERCENTS.map(|percent| format!("{percent} %")).into(),
        rows: KINDS.map(row).into(),
        figures: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_has_its_cell_and_its_capacity() {
        let cells: Vec<&str> = heat().workloads().map(|workload| workload.name).collect();
        assert_eq!(cells.len(), KINDS.len() * PERCENTS.len());
        for workload in WORKLOADS {
            let capacity = capacity_of(workload.name);
            if workload.name.ends_with("_capacity") {
                assert_eq!(capacity, None);
            } else {
                assert!(cells.contains(&workload.name), "{}", workload.name);
                let (name, _) = capacity.unwrap();
                assert!(WORKLOADS.iter().any(|known| known.name == name), "{name}");
            }
        }
        assert_eq!(capacity_of("open_other_25"), None);
        assert_eq!(capacity_of("echo_64"), None);
    }
}
