//! Bytes that can be told from all others by their place.

use crate::random::Random;

/// An endless stream of bytes that both ends know.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    random: Random,
    word: [u8; 8],
    used: usize,
}

impl Pattern {
    pub(crate) fn new(key: u64) -> Self {
        Self { random: Random::new(key), word: [0; 8], used: 8 }
    }

    fn next(&mut self) -> u8 {
        if self.used == 8 {
            self.word = self.random.next().to_ne_bytes();
            self.used = 0;
        }
        self.used += 1;
        self.word[self.used - 1]
    }

    /// Returns the next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Returns whether these are the next bytes, and goes past them.
    pub(crate) fn matches(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| *byte == self.next())
    }
}
