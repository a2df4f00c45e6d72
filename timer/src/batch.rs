//! The wakers that a shard takes out of its wheel under one hold of the lock, and how many of them make up a pass.

use std::task::Waker;

use crate::policy::{BATCH_TIMERS, EMPTY_BATCHES_PER_PASS, TIMERS_PER_PASS};

/// One look at all shards by a thread that fires.
pub(crate) struct FiringPass {
    pub(crate) now: u64,
    /// How many more timers it fires.
    pub(crate) timers: usize,
    /// How many more batches without a timer it has.
    pub(crate) empty_batches: usize,
    /// True if it skips timers whose wakers may block, and those behind them in their shards.
    pub(crate) own_only: bool,
    /// True if it has skipped any.
    pub(crate) refused: bool,
}

impl FiringPass {
    pub(crate) fn new(now: u64, own_only: bool) -> Self {
        let (timers, empty_batches) = (TIMERS_PER_PASS, EMPTY_BATCHES_PER_PASS);
        Self { now, timers, empty_batches, own_only, refused: false }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.timers == 0 || self.empty_batches == 0
    }

    /// Returns the size of the next batch, which is zero if the pass is over.
    pub(crate) fn batch(&self) -> usize {
        if self.is_over() { 0 } else { BATCH_TIMERS.min(self.timers) }
    }

    /// Returns the number of timers that were fired.
    pub(crate) fn fired(&self) -> usize {
        TIMERS_PER_PASS - self.timers
    }
}

/// A batch that is being filled.
pub(crate) struct Batch<'a, F> {
    /// How many more fit.
    pub(crate) left: usize,
    /// Returns true for a waker that may block, and so has to be the last one of its batch.
    pub(crate) ends: F,
    /// True if the batch ends before such a waker.
    pub(crate) own_only: bool,
    /// True if a waker was not taken because of that.
    pub(crate) refused: bool,
    pub(crate) fired: &'a mut Vec<Waker>,
}

impl<F: Fn(&Waker) -> bool> Batch<'_, F> {
    /// Returns true if the batch takes the waker of the next timer.
    pub(crate) fn accept(&mut self, waker: Option<&Waker>) -> bool {
        if self.left > 0 && self.own_only && waker.is_some_and(&self.ends) {
            self.left = 0;
            self.refused = true;
        }
        self.left > 0
    }

    pub(crate) fn push(&mut self, waker: Waker) {
        self.left = if (self.ends)(&waker) { 0 } else { self.left - 1 };
        self.fired.push(waker);
    }
}
