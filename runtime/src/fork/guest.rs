//! Guests: threads outside the pool that run their own fork-join calls, in a slot of the pool.
//!
//! A guest has what a worker has for fork-join: its own pending joins and spawned jobs, and the [`Slot`] in which others
//! see its offers and its sleep in a join. Workers steal from it as from each other. A guest in turn
//!
//! - polls no tasks, and is never on the sleepers' stack;
//! - runs what its own call has forked and nothing else: the thread may hold locks that a stranger's job waits for.
//!   When all of that is stolen it waits, and is woken by `latch_was_set` alone;
//! - is the current *forker* of its thread and not its worker: what it spawns, wakes or blocks on is handled as for any
//!   thread outside.
//!
//! # Places
//!
//! There are a few places, and a word with a bit for each that is free. A thread claims one with a compare-and-swap
//! (`Acquire`) and returns it with `Release`, so it finds the slot as the last guest has left it: without pending joins
//! or jobs, because those end before the call does. If none is free, the call moves to a worker.
//!
//! A worker that looks for jobs skips the guests' slots while none is claimed, or made. It misses no job: a guest
//! claims its slot, and makes the slots if it is the first guest, before it offers, and the offer's fence comes after
//! all of that.
//!
//! # Room
//!
//! A guest computes in addition to the workers, which are already enough for the CPUs. With one thread more than CPUs,
//! the threads take turns, and what one of them has stolen is late: the game of life, in a scope of a thread outside,
//! took 1.41 times as long as with rayon, and now takes 1.21 times. So while there are guests, a worker that has
//! nothing to do steals, and is woken for jobs, only if fewer threads compute than there are workers. A thread that the
//! monitor has seen stalled does not count: it may be blocked, and wait for a job that a worker would have to take. A
//! worker that was not woken for lack of room is woken at the next split point, or by the monitor.
//!
//! # The monitor
//!
//! It stays on while a slot is claimed, although all workers may sleep, because it wakes them for a guest in a long
//! leaf. The thread that switches it off stores *off*, passes a fence, and looks for guests; a guest offers, passes a
//! fence, and looks whether the monitor is on.

use std::sync::OnceLock;
use std::time::Instant;

use crossbeam_utils::CachePadded;

use crate::context::{self, Role};
use crate::primitives::{Arc, AtomicUsize, Ordering};
use crate::sched::policy::GUESTS;
use crate::sched::{Pool, Slot, Worker};

/// The slots for guests of one pool.
pub(crate) struct Guests {
    /// Made for the first guest, because most runtimes have none.
    slots: OnceLock<Box<[Arc<CachePadded<Slot>>]>>,
    count: usize,
    /// A bit for each slot that is free.
    free: AtomicUsize,
}

impl Guests {
    pub(crate) fn new(count: usize) -> Self {
        let count = count.min(GUESTS.1);
        let guests = Self { slots: OnceLock::new(), count, free: AtomicUsize::new(mask(count)) };
        if cfg!(loom) {
            // Models do not see the order of the lock.
            guests.made();
        }
        guests
    }

    /// Returns all slots, and makes them if they do not exist yet.
    fn made(&self) -> &[Arc<CachePadded<Slot>>] {
        let slot = |_| Arc::new(CachePadded::new(Slot::new(false)));
        self.slots.get_or_init(|| (0..self.count).map(slot).collect())
    }

    /// Returns the slots to look for jobs in, which are none as long as there are no guests.
    pub(crate) fn in_use(&self) -> &[Arc<CachePadded<Slot>>] {
        // Relaxed: see the head of this file.
        let any = self.free.load(Ordering::Relaxed) != mask(self.count);
        if any { self.slots() } else { &[] }
    }

    /// Returns all slots, claimed or not; none before the first guest.
    pub(crate) fn slots(&self) -> &[Arc<CachePadded<Slot>>] {
        self.slots.get().map_or(&[], |slots| slots)
    }

    pub(crate) fn slot(&self, index: usize) -> &Arc<CachePadded<Slot>> {
        &self.made()[index]
    }

    fn claim(&self) -> Option<usize> {
        let mut free = self.free.load(Ordering::Relaxed);
        while free != 0 {
            let rest = free & (free - 1);
            // Acquire pairs with the Release in `give_back`.
            match self.free.compare_exchange_weak(free, rest, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Some(free.trailing_zeros() as usize),
                Err(changed) => free = changed,
            }
        }
        None
    }

