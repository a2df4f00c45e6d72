//! Random input for unit tests: the same in every run.

/// Numbers that only look random (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below the limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Returns the number of seeds to try: more of them if `scripts/fuzz` says so.
pub(crate) fn seeds(usual: u64) -> u64 {
    std::env::var("WINDLASS_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
