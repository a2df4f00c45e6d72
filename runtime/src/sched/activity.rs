//! The activity of a worker, as others see it: a word that only its thread writes.
//!
//! Before that, the thread that starts it writes the word. The word is a hint and orders nothing: the monitor and the
//! threads that push use it to judge how long a worker may take to come back. It is not part of the
//! [status](super::status), because it is written with every join of a task that is in no other, and with every poll in
//! place: with a plain store, where the status needs a read-modify-write.

use crate::primitives::plain::{AtomicU8, Ordering};

/// Set while a thread has the place: from before it is started until it has moved out.
const PRESENT: u8 = 1 << 0;
/// Set while the worker is inside a fork-join root or job, or in a join or scope of a task.
const COMPUTES: u8 = 1 << 1;
/// Set while the split points of the computation are close together. Stays set where the computation is interrupted;
/// cleared at its end.
const FINE: u8 = 1 << 2;
/// Set while the worker is in a call of `block_in_place`. What computes in there may add COMPUTES.
const BLOCKED: u8 = 1 << 3;

/// The activity of a worker. Only the thread in the slot calls the methods that change it.
#[derive(Default)]
pub(crate) struct Activity(AtomicU8);

/// The activity that was interrupted, to go back to.
#[must_use]
#[derive(Clone, Copy)]
pub(crate) struct Interrupted(u8);

impl Activity {
    /// Returns true if a thread works here.
    pub(crate) fn is_present(&self) -> bool {
        self.get() & PRESENT != 0
    }

    /// Returns true if the worker computes.
    pub(crate) fn is_computing(&self) -> bool {
        self.get() & COMPUTES != 0
    }

    /// Returns true if the computation has split points all the time.
    pub(crate) fn is_fine(&self) -> bool {
        self.get() & FINE != 0
    }

    /// Returns true if the worker has said that it is blocked.
    pub(crate) fn is_blocked(&self) -> bool {
        self.get() & BLOCKED != 0
    }

    /// Notes that a thread is about to be started here.
    pub(crate) fn move_in(&self) {
        self.set(PRESENT);
    }

    /// Notes that the thread has left, or could not be started.
    pub(crate) fn move_out(&self) {
        self.set(0);
    }

    /// Notes that the worker computes, from now on or again.
    #[inline]
    pub(crate) fn compute(&self) {
        self.set(self.get() | COMPUTES);
    }

    /// Notes that the worker computes something new, whose split points may or may not be close together.
    pub(crate) fn compute_anew(&self) {
        self.set(self.get() & !FINE | COMPUTES);
    }

    /// Notes whether the split points of the computation are close together.
    pub(crate) fn judge(&self, is_fine: bool) {
        self.set(self.get() & !FINE | if is_fine { FINE } else { 0 });
    }

    /// Notes that the computation is interrupted: what comes next is not a leaf of it.
    #[inline]
    pub(crate) fn interrupt(&self) {
        self.set(self.get() & !COMPUTES);
    }

    /// Notes that the computation is over.
    pub(crate) fn end(&self) {
        self.set(self.get() & (PRESENT | BLOCKED));
    }

    /// Notes that the worker is about to block.
    pub(crate) fn block(&self) -> Interrupted {
        let before = self.get();
        self.set(before & !COMPUTES | BLOCKED);
        Interrupted(before)
    }

    /// Notes that the worker has blocked, and continues with what it did before.
    pub(crate) fn resume(&self, Interrupted(before): Interrupted) {
        self.set(before);
    }

    #[inline(always)]
    fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set(&self, word: u8) {
        self.0.store(word, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_computation_that_is_interrupted_stays_fine() {
        let activity = Activity::default();
        activity.compute();
        activity.judge(true);
        activity.interrupt();
        assert!(!activity.is_computing());
        activity.compute();
        assert!(activity.is_computing() && activity.is_fine());
        activity.compute_anew();
        assert!(activity.is_computing() && !activity.is_fine());
    }

    #[test]
    fn what_blocks_in_a_computation_goes_back_to_it() {
        let activity = Activity::default();
        activity.compute();
        activity.judge(true);
        let interrupted = activity.block();
        assert!(activity.is_blocked() && !activity.is_computing());
        activity.compute();
        activity.end();
        assert!(activity.is_blocked() && !activity.is_computing(), "another ended in there");
        activity.resume(interrupted);
        assert!(activity.is_computing() && activity.is_fine() && !activity.is_blocked());
    }
}
