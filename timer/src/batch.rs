//! The wakers that a shard takes out of its wheel under one hold of the lock.

use std::task::Waker;

/// A batch that is being filled.
pub(crate) struct Batch<'a, F> {
    /// How many more fit.
    pub(crate) left: usize,
    /// Returns true for a waker that has to be the last one of its batch.
    pub(crate) ends: F,
    pub(crate) fired: &'a mut Vec<Waker>,
}

impl<F: Fn(&Waker) -> bool> Batch<'_, F> {
    pub(crate) fn push(&mut self, waker: Waker) {
        self.left = if (self.ends)(&waker) { 0 } else { self.left - 1 };
        self.fired.push(waker);
    }
}