    fn give_back(&self, index: usize) {
        // Release pairs with the Acquire in `claim`.
        self.free.fetch_or(1 << index, Ordering::Release);
    }
}

fn mask(count: usize) -> usize {
    // A word cannot be shifted by as many slots as it has bits.
    1_usize.checked_shl(count as u32).map_or(usize::MAX, |end| end - 1)
}

/// A claimed slot, with the caller's thread in it.
pub(super) struct Guest {
    /// Always there, except in `drop`.
    worker: Option<Worker>,
}

impl Guest {
    /// Claims a slot of the current runtime, if that has workers to share the work with, still accepts work, and has a
    /// slot left.
    pub(super) fn claim() -> Option<Self> {
        // Workers that are stuck rely on the poller's thread, so it must not compute.
        if context::role() == Role::Poller {
            return None;
        }
        context::with_pool(Self::claim_in)
    }

    pub(super) fn claim_in(pool: &Arc<Pool>) -> Option<Self> {
        if pool.poller().is_manual() || pool.is_closing() {
            return None;
        }
        Self::claim_slot(pool)
    }

    /// Claims a slot, whatever state the pool is in.
    pub(super) fn claim_slot(pool: &Arc<Pool>) -> Option<Self> {
        let index = pool.guests.claim()?;
        pool.guests.slot(index).counters.splits.bump();
        let worker = Worker::new(pool.clone(), pool.slots.len() + index);
        // It cannot be `None`, because the thread that has claimed the slot is alone there.
        let worker = worker?;
        // Short slices are for our own threads.
        worker.computation.keep_slices();
        Some(Self { worker: Some(worker) })
    }

    /// Runs `f` as the caller's part of the work.
    pub(super) fn run<R>(&self, f: impl FnOnce(&Worker) -> R) -> R {
        let worker = self.worker.as_ref().expect("there until the drop");
        context::enter_forker(worker, || f(worker))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let Some(worker) = self.worker.take() else { return };
        let (pool, index) = (worker.pool().clone(), worker.index() - worker.pool().slots.len());
        if let Some(lasted) = worker.computation.lasted_whole(Instant::now()) {
            pool.forecast.took(lasted);
        }
        worker.slot().activity.end();
        worker.move_out();
        pool.guests.give_back(index);
    }
}

impl Pool {
    /// Returns the slot of a worker, a spare or a guest.
    pub(crate) fn fork_slot(&self, index: usize) -> &Arc<CachePadded<Slot>> {
        match self.slots.get(index) {
            Some(slot) => slot,
            None => self.guests.slot(index - self.slots.len()),
        }
    }

    /// Returns true while a thread that is not counted among the workers may have jobs for them: a guest, or the thread
    /// that has become a worker without being started as one.
    pub(crate) fn has_caller(&self) -> bool {
        let offers =
            |slot: &Arc<CachePadded<Slot>>| !slot.activity.is_present() && !slot.offers.is_empty();
        !self.guests.in_use().is_empty() || self.slots.iter().any(offers)
    }

    /// Returns true if there is a CPU for one more thread that computes: see *Room*.
    pub(crate) fn has_room(&self) -> bool {
        let computes = |slot: &&Arc<CachePadded<Slot>>| {
            slot.activity.is_computing() && !slot.is_asleep() && !slot.is_seen_stalled()
        };
        let most = self.config.workers.max(self.config.cpus);
        let computing = || self.fork_slots().filter(computes).take(most).count();
        self.guests.in_use().is_empty() || computing() < most
    }

    /// Returns all slots in which there may be jobs to take.
    pub(crate) fn fork_slots(&self) -> impl Iterator<Item = &Arc<CachePadded<Slot>>> {
        self.slots.iter().chain(self.guests.in_use())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Where a word has 32 bits, the largest possible number of slots left none, or panicked in a debug build.
    #[test]
    fn there_may_be_as_many_slots_as_bits_in_a_word() {
        assert_eq!((mask(0), mask(4)), (0, 0b1111));
        assert_eq!(mask(usize::BITS as usize), usize::MAX);
    }
}
