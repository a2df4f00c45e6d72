//! Medians, quartiles, and ratios between peers of the same round.

/// The middle of some values, and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Median and quartiles; `None` of nothing.
    pub(crate) fn of(values: &[f64]) -> Option<Spread> {
        if values.is_empty() {
            return None;
        }
        let sorted = sorted(values);
        let at = |share| quantile_of_sorted(&sorted, share);
        Some(Spread { low: at(0.25), median: at(0.5), high: at(0.75) })
    }

    /// Of one by each value.
    pub(crate) fn inverted(self) -> Spread {
        Spread { low: 1.0 / self.high, median: 1.0 / self.median, high: 1.0 / self.low }
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    quantile_of_sorted(&sorted(values), 0.5)
}

/// The value below which `share` of all lie, interpolated; 0 of nothing.
pub(crate) fn quantile_of_sorted(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// Value by base value of the same round, for the rounds that have both. A base of zero has no
/// ratio.
pub(crate) fn paired_ratios(values: &[(usize, f64)], base: &[(usize, f64)]) -> Vec<f64> {
    let of_round = |round| base.iter().find(|(other, _)| *other == round).map(|(_, value)| *value);
    values
        .iter()
        .filter_map(|&(round, value)| Some((value, of_round(round)?)))
        .filter(|&(_, base)| base != 0.0)
        .map(|(value, base)| value / base)
        .collect()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let spread = Spread::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(spread, Spread { low: 1.75, median: 2.5, high: 3.25 });
        assert_eq!(Spread::of(&[7.0]), Some(Spread { low: 7.0, median: 7.0, high: 7.0 }));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn ratios_pair_rounds_and_skip_what_has_no_partner() {
        let values = [(0, 1.0), (1, 9.0), (2, 3.0), (3, 5.0)];
        let base = [(2, 6.0), (0, 2.0), (3, 0.0)];
        assert_eq!(paired_ratios(&values, &base), [0.5, 0.5]);
    }
}
