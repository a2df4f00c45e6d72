//! The worker as a thief: what its last looks for jobs of others have found.

use std::cell::Cell;

use super::policy::STEALS_PER_POSTED;

/// One worker's record of what it has stolen, and of what it has left to the owner.
#[derive(Default)]
pub(super) struct Thief {
    /// True if the last thing run was a stolen job.
    stole: Cell<bool>,
    /// True if the last look for jobs of others found crumbs.
    left_crumbs: Cell<bool>,
    /// Looks for jobs in waits.
    looks: Cell<u32>,
}

impl Thief {
    /// Notes that a stolen job has been run.
    pub(super) fn note_job(&self) {
        self.stole.set(true);
    }

    /// Returns true, once, if a stolen job was the last thing run.
    pub(super) fn take_note(&self) -> bool {
        self.stole.take()
    }

    /// Notes that a look for jobs of others begins.
    pub(super) fn begin_look(&self) {
        self.left_crumbs.set(false);
    }

    /// Notes that this look has found a job that its owner does sooner than a thief would.
    pub(super) fn leave_crumbs(&self) {
        self.left_crumbs.set(true);
    }

    /// Counts a look for a job in a wait. Returns true if posted jobs come first this time.
    pub(super) fn is_turn_of_posted(&self) -> bool {
        let looks = self.looks.get().wrapping_add(1);
        self.looks.set(looks);
        looks % STEALS_PER_POSTED == 0
    }

    /// Returns true if the last look found crumbs.
    pub(super) fn has_left_crumbs(&self) -> bool {
        self.left_crumbs.get()
    }
}
