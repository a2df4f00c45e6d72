//! The common part of the targets: bytes as a list of steps.

/// Bytes that are used up from the front. What is left out at the end is zero.
#[derive(Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Begins at the front.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the next step, until there are no more.
    pub fn step(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Returns the next byte as an index below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::from(self.step().unwrap_or(0)) % limit
    }

    /// Returns a number of any size: small ones and powers of two are as likely as large ones.
    pub fn number(&mut self) -> u64 {
        let shift = u32::from(self.step().unwrap_or(0)) % 64;
        let bits = (0..8).fold(0_u64, |bits, _| bits << 8 | u64::from(self.step().unwrap_or(0)));
        bits >> shift
    }
}
