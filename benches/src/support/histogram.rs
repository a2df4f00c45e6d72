//! Latencies counted in buckets that grow with them: no allocation and no sorting while it counts,
//! and no figure more than 0.8 % off.

/// Buckets of each power of two.
const PER_OCTAVE: u64 = 128;
/// Below this, each nanosecond has a bucket.
const EXACT: u64 = 2 * PER_OCTAVE;
const OCTAVES: u64 = (u64::BITS - EXACT.trailing_zeros()) as u64;

pub(crate) struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    max: u64,
}

impl Histogram {
    pub(crate) fn new() -> Histogram {
        let buckets = EXACT + OCTAVES * PER_OCTAVE;
        Histogram { buckets: vec![0; buckets as usize], count: 0, max: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        self.buckets[bucket(value)] += 1;
        self.count += 1;
        self.max = self.max.max(value);
    }

    /// The buckets that hold something, with what they hold.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (u64, u64)> {
        let places = self.buckets.iter().enumerate();
        places.filter(|(_, count)| **count > 0).map(|(place, count)| (place as u64, *count))
    }

    /// Adds to a bucket; `None` if there is no such bucket.
    pub(crate) fn add(&mut self, place: u64, count: u64) -> Option<()> {
        *self.buckets.get_mut(usize::try_from(place).ok()?)? += count;
        self.count += count;
        Some(())
    }

    pub(crate) fn raise_max(&mut self, value: u64) {
        self.max = self.max.max(value);
    }

    pub(crate) fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// The value that `share` of all do not exceed, to the middle of its bucket; 0 of nothing.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (place, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return middle(place as u64);
            }
        }
        0.0
    }
}

fn bucket(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    // The highest bit says which octave, the seven below it which bucket.
    let octave = u64::from(value.ilog2()) - u64::from(EXACT.ilog2());
    let within = (value >> (octave + 1)) - PER_OCTAVE;
    (EXACT + octave * PER_OCTAVE + within) as usize
}

fn middle(place: u64) -> f64 {
    if place < EXACT {
        return place as f64;
    }
    let (octave, within) = ((place - EXACT) / PER_OCTAVE, (place - EXACT) % PER_OCTAVE);
    (PER_OCTAVE + within) as f64 * 2f64.powi(octave as i32 + 1) + 2f64.powi(octave as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_near_the_middle_of_its_bucket() {
        let mut value: u64 = 1;
        while value < 1 << 60 {
            for near in [value - 1, value, value + 1] {
                let off = (middle(bucket(near) as u64) - near as f64).abs();
                assert!(off <= 0.008 * near as f64, "{near} is off by {off}");
            }
            value = value * 9 / 8 + 1;
        }
        assert!(bucket(u64::MAX) < Histogram::new().buckets.len());
    }

    #[test]
    fn buckets_are_in_order() {
        let places: Vec<usize> = (0..10_000).map(bucket).collect();
        assert!(places.windows(2).all(|pair| pair[1] == pair[0] || pair[1] == pair[0] + 1));
    }

    #[test]
    fn quantiles_count_from_below() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.quantile(0.5), 0.0);
        for value in 1..=100 {
            histogram.record(value);
        }
        assert_eq!(histogram.quantile(0.5), 50.0);
        assert_eq!(histogram.quantile(0.99), 99.0);
        assert_eq!(histogram.quantile(1.0), 100.0);
        assert_eq!((histogram.count(), histogram.max()), (100, 100));
    }
}
