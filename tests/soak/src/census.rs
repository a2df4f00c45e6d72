//! The process after each round: what has to be as it was.

use std::fmt;

use crate::ledger::{fail, wait_until};
use crate::{heap, sys};

/// Rounds until everything that is made once has been made.
const WARM_UP: usize = 10;

/// Bytes by which the heap may differ between two rounds: a queue or a table of the global runtime that has grown.
const SLACK: isize = 256 << 10;

/// Bytes by which the heap may grow from the beginning of a run to its end.
const GROWTH: isize = 32 << 10;

/// Looks at the process after each round.
#[derive(Debug)]
pub(crate) struct Census {
    threads: Option<usize>,
    descriptors: Option<usize>,
    /// The heap after each round.
    heap: Vec<isize>,
}

impl Census {
    pub(crate) fn new() -> Self {
        Self {
            threads: sys::threads(),
            descriptors: sys::descriptors(),
            heap: Vec::with_capacity(1 << 20),
        }
    }

    /// Waits until threads and descriptors are as they were, and compares the heap.
    pub(crate) fn take(&mut self) {
        wait_until(|| sys::threads() <= self.threads, || "threads are left".to_owned());
        wait_until(|| sys::descriptors() <= self.descriptors, || "descriptors are left".to_owned());
        let bytes = heap::bytes();
        if self.heap.len() < self.heap.capacity() {
            self.heap.push(bytes);
        }
        let most = self.heap.iter().take(WARM_UP).max().copied().unwrap_or(bytes);
        if bytes > most + SLACK {
            fail(&format!("memory is left after a round: {bytes} bytes, {most} at the beginning"));
        }
    }

    /// Compares the last rounds with the first ones.
    pub(crate) fn close(&self) {
        let (first, last) = self.ends();
        if self.heap.len() > 4 * WARM_UP && last > first + GROWTH {
            fail(&format!("memory grows: {first} bytes in the first rounds, {last} in the last"));
        }
    }

    /// The median of the first rounds after those that warm up, and that of the last rounds.
    fn ends(&self) -> (isize, isize) {
        let median = |rounds: &[isize]| {
            let mut rounds = rounds.to_vec();
            rounds.sort_unstable();
            rounds.get(rounds.len() / 2).copied().unwrap_or_default()
        };
        let length = self.heap.len();
        let first = length.min(WARM_UP)..length.min(2 * WARM_UP);
        (median(&self.heap[first]), median(&self.heap[length.saturating_sub(WARM_UP)..]))
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<usize>| value.map_or("?".to_owned(), |value| value.to_string());
        let (first, last) = self.ends();
        write!(
            f,
            "{} rounds; threads {}, descriptors {}, heap {last} bytes ({first} at the beginning), resident {} KiB",
            self.heap.len(),
            number(sys::threads()),
            number(sys::descriptors()),
            number(sys::resident()),
        )
    }
}
