//! How far from what cannot be beaten: a raw epoll loop, and sequential code.

use std::fmt::Write as _;

use super::{figure, with_quartiles};
use crate::results::Results;
use crate::stats::{Spread, paired_ratios};
use crate::verdict::SUBJECT;
use crate::workloads::{self, Better, Row, Workload};

/// Peers that do the work and nothing else.
const LIMITS: &[&str] = &["epoll", "sequential"];

struct Distance {
    workload: &'static Workload,
    row: &'static Row,
    limit: &'static str,
    at_limit: f64,
    own: f64,
    ratio: Spread,
}

/// The rows of all workloads that have a limit, the furthest from it first.
pub(super) fn table(results: &Results) -> String {
    let mut distances: Vec<Distance> = Vec::new();
    for workload in workloads::all() {
        let limit = LIMITS.iter().find(|limit| workload.run_of(limit).is_some());
        let Some(limit) = limit else { continue };
        // Not memory: a loop has one buffer where tasks have one each.
        let rows = workload.rows.iter().filter(|row| !row.unit.starts_with("B/"));
        distances.extend(rows.filter_map(|row| of(results, workload, row, limit)));
    }
    if distances.is_empty() {
        return String::new();
    }
    distances.sort_by(|a, b| b.times_worse().total_cmp(&a.times_worse()));
    let mut text = format!(
        "\n## Distance from the limit\n\nA single-threaded epoll loop, and sequential code on one \
         core (two can halve that), the furthest first.\n\n\
         | | unit | limit | {SUBJECT} | {SUBJECT} ÷ limit |\n|---|---|---:|---:|---:|\n"
    );
    for distance in distances {
        let Distance { workload, row, limit, at_limit, own, ratio } = distance;
        let _ = writeln!(
            text,
            "| {} | {} | {} ({limit}) | {} | {} |",
            workload.name,
            row.unit,
            figure(at_limit),
            figure(own),
            with_quartiles(ratio),
        );
    }
    text
}

fn of(
    results: &Results,
    workload: &'static Workload,
    row: &'static Row,
    limit: &'static str,
) -> Option<Distance> {
    let series = |peer: &str| results.series(workload.name, peer, row.metric);
    let median = |series: &[(usize, f64)]| {
        let values: Vec<f64> = series.iter().map(|(_, value)| value / row.scale).collect();
        Some(Spread::of(&values)?.median)
    };
    let (own, at_limit) = (series(SUBJECT), series(limit));
    let ratio = Spread::of(&paired_ratios(&own, &at_limit))?;
    Some(Distance { workload, row, limit, at_limit: median(&at_limit)?, own: median(&own)?, ratio })
}

impl Distance {
    fn times_worse(&self) -> f64 {
        match self.row.better {
            Better::Less => self.ratio.median,
            Better::More => 1.0 / self.ratio.median,
        }
    }
}
