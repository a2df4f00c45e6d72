//! Judging a figure: who won a row of the report, and whether its aim is met.

use crate::results::Results;
use crate::stats::{Spread, paired_ratios};
use crate::workloads::{Aim, Better, Row, Workload};

/// Whose wins and losses are marked.
pub(crate) const SUBJECT: &str = "windlass";

/// Everything one row of a workload says.
pub(crate) struct Line<'a> {
    /// Median and ratio to the base, for each column.
    pub(crate) cells: Vec<Option<(f64, Option<f64>)>>,
    pub(crate) base: &'a str,
    pub(crate) ratio: Option<Spread>,
    pub(crate) verdict: Verdict,
    pub(crate) aim: Option<(Aim, Reached)>,
}

/// Whether the median reaches an aim, and whether the quartiles agree with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reached {
    pub(crate) met: bool,
    pub(crate) sure: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    Win,
    Even,
    Loss,
    /// No figures to compare.
    None,
}

impl<'a> Line<'a> {
    /// `None` where none of the peers that a cell is wanted for has this figure.
    pub(crate) fn of(
        results: &Results,
        workload: &'a Workload,
        row: &Row,
        peers: &[&'static str],
    ) -> Option<Line<'a>> {
        let series = |peer: &str| results.series(workload.name, peer, row.metric);
        let base = series(workload.base);
        let median = |values: &[(usize, f64)]| {
            let values: Vec<f64> = values.iter().map(|(_, value)| value / row.scale).collect();
            Spread::of(&values).map(|spread| spread.median)
        };
        let cells: Vec<_> = peers
            .iter()
            .map(|peer| {
                let values = series(peer);
                let ratio = Spread::of(&paired_ratios(&values, &base));
                let ratio = ratio.filter(|_| *peer != workload.base);
                median(&values).map(|value| (value, ratio.map(|ratio| ratio.median)))
            })
            .collect();
        if !peers.is_empty() && cells.iter().all(Option::is_none) {
            return None;
        }
        let own = series(SUBJECT);
        // A base that is zero in some rounds makes the ratios of the others say nothing.
        let zero = base.iter().any(|(_, value)| *value == 0.0);
        let ratios = if zero { Vec::new() } else { paired_ratios(&own, &base) };
        let ratio = Spread::of(&ratios);
        let (own, base) = (median(&own), median(&base));
        let aim = row.aim.and_then(|aim| Some((aim, reached(aim, row.better, own, base, ratio)?)));
        let verdict = verdict(row.better, own, base, &ratios);
        Some(Line { cells, base: workload.base, ratio, verdict, aim })
    }
}

fn reached(
    aim: Aim,
    better: Better,
    own: Option<f64>,
    base: Option<f64>,
    ratio: Option<Spread>,
) -> Option<Reached> {
    let (got, wanted, sure) = match (aim, ratio) {
        (Aim::Ratio(wanted), Some(ratio)) => {
            (as_printed(ratio.median), wanted, !(ratio.low < wanted && wanted < ratio.high))
        }
        (Aim::Ratio(wanted), None) => (own?, wanted * base?, true),
        (Aim::Value(wanted), _) => (own?, wanted, true),
    };
    let met = if better == Better::Less { got <= wanted } else { got >= wanted };
    Some(Reached { met, sure })
}

/// Aims have two digits, and so has what is held against them.
fn as_printed(ratio: f64) -> f64 {
    (100.0 * ratio).round() / 100.0
}

/// Ratios this near to 1 are no difference that a user would notice.
const SAME: f64 = 0.02;

/// The share of the rounds that must agree; of five that is all.
const AGREEING: f64 = 0.9;

/// With fewer rounds than this there is nothing to agree.
const FEWEST_ROUNDS: usize = 3;

fn verdict(better: Better, own: Option<f64>, base: Option<f64>, ratios: &[f64]) -> Verdict {
    if (1..FEWEST_ROUNDS).contains(&ratios.len()) {
        return Verdict::None;
    }
    let (below, above) = match Spread::of(ratios) {
        Some(ratio) => {
            let needed = AGREEING * ratios.len() as f64;
            let agree = |side: fn(f64) -> bool| {
                ratios.iter().filter(|ratio| side(**ratio)).count() as f64 >= needed
            };
            (
                ratio.median < 1.0 - SAME && agree(|ratio| ratio < 1.0),
                ratio.median > 1.0 + SAME && agree(|ratio| ratio > 1.0),
            )
        }
        // A base of zero has no ratio, but it still compares.
        None => match (own, base) {
            (Some(own), Some(base)) => (own < base, own > base),
            _ => return Verdict::None,
        },
    };
    match (better, below, above) {
        (_, false, false) => Verdict::Even,
        (Better::Less, true, _) | (Better::More, _, true) => Verdict::Win,
        _ => Verdict::Loss,
    }
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Win => "**win**",
            Verdict::Even => "even",
            Verdict::Loss => "*loss*",
            Verdict::None => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_that_disagree_are_no_win() {
        let judge = |better, ratios| verdict(better, Some(1.0), Some(1.0), ratios);
        assert!(judge(Better::Less, &[0.8, 0.9, 0.95]) == Verdict::Win);
        assert!(judge(Better::Less, &[0.8, 0.9, 0.9, 0.95, 1.1]) == Verdict::Even);
        assert!(judge(Better::Less, &[0.98, 0.99, 0.99]) == Verdict::Even);
        assert!(judge(Better::Less, &[1.1, 1.2, 1.3]) == Verdict::Loss);
        assert!(judge(Better::More, &[1.1, 1.2, 1.3]) == Verdict::Win);
        assert!(judge(Better::More, &[0.8, 0.9, 0.95]) == Verdict::Loss);
        assert!(judge(Better::Less, &[0.1, 0.1]) == Verdict::None);
    }

    #[test]
    fn a_base_of_zero_still_compares() {
        assert!(verdict(Better::Less, Some(0.0), Some(0.0), &[]) == Verdict::Even);
        assert!(verdict(Better::Less, Some(3.0), Some(0.0), &[]) == Verdict::Loss);
        assert!(verdict(Better::Less, None, Some(0.0), &[]) == Verdict::None);
    }

    #[test]
    fn aims_follow_the_direction() {
        let ratio = Some(Spread { low: 0.2, median: 0.3, high: 0.4 });
        let reached = |aim, better, ratio| {
            let reached = reached(aim, better, Some(9.0), Some(8.0), ratio);
            reached.map(|reached| (reached.met, reached.sure))
        };
        assert_eq!(reached(Aim::Ratio(0.3), Better::Less, ratio), Some((true, false)));
        assert_eq!(reached(Aim::Ratio(0.5), Better::Less, ratio), Some((true, true)));
        assert_eq!(reached(Aim::Ratio(0.31), Better::More, ratio), Some((false, false)));
        assert_eq!(reached(Aim::Value(0.0), Better::Less, None), Some((false, true)));
        assert_eq!(reached(Aim::Ratio(0.31), Better::Less, None), Some((false, true)));
        assert_eq!(reached(Aim::Ratio(1.2), Better::Less, None), Some((true, true)));
        assert_eq!(reached(Aim::Ratio(1.1), Better::More, None), Some((true, true)));
    }
}
