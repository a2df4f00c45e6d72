//! Spares: how the monitor sends for one, what a worker leaves to its spare, and how the spare is dismissed.
//!
//! `README.md` in this folder has the protocol. How threads are started and what slots are is elsewhere. This is what
//! the monitor, the relieved worker and the spare tell each other, in the [status](super::status) of their slots.

use super::monitor::Monitor;
use super::policy::SPARE_LINGERS;
use super::pool::Pool;
use super::slot::Slot;
use super::status::Duty;
use super::worker::Worker;
use crate::primitives::{Arc, Ordering, fence};

/// The relief of one worker: the spare that stands in for it, if one does.
pub(crate) struct Relief<'a> {
    pool: &'a Pool,
    relieved: &'a Slot,
}

impl<'a> Relief<'a> {
    /// Returns the relief of the worker, or the spare, in a slot of the pool.
    pub(super) fn of(pool: &'a Pool, relieved: &'a Slot) -> Self {
        Self { pool, relieved }
    }

    fn spare(&self) -> Option<&'a Slot> {
        let spare = self.relieved.status.read().spare()?;
        Some(&self.pool.slots[spare])
    }

    /// Returns true if there is a spare, and it came for tasks.
    pub(crate) fn has_spare_for_tasks(&self) -> bool {
        self.spare().is_some_and(|spare| spare.status.read().is_for_tasks())
    }

    /// Returns a count that stands still while the spare is held up in a poll, or `None` if it is in no poll.
    pub(crate) fn progress_of_spare(&self) -> Option<u64> {
        Some(self.spare()?.progress()).filter(|progress| progress % 2 == 1)
    }

    /// Dismisses the spare. Returns true if there was one.
    fn dismiss_spare(&self) -> bool {
        let Some(spare) = self.relieved.status.take_spare() else { return false };
        self.pool.slots[spare].status.dismiss();
        // Partner of the fence in `Worker::sleep`.
        fence(Ordering::SeqCst);
        self.pool.wake_all();
        true
    }
}

impl Monitor {
    /// Starts a spare for a worker that is stuck, if it has none and one is left.
    pub(crate) fn relieve(&mut self, pool: &Arc<Pool>, stuck: usize) {
        let relieved = &pool.slots[stuck];
        if relieved.status.read().spare().is_some() || self.somebody_searches(pool) {
            return;
        }
        let duty = if relieved.activity.is_computing() { Duty::Tasks } else { Duty::Everything };
        let mut slots = pool.config.workers..pool.slots.len();
        let claimed = slots.find(|&index| {
            let Slot { activity, status, .. } = &**pool.slots[index];
            !activity.is_present() && status.claim(duty)
        });
        let Some(spare) = claimed else { return };
        relieved.status.note_spare(spare);
        // Partner of the fence in `Worker::sleep`: a worker that has come back and gone to sleep
        // finds its relief there, or is seen here to have come back.
        fence(Ordering::SeqCst);
        let came_back = relieved.progress() != self.seen[stuck].0;
        // If no thread is available, the next look tries again.
        let sent = !came_back && super::start_worker(pool, spare).is_ok();
        if !sent && relieved.status.take_spare().is_some() {
            // The slot is vacant again. If the worker was faster, it is vacant once the worker has done this.
            pool.slots[spare].status.dismiss();
        }
    }

    /// Returns true if a worker that is not stalled searches.
    fn somebody_searches(&self, pool: &Pool) -> bool {
        let stalled = pool.slots.iter().filter(|slot| slot.is_seen_stalled() && !slot.is_polling());
        pool.sleepers.searching() > stalled.count()
    }

    /// Dismisses spares that linger after a computation, because nothing goes on any more. Returns true if there were
    /// any.
    pub(super) fn dismiss_spares(&self, pool: &Pool) -> bool {
        let mut any = false;
        for slot in &pool.slots {
            any |= Relief::of(pool, slot).dismiss_spare();
        }
        any
    }
}

impl Worker {
    /// Returns true if the runtime ends and every task is gone, or if a spare is not needed any more.
    pub(crate) fn may_leave(&self) -> bool {
        self.must_retire() || self.pool.is_over()
    }

    pub(super) fn must_retire(&self) -> bool {
        self.slot().status.read_own().must_retire()
    }

    /// Puts what is left into the injector, for others to run.
    pub(crate) fn hand_over(&self) {
        while let Some(runnable) = self.take_own() {
            self.pool.push(runnable);
        }
    }

    /// Dismisses the spare that stood in for this worker, unless the next leaf of a computation would
    /// need it again at once.
    pub(super) fn end_relief(&self) {
        if !(self.relief().has_spare_for_tasks() && self.computed_within(SPARE_LINGERS)) {
            self.dismiss_own_spare();
        }
    }

    pub(crate) fn relief(&self) -> Relief<'_> {
        Relief::of(&self.pool, self.slot())
    }

    /// Returns true if this worker leaves tasks to the spare that came for them, until it is woken. Having computed for
    /// long, it runs only when the OS has nothing better to run, and so would the tasks that it takes.
    pub(crate) fn leaves_tasks(&self) -> bool {
        !self.woken.get() && self.relief().has_spare_for_tasks()
    }

    /// Returns false for a spare that came for tasks, because while it computed, nobody would look after them; and for
    /// any spare if jobs are reserved for the workers.
    pub(crate) fn may_compute(&self) -> bool {
        let is_for_tasks = self.slot().status.read().is_for_tasks();
        !(is_for_tasks || self.leaves_jobs()) || self.pool.is_closing()
    }

    /// Returns true for a spare that runs no jobs of others.
    pub(crate) fn leaves_jobs(&self) -> bool {
        !self.is_regular()
            && !self.is_guest()
            && self.pool.has_reserved_jobs()
            && !self.pool.is_closing()
    }

    pub(crate) fn dismiss_own_spare(&self) {
        self.relief().dismiss_spare();
    }
}

/// Called when a worker is stuck in something other than a computation. If a spare came for its tasks while it
/// computed, that spare stands in for it in everything from now on. If only another worker has a spare, and nobody else
/// is there for a root or a posted job that waits, that other spare does so.
pub(super) fn let_spare_compute(pool: &Pool, stuck: usize) {
    let own = pool.slots[stuck].status.read().spare();
    let for_tasks = |&index: &usize| {
        let slot = &pool.slots[index];
        slot.activity.is_present() && slot.status.read().is_for_tasks()
    };
    let any = || (pool.config.workers..pool.slots.len()).find(for_tasks);
    let posted = pool.posted.is_for_any() && !pool.has_reserved_jobs();
    let waits = pool.has_root() || posted;
    let spare = own.or_else(|| if waits && !pool.has_thief() { any() } else { None });
    if let Some(spare) = spare {
        pool.slots[spare].status.widen_duty();
    }
}
