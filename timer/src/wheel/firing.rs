//! The end of a slot whose time has come: its timers fire, or cascade to lower levels.

use std::task::Waker;

use super::Wheel;
use crate::batch::Batch;
use crate::policy::{BASE_LEVEL, SCANNED_TIMERS};
use crate::slots::{DUE, level_of};

impl Wheel {
    /// Fires the timers of a list until the batch is full. Returns false if more are left.
    pub(super) fn fire_list(
        &mut self,
        list: usize,
        batch: &mut Batch<'_, impl Fn(&Waker) -> bool>,
    ) -> bool {
        while let Some(index) = self.slots.first(list) {
            if !batch.accept(self.entries[index].waker.as_ref()) {
                return false;
            }
            self.fire(index, batch);
        }
        true
    }

    fn fire(&mut self, index: u32, batch: &mut Batch<'_, impl Fn(&Waker) -> bool>) {
        self.unlink(index);
        self.armed -= 1;
        if let Some(waker) = self.entries[index].waker.take() {
            batch.push(waker);
        }
    }

    /// Fires the timers in a slot of the base level that are due, until the batch is full. Those that are left are
    /// moved to the list of due timers, in the order in which they have to fire.
    pub(super) fn scan(
        &mut self,
        list: usize,
        time: u64,
        batch: &mut Batch<'_, impl Fn(&Waker) -> bool>,
    ) -> Scan {
        let mut due = [(0, 0); SCANNED_TIMERS];
        let mut found = 0;
        for (seen, index) in self.slots.all(&self.entries, list).enumerate() {
            if seen == SCANNED_TIMERS {
                return Scan::Crowded;
            }
            let deadline = self.entries[index].deadline;
            if deadline <= time {
                due[found] = (deadline, index);
                found += 1;
            }
        }
        if found == 0 {
            return Scan::NothingDue;
        }
        let due = &mut due[..found];
        // Stable: equal times stay in the order of arming.
        due.sort_by_key(|(deadline, _)| *deadline);
        for &(_, index) in &*due {
            if batch.accept(self.entries[index].waker.as_ref()) {
                self.fire(index, batch);
            } else {
                self.unlink(index);
                self.push(index, DUE);
            }
        }
        Scan::Due
    }

    /// Moves the timers of a slot whose time has come to lower levels, in order, up to `most`. Returns false if more
    /// are left.
    pub(super) fn cascade(&mut self, list: usize, most: &mut usize) -> bool {
        let floor = if level_of(list) <= BASE_LEVEL { 0 } else { BASE_LEVEL };
        while let Some(index) = self.slots.first(list) {
            if *most == 0 {
                return false;
            }
            *most -= 1;
            self.unlink(index);
            let place = self.place(self.entries[index].deadline, floor);
            self.push(index, place);
        }
        self.cascading = None;
        true
    }
}

/// The result of [`Wheel::scan`].
pub(super) enum Scan {
    Due,
    NothingDue,
    Crowded,
}
