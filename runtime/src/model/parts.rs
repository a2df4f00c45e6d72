//! Parts of the scheduler that are modelled by themselves.

use super::Runnable;
use crate::sched;

/// Who sleeps and who searches.
pub struct Sleepers(sched::Sleepers);

impl Sleepers {
    /// Everybody awake.
    pub fn new(workers: usize) -> Self {
        Self(sched::Sleepers::new(workers))
    }

    /// A worker announces that it sleeps, and stops searching if it did.
    pub fn announce(&self, index: usize, searching: bool) {
        self.0.announce(index, sched::Place::Parker, searching);
    }

    /// As [`announce`](Self::announce), in the seat.
    pub fn announce_in_seat(&self, index: usize) {
        self.0.announce(index, sched::Place::Seat, false);
    }

    /// The worker in the seat wakes up by itself; false if it was popped.
    pub fn leave_seat(&self, index: usize) -> bool {
        self.0.leave_seat(index)
    }

    /// Takes all sleepers off the stack, as searchers, and gives them to `wake` one by one.
    pub fn pop_all(&self, wake: impl FnMut(usize)) {
        self.0.pop_all().map(|popped| popped.index).for_each(wake);
    }

    /// A searcher has found work; true if it was the last.
    pub fn stop_search(&self) -> bool {
        self.0.stop_search()
    }

    /// Takes a sleeper off the stack, as a searcher, unless somebody searches.
    pub fn pop(&self) -> Option<usize> {
        self.0.pop().map(|popped| popped.index)
    }

    /// How many sleep and how many search.
    pub fn counts(&self) -> (usize, usize) {
        (self.0.sleeping(), self.0.searching())
    }
}

/// The place for the task just woken.
pub struct LifoSlot(sched::LifoSlot);

impl LifoSlot {
    /// An empty place.
    pub fn new() -> Self {
        Self(sched::LifoSlot::new())
    }

    /// Puts a task in, by the owner, and gives the one that was there.
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
