//! Numbers that only look random: the same seed makes the same choices.

use std::ops::Range;
use std::time::Duration;

/// A generator of numbers (splitmix64).
///
/// [`fork`](Self::fork) makes another one. With one each, activities that run concurrently make the
/// same choices in whatever order they run.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a generator whose numbers have nothing to do with those to come of this one.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// Returns a number of the range.
    pub(crate) fn within(&mut self, range: Range<usize>) -> usize {
        range.start + (self.next() % (range.end - range.start) as u64) as usize
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.within(0..100) < percent
    }

    /// Returns a time whose microseconds are in the range.
    pub(crate) fn micros(&mut self, range: Range<usize>) -> Duration {
        Duration::from_micros(self.within(range) as u64)
    }
}
