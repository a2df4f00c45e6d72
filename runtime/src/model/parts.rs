//! Parts of the scheduler that have models of their own.

use super::Runnable;
use crate::sched;

/// The stack of sleeping workers and the count of searching ones.
pub struct Sleepers(sched::Sleepers);

impl Sleepers {
    /// Creates a stack with all workers awake.
    pub fn new(workers: usize) -> Self {
        Self(sched::Sleepers::new(workers))
    }

    /// Announces that a worker sleeps, and that it has stopped searching if it did.
    pub fn announce(&self, index: usize, searching: bool) {
        self.0.announce(index, sched::SleepPlace::Parker, searching);
    }

    /// Announces, as [`announce`](Self::announce) does, that a worker sleeps in the seat.
    pub fn announce_in_seat(&self, index: usize) {
        self.0.announce(index, sched::SleepPlace::Seat, false);
    }

    /// Removes the worker in the seat, which woke up by itself. Returns false if it was popped.
    pub fn leave_seat(&self, index: usize) -> bool {
        self.0.leave_seat(index)
    }

    /// Pops all sleepers, as searchers, and calls `wake` with each.
    pub fn pop_all(&self, wake: impl FnMut(usize)) {
        self.0.pop_all().map(|popped| popped.index).for_each(wake);
    }

    /// Records that a searcher has found work. Returns true if it was the last searcher.
    pub fn stop_search(&self) -> bool {
        self.0.stop_search()
    }

    /// Pops a sleeper, as a searcher, unless another worker searches.
    pub fn pop(&self) -> Option<usize> {
        self.0.pop().map(|popped| popped.index)
    }

    /// Returns the number of sleeping and of searching workers.
    pub fn counts(&self) -> (usize, usize) {
        (self.0.sleeping(), self.0.searching())
    }
}

/// The flight recorder of one worker, with room for two events.
pub struct Ring(crate::observe::ring::Ring);

impl Ring {
    /// Creates an empty one.
    pub fn new() -> Self {
        Self(crate::observe::ring::Ring::new(false))
    }

    /// Writes an event of three equal words, as the owner does.
    pub fn write(&self, word: u64) {
        self.0.write([word; 3]);
    }

    /// Returns the events that are there.
    pub fn read(&self) -> Vec<[u64; 3]> {
        self.0.read()
    }
}

impl Default for Ring {
    fn default() -> Self {
        Self::new()
    }
}

/// The place for the task just woken.
pub struct LifoSlot(sched::LifoSlot);

impl LifoSlot {
    /// Creates an empty place.
    pub fn new() -> Self {
        Self(sched::LifoSlot::new())
    }

    /// Puts a task in, as the owner does, and returns the one that was there.
    pub fn put(&self, runnable: Runnable) -> Option<Runnable> {
        self.0.put(runnable.0).map(Runnable)
    }

    /// Takes the task out.
    pub fn take(&self) -> Option<Runnable> {
        self.0.take().map(Runnable)
    }
}

impl Default for LifoSlot {
    fn default() -> Self {
        Self::new()
    }
}
