//! What an operation costs while something grows tenfold: flat lines are good.

use std::path::Path;

use plotters::prelude::*;

use super::Drawn;
use super::panels::{Curves, Panels};
use super::style::{self, Area, pale};
use crate::report::growth;
use crate::results::Results;
use crate::stats::Spread;
use crate::workloads::growth::{SERIES, Series};

const PANELS: Panels = Panels {
    title: "What an operation costs while something grows",
    below: "Nanoseconds per operation; bars from quartile to quartile. Flat is good.",
    columns: 2,
};

/// Size, and the cost at it.
type Point = (f64, Spread);

pub(super) fn draw(results: &Results, path: &Path) -> Drawn {
    let panels = SERIES.iter().map(|series| (series, curves(results, series)));
    PANELS.draw(results, path, panels, |cell, series, curves| panel(cell, series, curves))
}

fn curves(results: &Results, series: &Series) -> Curves<Point> {
    let Some((row, peers)) = growth::shape(series) else { return Vec::new() };
    let curve = |peer: &str| {
        let cost = |(size, workload): &(usize, &str)| {
            let values = results.series(workload, peer, row.metric);
            let values: Vec<f64> = values.iter().map(|(_, value)| value / row.scale).collect();
            Some((*size as f64, Spread::of(&values)?))
        };
        series.sizes.iter().filter_map(cost).collect::<Vec<Point>>()
    };
    peers.map(|peer| (peer, curve(peer))).filter(|(_, curve)| !curve.is_empty()).collect()
}

fn panel(cell: &Area<'_>, series: &Series, curves: &Curves<Point>) -> Drawn {
    let sizes = || series.sizes.iter().map(|(size, _)| *size as f64);
    let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(1.0, f64::max));
    let costs = curves.iter().flat_map(|(_, curve)| curve).map(|(_, cost)| cost.high);
    let highest = costs.fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(cell)
        .caption(format!("{}: {}", series.name, series.about), style::bold(13))
        .margin(8)
        .margin_right(18)
        .x_label_area_size(26)
        .y_label_area_size(48)
        .build_cartesian_2d((least * 0.8..most * 1.25).log_scale(), 0.0..highest * 1.1)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(style::GRID)
        .light_line_style(WHITE)
        .axis_style(style::GRID)
        .y_labels(6)
        .x_label_style(pale(11))
        .y_label_style(pale(11))
        .x_label_formatter(&|size| {
            let size = size.round() as usize;
            let known = series.sizes.iter().any(|(known, _)| *known == size);
            if known { growth::grouped(size) } else { String::new() }
        })
        .y_label_formatter(&|nanos| growth::grouped(nanos.round() as usize))
        .draw()?;
    for (peer, curve) in curves {
        let colour = style::colour(peer);
        let medians = || curve.iter().map(|(size, cost)| (*size, cost.median));
        let bars = curve.iter().map(|(size, cost)| {
            PathElement::new(
                [(*size, cost.low), (*size, cost.high)],
                colour.mix(0.4).stroke_width(6),
            )
        });
        chart.draw_series(bars)?;
        chart.draw_series(LineSeries::new(medians(), colour.stroke_width(2)))?;
        chart.draw_series(medians().map(|point| Circle::new(point, 4, colour.filled())))?;
    }
    Ok(())
}
