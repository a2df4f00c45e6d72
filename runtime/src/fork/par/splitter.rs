//! The splitter, which decides how far work is divided.

use crate::context;
use crate::fork::policy::{MANY_ITEMS, PIECES_PER_WORKER};

/// The number of halvings left before work is done in one go. Each half gets a copy.
#[derive(Clone, Copy)]
pub(super) struct Splitter {
    workers: usize,
    halves: usize,
    /// The worker on which the work was divided last.
    on: Option<usize>,
}

impl Splitter {
    pub(super) fn new() -> Self {
        let (workers, on) = place();
        Self { workers, halves: workers * PIECES_PER_WORKER, on }
    }

    /// Returns true if work of this many items has to be divided, and counts that.
    pub(super) fn split(&mut self, items: usize) -> bool {
        if items < 2 {
            return false;
        }
        self.note_theft();
        if self.halves > 0 {
            self.halves /= 2;
            return true;
        }
        items > MANY_ITEMS
    }

    /// Divides further if a thief has taken this work, because there may be more thieves.
    pub(super) fn note_theft(&mut self) {
        let (workers, on) = place();
        if on != self.on {
            self.on = on;
            self.workers = workers;
            self.halves = self.halves.max(workers * PIECES_PER_WORKER);
        }
    }
}

/// Returns the number of workers here, and the index of the current one.
fn place() -> (usize, Option<usize>) {
    context::with_forker(|worker| match worker {
        Some(worker) => (worker.pool().config.workers, Some(worker.index())),
        None => (2, None),
    })
}
