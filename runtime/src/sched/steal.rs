//! Takes tasks from other workers: from which, in which order, and when that is worth the trouble.

use std::cell::Cell;

use super::policy::SMALL_BACKLOG;
use super::slot::Slot;
use super::worker::Worker;
use crate::task::Runnable;

/// The order in which a worker tries the others: each once, starting at a random one, so that thieves spread.
pub(crate) struct StealOrder(Cell<u32>);

impl StealOrder {
    pub(super) fn new(index: usize) -> Self {
        // Never zero, which would stay zero.
        Self(Cell::new(index as u32 * 2 + 1))
    }

    /// Returns the place to begin with, out of this many.
    pub(crate) fn start(&self, places: usize) -> usize {
        // xorshift: good enough to spread thieves.
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.0.set(x);
        x as usize % places
    }
}

/// Takes tasks of another worker into the queue of this one, and returns the first.
pub(crate) fn task(thief: &Worker) -> Option<Runnable> {
    let from_backlog = |victim: &Slot| take_from_backlog(thief, victim);
    try_all(thief, from_backlog).or_else(|| try_all(thief, take_from_stuck))
}

/// Tries every other slot once.
fn try_all(thief: &Worker, take: impl Fn(&Slot) -> Option<Runnable>) -> Option<Runnable> {
    let slots = &thief.pool.slots;
    let start = thief.steal_order.start(slots.len());
    let (after, before) = (&slots[start..], &slots[..start]);
    let mut place = start;
    let stolen = after
        .iter()
        .chain(before)
        .filter(|slot| !std::ptr::eq(&****slot, thief.slot()))
        .find_map(|slot| take(slot).inspect(|_| place = place_of(thief, slot)))?;
    thief.slot().counters.steals.bump();
    thief.observer.note_steal(place);
    Some(stolen)
}

/// Takes half of a worker's queue, if that is worth the trouble: tasks that the owner will have done in a moment are
/// better left to it.
fn take_from_backlog(thief: &Worker, victim: &Slot) -> Option<Runnable> {
    // A single task is not a backlog if its worker is between two polls, because it is about to take it.
    let at_once = victim.stealer.len() == 1 && !victim.is_polling();
    let is_small = at_once || victim.backlog() < SMALL_BACKLOG.as_nanos() as u64;
    if victim.stealer.is_empty() || (is_small && victim.makes_progress_soon()) {
        return None;
    }
    victim.stealer.steal_into(&thief.queue)
}

/// Takes the task in a worker's LIFO slot, if the worker does not get to it. A worker that makes progress is about to
/// run it, with its cache warm.
fn take_from_stuck(victim: &Slot) -> Option<Runnable> {
    if victim.lifo.is_empty() || victim.makes_progress_soon() { None } else { victim.lifo.take() }
}

/// Returns the index of a slot. Looked for only after a theft, because a search tries many slots in vain.
#[cold]
fn place_of(thief: &Worker, slot: &Slot) -> usize {
    let is_it = |other: &Slot| std::ptr::eq(other, slot);
    thief.pool.slots.iter().position(|other| is_it(other)).unwrap_or_default()
}
