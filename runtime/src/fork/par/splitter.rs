//! How far work is divided.

use crate::context;

/// Items that are always worth a join: it costs a few nanoseconds, and is where a computation can be
/// interrupted.
const MANY: usize = 2048;
/// Pieces for each worker to begin with: enough to even out what pieces differ in cost.
const PIECES: usize = 8;

/// Halves left before work is done in one go, copied along with the halves.
#[derive(Clone, Copy)]
pub(super) struct Splitter {
    workers: usize,
    halves: usize,
    /// On which worker the work was divided last.
    on: Option<usize>,
}

impl Splitter {
    pub(super) fn new() -> Self {
        let (workers, on) = place();
        Self { workers, halves: workers * PIECES, on }
    }

    /// Says whether work of so many items is to be divided, and counts it.
    pub(super) fn splits(&mut self, items: usize) -> bool {
        if items < 2 {
            return false;
        }
        self.was_stolen();
        if self.halves > 0 {
            self.halves /= 2;
            return true;
        }
        items > MANY
    }

    /// A thief came for this work: there may be more where it came from.
    pub(super) fn was_stolen(&mut self) {
        let (workers, on) = place();
        if on != self.on {
            self.on = on;
            self.workers = workers;
            self.halves = self.halves.max(workers * PIECES);
        }
    }
}

/// How many workers there are here, and which one this is.
fn place() -> (usize, Option<usize>) {
    context::with_forker(|worker| match worker {
        Some(worker) => (worker.pool().config.workers, Some(worker.index())),
        None => (2, None),
    })
}
