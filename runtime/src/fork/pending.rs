//! A worker's own fork-join work: the joins it is inside of, and the jobs it has spawned.
//!
//! The joins are touched by their worker only, and one of them at a time goes into the [`Offer`]. In a computation that
//! is not known to be fine-grained, the others follow it into a list that thieves can reach. Spawned jobs lie where
//! others can take them from the start. The rules, and what follows from offering the oldest first, are in `README.md`.

use std::cell::{Cell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use super::job::{Job, JobRef};
use super::offer::Offer;
use super::policy::{FIRST_COUNT, FIRST_PLACES};
use super::spawned::{Spawned, SpawnedJobs, SpawnedStealer};
use crate::primitives::{Arc, hint};
use crate::sched::policy::TIMELESS;

/// The owner's side of its pending joins and spawned jobs.
pub(crate) struct Pending {
    offer: Arc<CachePadded<Offer>>,
    /// Pointers to the pending joins, oldest first, up to `top`.
    places: UnsafeCell<Box<[Cell<*mut Job>]>>,
    top: Cell<usize>,
    /// The first that has not been offered.
    private: Cell<usize>,
    /// Joins and spawns left before the clock is read.
    count: Cell<u32>,
    /// Pending joins that others may take: younger than the one in the offer, older than the private ones.
    joins: SpawnedJobs,
    /// The other end of `joins`.
    oldest_join: SpawnedStealer,
    /// Spawned jobs, except the one in the offer.
    spawned: SpawnedJobs,
    /// The other end of `spawned`.
    oldest: SpawnedStealer,
    /// The least number of joins that were pending when any of them was spawned.
    spawned_in: Cell<usize>,
    /// The spawned job that was last put into the offer, if that was the last thing put there.
    offered_spawn: Cell<Option<NonNull<Job>>>,
}

// SAFETY: the pointers are to jobs, which are `Send`; and the lists are empty whenever the thread of a worker gives up
// what it took from its slot.
unsafe impl Send for Pending {}

impl Pending {
    pub(crate) fn new() -> Self {
        let (spawned, joins) = (SpawnedJobs::new_lifo(), SpawnedJobs::new_lifo());
        Self {
            oldest_join: joins.stealer(),
            joins,
            offer: Arc::new(CachePadded::new(Offer::new())),
            places: UnsafeCell::new(Box::default()),
            top: Cell::new(0),
            private: Cell::new(0),
            count: Cell::new(FIRST_COUNT),
            oldest: spawned.stealer(),
            spawned,
            spawned_in: Cell::new(0),
            offered_spawn: Cell::new(None),
        }
    }

    /// Returns the thieves' side.
    pub(crate) fn offers(&self) -> Offers {
        Offers {
            first: self.offer.clone(),
            spawned: self.spawned.stealer(),
            joins: self.joins.stealer(),
        }
    }

    /// Notes a join. Returns the index to come back with.
    #[inline(always)]
    pub(super) fn push(&self, job: NonNull<Job>) -> usize {
        let top = self.top.get();
        // SAFETY: only this worker's thread is here, and `grow` is not called while the borrow lasts.
        match unsafe { &*self.places.get() }.get(top) {
            Some(place) => place.set(job.as_ptr()),
            None => self.grow(job),
        }
        self.top.set(top + 1);
        top
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, job: NonNull<Job>) {
        let places = self.places.get();
        // SAFETY: only this worker's thread is here, and `push` has given up its borrow.
        let places = unsafe { &mut *places };
        let mut longer = std::mem::take(places).into_vec();
        let length = (longer.len() * 2).max(FIRST_PLACES);
        longer.push(Cell::new(job.as_ptr()));
        longer.resize_with(length, || Cell::new(ptr::null_mut()));
        *places = longer.into_boxed_slice();
    }

    /// Returns true if the owner has something to do: the offer is empty, or the clock has to be read.
    #[inline(always)]
    pub(super) fn count_down(&self) -> bool {
        let count = self.count.get().wrapping_sub(1);
        self.count.set(count);
        count == 0 || self.offer.is_empty()
    }

    /// Like [`count_down`](Self::count_down), but for something that takes as long as this many joins.
    pub(super) fn count_down_by(&self, joins: u32) -> bool {
        // The last of them counts down as every join does, which must not have to look for an underflow.
        self.count.set(self.count.get().saturating_sub(joins - 1).max(1));
        self.count_down()
    }

    pub(super) fn count_is_out(&self) -> bool {
        self.count.get() == 0
    }

    /// Joins and spawns left before the clock is read.
    pub(super) fn count(&self) -> u32 {
        self.count.get()
    }

    pub(super) fn set_count(&self, count: u32) {
        self.count.set(count);
    }

    /// Comes back to a join, which is then no longer pending. Returns true if it is private.
    #[inline(always)]
    pub(super) fn pop(&self, index: usize) -> bool {
        debug_assert_eq!(
            self.top.get(),
            index + 1,
            "joins end in the reverse order of their begin"
        );
        self.top.set(index);
        self.private.get() <= index
    }

    /// Comes back to a join that `pop` found to be offered. Returns true if no thief has it.
    pub(super) fn take_back(&self, job: NonNull<Job>, index: usize) -> bool {
        debug_assert_eq!(self.private.get(), index + 1, "only the youngest offered can come back");
        self.private.set(index);
        // Shared joins come back youngest first and are stolen oldest first. So the one that is left there is this one.
        match self.joins.pop() {
            Some(Spawned(youngest)) => {
                debug_assert_eq!(
                    youngest, job,
                    "an older join was left where a younger was stolen"
                );
                true
            }
            None => self.offer.take_back(job),
        }
    }

    /// Lets others take the pending joins, except those that are younger than a spawned job. Returns true if there were
    /// any.
    pub(super) fn share_joins(&self) -> bool {
        let first = self.private.get();
        let end = match self.has_spawned() {
            // The one in the offer may be older than all joins.
            true if self.offers_spawned() => first,
            true => self.top.get().min(self.spawned_in.get()),
            false => self.top.get(),
        };
        // SAFETY: only this worker's thread is here, and `grow` is not called while the borrow lasts.
        let places = unsafe { &*self.places.get() };
        for place in places.iter().take(end).skip(first) {
            let job = NonNull::new(place.get()).expect("below `top` are jobs");
            self.joins.push(Spawned(job));
        }
        self.private.set(end.max(first));
        end > first
    }

    /// Returns true if nothing is pending.
    pub(super) fn is_empty(&self) -> bool {
        self.top.get() == 0
    }

    pub(super) fn offers_nothing(&self) -> bool {
        self.offer.is_empty()
    }

    /// Offers the oldest job. Returns false if there is none. The offer was seen empty.
    pub(super) fn offer_oldest(&self) -> bool {
        // Shared joins are older than all spawned jobs: see `share_joins`.
        if let Some(Spawned(job)) = self.oldest_join.steal() {
            self.offered_spawn.set(None);
            self.offer.put(job);
            return true;
        }
        let private = self.private.get();
        let has_private = private < self.top.get();
        // A join that is older than all spawned jobs comes first. If a younger one were stolen, its joiner would run
        // what was spawned before on top of it, and so on, ever deeper.
        let spawned =
            if has_private && private < self.spawned_in.get() { None } else { self.oldest.steal() };
        if let Some(Spawned(job)) = spawned {
            self.offer_spawned(job);
            return true;
        }
        if has_private {
            // SAFETY: only this worker's thread is here, and `grow` is not called while the borrow
            // lasts.
            let job = unsafe { &*self.places.get() }[private].get();
            self.private.set(private + 1);
            self.offered_spawn.set(None);
            self.offer.put(NonNull::new(job).expect("below `top` are jobs"));
        }
        has_private
    }

    /// Queues a job that any worker may run at any time. Returns true if it has gone into the offer, because it is the
    /// oldest. Others may take it from now on in any case, because the owner may take long to come back, or block until
    /// it has run.
    #[inline]
    pub(super) fn push_spawned(&self, job: NonNull<Job>) -> bool {
        let top = self.top.get();
        let is_first = self.spawned.is_empty();
        if is_first && self.private.get() == top && self.offer.is_empty() {
            self.offer_spawned(job);
            return true;
        }
        self.spawned_in.set(if is_first { top } else { top.min(self.spawned_in.get()) });
        self.spawned.push(Spawned(job));
        false
    }

    fn offer_spawned(&self, job: NonNull<Job>) {
        self.offered_spawn.set(Some(job));
        self.offer.put(job);
    }

    /// Returns true if there are spawned jobs, including the one in the offer.
    pub(super) fn has_spawned(&self) -> bool {
        self.offers_spawned() || !self.spawned.is_empty()
    }

    /// Returns true if there are jobs or joins that nobody has begun.
    #[cfg(not(loom))]
    pub(super) fn has_any(&self) -> bool {
        let private = self.private.get() < self.top.get();
        private || !self.offer.is_empty() || !self.spawned.is_empty() || !self.joins.is_empty()
    }

    /// Takes the oldest pending join that no thread has begun, for its own worker to run before it comes back to it.
    /// The spawned jobs have been taken before. It takes them in the order of thieves, because what follows from that
    /// order holds for joins of all kinds.
    #[cfg(not(loom))]
    pub(super) fn take_oldest_join(&self, index: usize) -> Option<JobRef> {
        self.share_joins();
        let shared = || self.oldest_join.steal().map(|Spawned(job)| job);
        let job = self.offer.take().or_else(shared)?;
        // SAFETY: just taken out of the offer, or out of the list.
        Some(unsafe { JobRef::new(job, index) })
    }

    fn offers_spawned(&self) -> bool {
        self.offered_spawn.get().is_some() && !self.offer.is_empty()
    }

    /// Takes the newest spawned job, even if it was offered and nobody took it.
    #[inline]
    pub(super) fn pop_spawned(&self, index: usize) -> Option<JobRef> {
        // Joins may have ended since, and the next ones are younger than what is left.
        self.spawned_in.set(self.spawned_in.get().min(self.top.get()));
        let newest = self.spawned.pop().map(|Spawned(job)| job);
        let job = newest.or_else(|| {
            self.offered_spawn.take().filter(|&offered| self.offer.take_back(offered))
        })?;
        // SAFETY: it was in the list, or in the offer, and is no longer there.
        Some(unsafe { JobRef::new(job, index) })
    }
}

/// There are jobs, but their owner is done with them sooner than a thief would be.
pub(super) struct Crumbs;

/// Lets some time pass, in which an owner may come back to its job.
fn watch_for(age: Duration) {
    if TIMELESS {
        // But other threads may run.
        if !age.is_zero() {
            hint::spin_loop();
        }
        return;
    }
    let seen = Instant::now();
    while seen.elapsed() < age {
        hint::spin_loop();
    }
}

/// The thieves' side: the jobs of a worker that others may take.
pub(crate) struct Offers {
    first: Arc<CachePadded<Offer>>,
    spawned: SpawnedStealer,
    joins: SpawnedStealer,
}

impl Offers {
    /// Returns true if there is nothing to take. Orders nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty() && !self.has_shared()
    }

    /// Returns true if there is more than the one job in the offer.
    pub(crate) fn has_shared(&self) -> bool {
        !self.spawned.is_empty() || !self.joins.is_empty()
    }

    /// Takes the job that worker `from` offers, or else its oldest shared join, to run it elsewhere. Returns an error
    /// if there was a job, but the owner offers another one within the `age` that a job must have.
    pub(super) fn steal(&self, from: usize, age: Duration) -> Result<Option<JobRef>, Crumbs> {
        if self.first.is_empty() && self.joins.is_empty() {
            return Ok(None);
        }
        let number = self.first.number();
        watch_for(age);
        if self.first.number() != number {
            return Err(Crumbs);
        }
        let shared = || self.joins.steal().map(|Spawned(job)| job);
        let job = self.first.take().or_else(shared);
        // SAFETY: just taken out of the offer, or out of the list.
        Ok(job.map(|job| unsafe { JobRef::new(job, from) }))
    }

    /// Takes the oldest job that worker `from` has spawned, apart from the offered one.
    pub(super) fn steal_spawned(&self, from: usize) -> Option<JobRef> {
        let Spawned(job) = self.spawned.steal()?;
        // SAFETY: just taken out of the list.
        Some(unsafe { JobRef::new(job, from) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A pointer that nobody follows.
    fn job(number: usize) -> NonNull<Job> {
        NonNull::new(ptr::without_provenance_mut(number * align_of::<Job>())).unwrap()
    }

    #[test]
    fn the_oldest_of_those_left_is_offered_next() {
        let pending = Pending::new();
        for number in 1..=3 {
            pending.push(job(number));
        }
        for number in 1..=3 {
            assert!(pending.offer_oldest());
            assert_eq!(pending.offer.take(), Some(job(number)));
        }
        assert!(!pending.offer_oldest());
    }
}
