//! The notes about the polls of tasks that stay on one thread.
//!
//! While a thread has such tasks, it borrows counts from its runtime, which it writes with plain stores: threads do not
//! write to the same cache line at each poll. The next borrower goes on with what is there, so nothing has to be added up
//! when a thread gives its counts back, and there are as many counts as there were borrowers at a time. The lock under
//! which they change hands orders the stores of one borrower before the loads of the next.

use std::sync::Arc as StdArc;

use super::observed::Observed;
use crate::primitives::{Arc, Mutex};
use crate::sched::Pool;
use crate::task::{Header, Notes, PollMark, PollTime};

/// The counts that a runtime lends to threads with tasks of their own.
#[derive(Default)]
pub(crate) struct LocalPlaces(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    all: Vec<StdArc<Observed>>,
    free: Vec<StdArc<Observed>>,
}

impl LocalPlaces {
    /// Returns all counts, to be read.
    pub(super) fn all(&self) -> Vec<StdArc<Observed>> {
        self.0.lock().all.clone()
    }

    fn lend(&self) -> StdArc<Observed> {
        let mut inner = self.0.lock();
        inner.free.pop().unwrap_or_else(|| {
            let new = StdArc::<Observed>::default();
            inner.all.push(new.clone());
            new
        })
    }

    fn take_back(&self, observed: StdArc<Observed>) {
        self.0.lock().free.push(observed);
    }
}

/// The observer of a thread that runs tasks of its own. Its methods are called by that thread only.
pub(crate) struct LocalObserver {
    pool: Arc<Pool>,
    /// `None` if nothing is observed, and when it is given back.
    observed: Option<StdArc<Observed>>,
}

impl LocalObserver {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        let observed = pool.is_observed().then(|| pool.observed_local.lend());
        Self { pool, observed }
    }

    /// Notes that a task begins a poll at this time, which is to be timed.
    pub(crate) fn begin_poll(&self, notes: &Notes, now: u64) {
        if let Some(observed) = &self.observed {
            let _ = notes.begin_poll(PollTime::new(now), PollMark::Timed);
            observed.sites.of(notes.site()).polls.bump();
        }
    }

    /// Notes that a poll has ended, with the times at which it began and ended.
    pub(crate) fn end_poll(&self, task: &Header, start: u64, now: u64) {
        let Some(observed) = self.observed.as_ref().filter(|_| task.notes.take_timed()) else {
            return;
        };
        let time = now.saturating_sub(start).max(1);
        task.notes.add_busy(time);
        let site = observed.sites.of(task.notes.site());
        site.time.add(time);
        if time > site.longest.get() {
            site.longest.set(time);
        }
    }
}

impl Drop for LocalObserver {
    fn drop(&mut self) {
        if let Some(observed) = self.observed.take() {
            self.pool.observed_local.take_back(observed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::observe::Summary;
    use crate::observe::site_counts::SiteCount;
    use crate::task::{SiteId, spawn_local};
    use crate::{Builder, yield_now};

    async fn three_polls() {
        yield_now().await;
        yield_now().await;
    }

    fn polls(pool: &Pool) -> u64 {
        let sites = Summary::new(pool).sites();
        sites.iter().filter(|site| site.location.file() == file!()).map(|site| site.polls).sum()
    }

    /// All threads wrote to one cache line three times a poll.
    #[test]
    fn polls_of_local_tasks_are_counted_by_their_own_threads() {
        let runtime = Builder::new().workers(2).build().unwrap();
        let pool = runtime.handle().pool();
        // They keep their threads until both have one.
        let barrier = StdArc::new(std::sync::Barrier::new(2));
        let both = [(); 2].map(|()| {
            let barrier = barrier.clone();
            runtime.handle().spawn_pinned(|| async move {
                barrier.wait();
                three_polls().await;
            })
        });
        for one in both {
            runtime.block_on(one).unwrap();
        }
        let each = pool.observed_local.all();
        let each: Vec<u64> = each.iter().map(|one| counted(one, |site| site.polls.get())).collect();
        assert_eq!(each, [3, 3]);
        let shared = pool.observed_outside.get().unwrap();
        assert_eq!(counted(shared, |site| site.polls.get() + site.time.get()), 0);
        assert_eq!(polls(pool), 6);
    }

    #[test]
    fn what_one_thread_has_counted_stays_when_the_next_goes_on_with_it() {
        let runtime = Builder::new().workers(1).build().unwrap();
        for round in 1..=4 {
            let wait = async { spawn_local(three_polls()).await.unwrap() };
            runtime.block_on(wait);
            assert_eq!(polls(runtime.handle().pool()), 3 * round);
            assert_eq!(runtime.handle().pool().observed_local.all().len(), 1);
        }
    }

    /// Adds up a figure of all sites.
    fn counted(observed: &Observed, what: impl Fn(&SiteCount) -> u64) -> u64 {
        let sites = 0..SiteId::count();
        sites.filter_map(|index| observed.sites.get(index)).map(what).sum()
    }
}
