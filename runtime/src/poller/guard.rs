//! What the workers, who should look at the OS, and the poller's thread, which stands guard over that, let each other
//! know. What the thread makes of it is in `thread.rs`.

use super::{Ordering, Plain, Poller};

impl Poller {
    /// Somebody looks.
    pub(super) fn is_looking(&self) {
        self.harvests.fetch_add(1, Plain::Relaxed);
        self.no_longer_neglected();
    }

    pub(super) fn no_longer_neglected(&self) {
        if self.is_neglected() {
            self.neglected.store(false, Plain::Relaxed);
        }
    }

    /// True for a worker that is called because nobody looks: it is to look, whoever else is awake. It
    /// sees this, for it was called afterwards.
    pub(crate) fn is_neglected(&self) -> bool {
        self.neglected.load(Plain::Relaxed)
    }

    /// Has a test's poller believe that nobody looks.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn neglect(&self, sources: usize) {
        self.registered.store(sources, Plain::Relaxed);
        self.neglected.store(true, Plain::Relaxed);
    }

    /// How often anybody has looked.
    pub(super) fn harvests(&self) -> u64 {
        self.harvests.load(Plain::Relaxed)
    }

    /// True if the thread looks after the workers that should harvest, without having to be told.
    pub(crate) fn is_on_guard(&self) -> bool {
        self.on_guard.load(Ordering::Relaxed)
    }

    /// A worker has left its seat, and the timers with it: the thread must see to it that somebody harvests
    /// from now on.
    pub(super) fn want_guard(&self) {
        if !self.in_use() {
            // Timers alone are no reason: see `leave_timers`. The first source arms the gate.
            return;
        }
        // The fence in `Timers::leave`, which our caller has passed, is the partner of the one in the thread's
        // loop: either the thread sees that nobody sits, or we see that it is not on guard.
        if !self.is_on_guard() && !self.guard_wanted.swap(true, Ordering::Relaxed) {
            self.kick();
        }
    }

    pub(super) fn set_on_guard(&self, on_guard: bool) {
        self.on_guard.store(on_guard, Ordering::Relaxed);
    }
}
