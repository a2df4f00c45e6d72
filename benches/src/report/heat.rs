//! Heat tables: one ratio to the base peer in each cell, with a colour for who won it, and a table for each
//! figure.

use std::fmt::Write as _;

use super::{Score, figure};
use crate::results::Results;
use crate::verdict::{Line, SUBJECT, Verdict};
use crate::workloads::{self, Row, Workload};

/// Workloads that differ in two respects, and have the same rows.
pub(crate) struct Heat {
    pub(crate) title: String,
    /// What the columns are.
    pub(crate) corner: String,
    pub(crate) columns: Vec<String>,
    /// A cell may be missing.
    pub(crate) rows: Vec<(String, Vec<Option<&'static Workload>>)>,
    /// Whether the figures of both stand beside their ratio.
    pub(crate) figures: bool,
}

impl Heat {
    pub(crate) fn workloads(&self) -> impl Iterator<Item = &'static Workload> {
        self.rows.iter().flat_map(|(_, cells)| cells).copied().flatten()
    }
}

/// What the squares mean.
pub(super) const LEGEND: &str =
    "🟩 won, ⬜ even, 🟥 lost, ▫ too few rounds to say; an aim that is missed is **bold**.";

/// The tables of everything that has figures, and their verdicts counted.
pub(super) fn tables(results: &Results, score: &mut Score) -> String {
    workloads::heats().iter().map(|heat| of_heat(results, heat, score)).collect()
}

fn of_heat(results: &Results, heat: &Heat, score: &mut Score) -> String {
    let Some(first) = heat.workloads().next() else { return String::new() };
    let mut text = String::new();
    for place in 0..first.rows.len() {
        let mut own = Score::default();
        let table = table(results, heat, place, &mut own);
        if table.is_empty() {
            continue;
        }
        score.add(&own);
        let Row { unit, .. } = first.rows[place];
        let _ = write!(text, "\n{unit}, ratio to {} ({}):\n\n{table}", first.base, own.words());
    }
    if text.is_empty() { text } else { format!("\n## {}\n\n{LEGEND}\n{text}", heat.title) }
}

/// Rows and columns without any figure are left out; nothing if all are.
fn table(results: &Results, heat: &Heat, place: usize, score: &mut Score) -> String {
    let line = |cell: &Option<&'static Workload>| {
        let workload = (*cell)?;
        Line::of(results, workload, workload.rows.get(place)?, &[workload.base, SUBJECT])
            .filter(|line| line.ratio.is_some())
    };
    let rows: Vec<(&str, Vec<Option<Line<'_>>>)> = heat
        .rows
        .iter()
        .map(|(label, cells)| (label.as_str(), cells.iter().map(line).collect()))
        .collect();
    let shown = |column: &usize| rows.iter().any(|(_, cells)| cells[*column].is_some());
    let columns: Vec<usize> = (0..heat.columns.len()).filter(shown).collect();
    if columns.is_empty() {
        return String::new();
    }
    let mut text = format!("| {} |", heat.corner);
    for column in &columns {
        let _ = write!(text, " {} |", heat.columns[*column]);
    }
    let _ = writeln!(text, "\n|---|{}", "---:|".repeat(columns.len()));
    for (label, cells) in &rows {
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let _ = write!(text, "| {label} |");
        for column in &columns {
            let cell = cells[*column].as_ref();
            let _ = write!(
                text,
                " {} |",
                cell.map_or("–".to_owned(), |line| coloured(line, heat.figures))
            );
            if let Some(line) = cell {
                score.count(line);
            }
        }
        text.push('\n');
    }
    text
}

fn coloured(line: &Line<'_>, figures: bool) -> String {
    let square = match line.verdict {
        Verdict::Win => "🟩",
        Verdict::Even => "⬜",
        Verdict::Loss => "🟥",
        Verdict::None => "▫",
    };
    let ratio = line.ratio.map_or("–".to_owned(), |ratio| figure(ratio.median));
    let ratio = match line.aim {
        Some((_, reached)) if !reached.met => format!("**{ratio}**"),
        _ => ratio,
    };
    match line.cells[..] {
        [Some((base, _)), Some((own, _))] if figures => {
            format!("{square} {ratio} ({} → {})", figure(base), figure(own))
        }
        _ => format!("{square} {ratio}"),
    }
}

/// True if a workload stands in a heat table, and not in the table of its section.
pub(crate) fn holds(workload: &str) -> bool {
    workloads::heats().iter().any(|heat| heat.workloads().any(|known| known.name == workload))
}

#[cfg(test)]
mod tests {
    use super::{Score, holds, tables};
    use crate::results::tests::{Row, results};

    #[test]
    fn cells_have_a_colour_and_what_has_no_figures_is_left_out() {
        let tokio: &[_] = &[("messages_per_s", 100.0), ("p99_ns", 10.0)];
        let windlass: &[_] = &[("messages_per_s", 80.0), ("p99_ns", 5.0)];
        let of = |round, peer, figures| (round, "crowd_echo_1_2x16", peer, figures);
        let round = |round| [of(round, "tokio", tokio), of(round, "windlass", windlass)];
        let samples: Vec<Row<'_>> = (0..3).flat_map(round).collect();
        let mut score = Score::default();
        let text = tables(&results(&samples), &mut score);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(
            lines,
            [
                "| connections in all | 16 |",
                "|---|---:|",
                "| 1 hog, 2 loads | 🟥 **0.80** |",
                "| connections in all | 16 |",
                "|---|---:|",
                "| 1 hog, 2 loads | 🟩 0.50 |",
            ]
        );
        assert!(text.contains("kmsg/s, ratio to tokio (0 won, 0 even, 1 lost; 0 of 1 aims met):"));
        assert_eq!(score.words(), "1 won, 0 even, 1 lost; 1 of 2 aims met");
    }

    #[test]
    fn workloads_of_the_matrix_are_in_no_other_table() {
        assert!(holds("crowd_http_quota_4x1024"));
        assert!(!holds("echo_64"));
    }
}
