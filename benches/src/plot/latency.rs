//! Latency distributions: how long the median request took, and how long the slowest of 10, 100
//! and 1,000.

use std::path::Path;

use plotters::prelude::*;

use super::Drawn;
use super::panels::{Curves, Panels};
use super::style::{self, Area, pale};
use crate::results::Results;
use crate::stats;
use crate::workloads;

const PANELS: Panels = Panels {
    title: "Echo latency, by percentile",
    below: "From sending a message to having its answer, median of all rounds. Lower is better.",
    columns: 3,
};

const WORKLOADS: &[(&str, &str)] = &[
    ("echo_1", "1 connection"),
    ("echo_64", "64 connections"),
    ("echo_1024", "1,024 connections"),
    ("http_64", "HTTP, 64 connections"),
    ("echo_8_hog", "8, beside a hog"),
    ("mixed_fib", "8, beside fork-join"),
];

/// Metric and label, from left to right.
const PERCENTILES: &[(&str, &str)] = &[
    ("p10_ns", "10"),
    ("p50_ns", "50"),
    ("p90_ns", "90"),
    ("p99_ns", "99"),
    ("p999_ns", "99.9"),
    ("max_ns", "max"),
];

/// The percentile's number and the microseconds at it.
type Point = (f64, f64);

pub(super) fn draw(results: &Results, path: &Path) -> Drawn {
    let panels = WORKLOADS.iter().map(|(name, title)| (*title, curves(results, name)));
    PANELS.draw(results, path, panels, |cell, title, curves| panel(cell, title, curves))
}

/// One curve for each peer of a workload that has figures.
fn curves(results: &Results, workload: &str) -> Curves<Point> {
    let found = workloads::all().find(|known| known.name == workload);
    let peers = found.into_iter().flat_map(|workload| workload.peers);
    let curve = |peer: &str| {
        let at = |place: usize, metric: &str| {
            let series = results.series(workload, peer, metric);
            let micros: Vec<f64> = series.iter().map(|(_, nanos)| nanos / 1e3).collect();
            (!micros.is_empty()).then(|| (place as f64, stats::median(&micros)))
        };
        let points = PERCENTILES.iter().enumerate();
        points.filter_map(|(place, (metric, _))| at(place, metric)).collect::<Vec<Point>>()
    };
    let curves = peers.map(|(peer, _)| (*peer, curve(peer)));
    curves.filter(|(_, curve)| !curve.is_empty()).collect()
}

/// The power of ten at or below.
fn decade(micros: f64) -> f64 {
    10_f64.powf(micros.log10().floor())
}

/// "300 µs", "1 ms".
fn time(micros: f64) -> String {
    let (value, unit) = if micros < 999.0 { (micros, "µs") } else { (micros / 1e3, "ms") };
    format!("{value:.0} {unit}")
}

fn panel(cell: &Area<'_>, title: &str, curves: &Curves<Point>) -> Drawn {
    let all = || curves.iter().flat_map(|(_, curve)| curve).map(|(_, micros)| *micros);
    let least = all().fold(f64::INFINITY, f64::min).max(0.1);
    let most = all().fold(least, f64::max);
    let last = PERCENTILES.len() as f64 - 1.0;
    let mut chart = ChartBuilder::on(cell)
        .caption(title, style::bold(14))
        .margin(8)
        .margin_right(14)
        .x_label_area_size(26)
        .y_label_area_size(48)
        .build_cartesian_2d(-0.3..last + 0.3, (decade(least)..decade(most) * 10.0).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(style::GRID)
        .light_line_style(style::GRID.mix(0.45))
        .axis_style(style::GRID)
        .x_labels(PERCENTILES.len())
        .y_labels(6)
        .x_label_style(pale(11))
        .y_label_style(pale(11))
        .x_label_formatter(&|place| {
            let percentile = PERCENTILES.get(place.round() as usize);
            let whole = (place - place.round()).abs() < 0.01;
            percentile.filter(|_| whole).map_or(String::new(), |(_, label)| (*label).to_owned())
        })
        .y_label_formatter(&|micros| time(*micros))
        .draw()?;
    for (peer, curve) in curves {
        let colour = style::colour(peer);
        chart.draw_series(LineSeries::new(curve.iter().copied(), colour.stroke_width(2)))?;
        let dots = curve.iter().map(|point| Circle::new(*point, 3, colour.filled()));
        chart.draw_series(dots)?;
    }
    Ok(())
}
