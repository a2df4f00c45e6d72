//! windlass relative to each workload's base peer: a dot for the median of the paired ratios, a bar
//! from quartile to quartile, on a scale on which half and double are equally far from 1.

use std::path::Path;

use plotters::prelude::*;

use super::style::{self, Area, centred, ink, left, pale, right};
use super::{Drawn, caption};
use crate::report::{figure, heat};
use crate::results::Results;
use crate::stats::Spread;
use crate::verdict::{Line, SUBJECT, Verdict};
use crate::workloads::{self, Better, Row, Workload};

const WIDTH: i32 = 960;
const TOP: i32 = 104;
const ROW: i32 = 17;
const HEADING: i32 = 40;
const BOTTOM: i32 = 40;
/// Where the scale begins and ends.
const FROM: i32 = 330;
const TO: i32 = 860;
/// The ratios at both ends; what lies outside is drawn there.
const LEAST: f64 = 1.0 / 64.0;
const MOST: f64 = 4.0;
const TICKS: &[(f64, &str)] = &[
    (1.0 / 64.0, "1/64"),
    (1.0 / 32.0, "1/32"),
    (1.0 / 16.0, "1/16"),
    (1.0 / 8.0, "1/8"),
    (1.0 / 4.0, "1/4"),
    (1.0 / 2.0, "1/2"),
    (1.0, "1"),
    (2.0, "2"),
    (4.0, "4"),
];

struct Entry {
    workload: &'static Workload,
    row: &'static Row,
    /// Less is better, whatever the row.
    ratio: Spread,
    verdict: Verdict,
}

pub(super) fn draw(results: &Results, path: &Path) -> Drawn {
    let sections: Vec<(&str, Vec<Entry>)> = workloads::SECTIONS
        .iter()
        .map(|section| {
            let entries = section.workloads().flat_map(|workload| entries(results, workload));
            (section.title, entries.collect())
        })
        .filter(|(_, entries): &(_, Vec<_>)| !entries.is_empty())
        .collect();
    let rows: i32 = sections.iter().map(|(_, entries)| entries.len() as i32).sum();
    let height = TOP + rows * ROW + sections.len() as i32 * HEADING + BOTTOM;
    let area = SVGBackend::new(path, (WIDTH as u32, height as u32)).into_drawing_area();
    let below = format!(
        "{SUBJECT} ÷ tokio (rayon for fork-join); rates are turned over. Dot: median of the rounds, \
         bar: quartiles, grey: no clear difference."
    );
    style::frame(
        &area,
        "Time, latency and memory, relative to the peers'",
        &below,
        &caption(results),
    )?;
    scale(&area, height)?;
    let mut y = TOP;
    for (title, entries) in sections {
        y += HEADING;
        style::text(&area, title, &left(style::bold(14)), (20, y - 18))?;
        let mut last = "";
        for entry in entries {
            // Further rows of a workload stand below its name.
            let name = if entry.workload.name == last { "" } else { entry.workload.name };
            last = entry.workload.name;
            style::text(&area, name, &left(ink(13)), (32, y))?;
            dot(&area, &entry, y)?;
            y += ROW;
        }
    }
    Ok(area.present()?)
}

/// Of a workload that has no chart of its own, the first row, those with an aim, memory, and the tail:
/// a rate says little without it.
fn entries(results: &Results, workload: &'static Workload) -> Vec<Entry> {
    if workloads::growth::series_of(workload.name).is_some() || heat::holds(workload.name) {
        return Vec::new();
    }
    let shown = |(place, row): &(usize, &Row)| {
        let memory = row.unit.starts_with("B/");
        *place == 0 || row.aim.is_some() || row.metric == "p99_ns" || memory
    };
    let rows = workload.rows.iter().enumerate().filter(shown);
    let entry = |(_, row): (usize, &'static Row)| {
        let line = Line::of(results, workload, row, &[])?;
        let ratio = line.ratio?;
        let ratio = match row.better {
            Better::Less => ratio,
            Better::More => ratio.inverted(),
        };
        Some(Entry { workload, row, ratio, verdict: line.verdict })
    };
    rows.filter_map(entry).collect()
}

fn place(ratio: f64) -> i32 {
    let share = (ratio.clamp(LEAST, MOST) / LEAST).log2() / (MOST / LEAST).log2();
    FROM + (share * f64::from(TO - FROM)).round() as i32
}

fn scale(area: &Area<'_>, height: i32) -> Drawn {
    let one = place(1.0);
    style::text(area, "← better", &right(style::coloured(12, style::WIN)), (one - 10, TOP - 36))?;
    style::text(area, "worse →", &left(style::coloured(12, style::LOSS)), (one + 10, TOP - 36))?;
    for (ratio, label) in TICKS {
        let x = place(*ratio);
        let (colour, width) = if *ratio == 1.0 { (style::INK, 2) } else { (style::GRID, 1) };
        style::line(area, (x, TOP - 8), (x, height - BOTTOM + 4), colour.stroke_width(width))?;
        style::text(area, label, &centred(pale(12)), (x, TOP - 18))?;
    }
    Ok(())
}

fn dot(area: &Area<'_>, entry: &Entry, y: i32) -> Drawn {
    let Entry { row, ratio, verdict, .. } = entry;
    let colour = match verdict {
        Verdict::Win => style::WIN,
        Verdict::Loss => style::LOSS,
        Verdict::Even | Verdict::None => style::EVEN,
    };
    style::text(area, row.unit, &right(pale(11)), (FROM - 14, y))?;
    let (low, high) = (place(ratio.low), place(ratio.high));
    style::line(area, (low, y), (high.max(low + 1), y), colour.mix(0.45).stroke_width(6))?;
    area.draw(&Circle::new((place(ratio.median), y), 5, colour.filled()))?;
    let value = right(style::coloured(12, colour));
    style::text(area, &figure(ratio.median), &value, (WIDTH - 24, y))
}
