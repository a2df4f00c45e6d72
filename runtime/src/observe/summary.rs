//! Adds up what all threads of a runtime have counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_timer::nanos;

use super::histogram::Recorder;
use super::{CountHistogram, Histogram, Observed, SiteMetrics, WakeLatency};
use crate::sched::{Pool, Slot};
use crate::task::{SiteId, WokenBy};

/// The part of the metrics that is observed rather than merely counted.
pub(crate) struct Summary<'a> {
    pool: &'a Pool,
    halves: Vec<&'a Observed>,
    /// Those of threads with tasks of their own.
    local: Vec<Arc<Observed>>,
}

impl<'a> Summary<'a> {
    pub(crate) fn new(pool: &'a Pool) -> Self {
        let slots = pool.slots.iter().map(|slot| &slot.observed);
        let halves =
            slots.chain([&pool.observed_outside]).filter_map(|place| place.get()).collect();
        Self { pool, halves, local: pool.observed_local.all() }
    }

    fn halves(&self) -> impl Iterator<Item = &Observed> {
        self.halves.iter().copied().chain(self.local.iter().map(|observed| &**observed))
    }

    fn histogram(&self, of: impl Fn(&Observed) -> &Recorder) -> Histogram {
        Histogram::of(self.halves().map(of))
    }

    pub(crate) fn poll_time(&self) -> Histogram {
        self.histogram(|observed| &observed.poll_time)
    }

    pub(crate) fn wake_latency(&self) -> WakeLatency {
        let by = |by: WokenBy| self.histogram(|observed| &observed.wake_latency[by as usize]);
        WakeLatency {
            io: by(WokenBy::Io),
            timer: by(WokenBy::Timer),
            task: by(WokenBy::Task),
            outside: by(WokenBy::Outside),
        }
    }

    pub(crate) fn timer_lateness(&self) -> Histogram {
        let of_workers = self.halves().map(|observed| &observed.timer_lateness);
        Histogram::of(of_workers.chain([&*self.pool.poller().lateness]))
    }

    pub(crate) fn blocking_wait(&self) -> Histogram {
        self.histogram(|observed| &observed.blocking_wait)
    }

    pub(crate) fn fork_join_time(&self) -> Histogram {
        self.histogram(|observed| &observed.fork_join_time)
    }

    pub(crate) fn ready_tasks(&self) -> CountHistogram {
        CountHistogram::of(self.halves().map(|observed| &observed.ready_tasks))
    }

    /// Returns the time that a worker has spent working, idling and with the OS.
    pub(crate) fn hours(slot: &Slot) -> [Duration; 3] {
        slot.observed
            .get()
            .map_or_else(Default::default, |observed| observed.hours.read(nanos(Instant::now())))
    }

    /// Returns the time that a worker has spent in computations that have ended.
    pub(crate) fn computing(slot: &Slot) -> Duration {
        Histogram::of(slot.observed.get().map(|observed| &observed.fork_join_time)).sum()
    }

    /// Returns the sites at which this runtime's tasks were spawned, those with the most polls first.
    pub(crate) fn sites(&self) -> Vec<SiteMetrics> {
        let mut sites: Vec<_> = (0..SiteId::count()).filter_map(|index| self.site(index)).collect();
        sites.sort_by_key(|site| std::cmp::Reverse(site.polls));
        sites
    }

    fn site(&self, index: usize) -> Option<SiteMetrics> {
        let counts = || self.halves().filter_map(|observed| observed.sites.get(index));
        // Finished is read before spawned, so that a task that ends in between is not counted only as finished.
        let finished: u64 = counts().map(|count| count.ended()).sum();
        let spawned: u64 = counts().map(|count| count.spawned.get()).sum();
        if spawned == 0 {
            return None;
        }
        let sum = |what: fn(&super::site_counts::SiteCount) -> u64| counts().map(what).sum();
        let site = SiteId::from_index(index).get();
        Some(SiteMetrics {
            location: site.location,
            name: site.name.as_deref().map(str::to_owned),
            computes: site.computes(),
            spawned,
            alive: spawned.saturating_sub(finished),
            polls: sum(|count| count.polls()),
            poll_time_total: Duration::from_nanos(sum(|count| count.time.get())),
            poll_time_max: Duration::from_nanos(
                counts().map(|count| count.longest.get()).max().unwrap_or(0),
            ),
            poll_time: Histogram::of(self.halves().filter_map(|w| w.sites.times(index))),
            wait_total: Duration::from_nanos(sum(|count| count.wait.get())),
        })
    }
}
