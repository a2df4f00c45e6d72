//! The tables of growth: what an operation costs at each size, and how much more at the largest.

use std::fmt::Write as _;

use super::{figure, with_quartiles};
use crate::results::Results;
use crate::stats::{Spread, paired_ratios};
use crate::workloads::growth::{SERIES, Series};
use crate::workloads::{self, Row};

pub(super) fn tables(results: &Results) -> String {
    let tables: String = SERIES.iter().filter_map(|series| table(results, series)).collect();
    if tables.is_empty() {
        return tables;
    }
    format!("\n## Growth\n\nWhat an operation costs while something grows. Flat is good.\n{tables}")
}

fn table(results: &Results, series: &Series) -> Option<String> {
    let (row, peers) = shape(series)?;
    let mut lines = String::new();
    for peer in peers {
        let at = |workload: &str| results.series(workload, peer, row.metric);
        let costs: Vec<_> = series.sizes.iter().map(|(_, name)| at(name)).collect();
        if costs.iter().all(Vec::is_empty) {
            continue;
        }
        let _ = write!(lines, "| {peer} |");
        for cost in &costs {
            let values: Vec<f64> = cost.iter().map(|(_, value)| value / row.scale).collect();
            let median = Spread::of(&values).map_or("–".to_owned(), |cost| figure(cost.median));
            let _ = write!(lines, " {median} |");
        }
        let (first, last) = (costs.first()?, costs.last()?);
        let grown = Spread::of(&paired_ratios(last, first));
        let _ = writeln!(lines, " {} |", grown.map_or("–".to_owned(), with_quartiles));
    }
    if lines.is_empty() {
        return None;
    }
    let mut text = format!("\n| {}: {} ({}) |", series.name, series.about, row.unit);
    for (size, _) in series.sizes {
        let _ = write!(text, " {} |", grouped(*size));
    }
    let _ =
        writeln!(text, " largest ÷ smallest |\n|---|{}---:|", "---:|".repeat(series.sizes.len()));
    Some(text + &lines)
}

/// The row that all sizes have, and the peers of the first.
pub(crate) fn shape(
    series: &Series,
) -> Option<(&'static Row, impl Iterator<Item = &'static str> + use<>)> {
    let (_, first) = series.sizes.first()?;
    let workload = workloads::all().find(|workload| workload.name == *first)?;
    Some((workload.rows.first()?, workload.peers.iter().map(|(name, _)| *name)))
}

/// 10000 as 10,000.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(100), "100");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
