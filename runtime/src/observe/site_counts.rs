//! The counts of one thread for each spawn site.

use std::sync::{Arc, OnceLock};

use super::histogram::Recorder;
use super::policy::{CHUNK_SITE_COUNTS, NEAR_SITES, SITE_COUNT_CHUNKS};
use crate::sched::Counter;
use crate::task::SiteId;

/// The counters of the first sites, which are found with one comparison.
pub(super) type NearSites = [SiteCount; NEAR_SITES];

/// The counters of one site. Times are in nanoseconds.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct SiteCount {
    pub(super) spawned: Counter,
    /// Tasks that have ended, and not in their first poll.
    pub(super) finished: Counter,
    /// Tasks that were listed when they had to wait, and never had to: each has ended in its one poll.
    pub(super) brief: Counter,
    /// Polls of the others.
    pub(super) polls: Counter,
    /// The value of `polls` at the last poll that was timed.
    pub(super) timed: Counter,
    pub(super) time: Counter,
    pub(super) longest: Counter,
    pub(super) wait: Counter,
}

impl SiteCount {
    /// Returns the number of polls.
    pub(super) fn polls(&self) -> u64 {
        self.polls.get() + self.brief.get()
    }

    /// Returns the number of tasks that have ended.
    pub(super) fn ended(&self) -> u64 {
        self.finished.get() + self.brief.get()
    }

    /// Adds a poll that was timed and stands for at most `most` polls. Called by the only writer. Returns how many
    /// polls it stands for.
    fn add_time(&self, time: u64, most: u64) -> u64 {
        // The poll that was timed is over, but may not be counted yet.
        let polls = self.polls() + 1;
        let untimed = polls.wrapping_sub(self.timed.get()).clamp(1, most);
        self.timed.set(polls);
        self.time.add(time.saturating_mul(untimed));
        if time > self.longest.get() {
            self.longest.set(time);
        }
        untimed
    }
}

/// The counters of all sites.
pub(crate) struct SiteCounts {
    near: Arc<NearSites>,
    /// Histograms of the same sites, made when a poll is timed for the first time: a kilobyte each.
    times: Box<[OnceLock<Box<Recorder>>]>,
    chunks: Box<[OnceLock<Box<[SiteCount]>>]>,
}

impl Default for SiteCounts {
    fn default() -> Self {
        let near = (0..NEAR_SITES).map(|_| SiteCount::default()).collect::<Vec<_>>();
        let near: Arc<[_]> = near.into();
        let near = near.try_into().unwrap_or_else(|_| unreachable!("of this length"));
        let times = (0..NEAR_SITES).map(|_| OnceLock::new()).collect();
        Self { near, times, chunks: (0..SITE_COUNT_CHUNKS).map(|_| OnceLock::new()).collect() }
    }
}

impl SiteCounts {
    /// Returns the counters of a site, for a thread that counts.
    pub(crate) fn of(&self, site: SiteId) -> &SiteCount {
        match self.near.get(site.index()) {
            Some(count) => count,
            None => self.far(site.index()),
        }
    }

    /// Returns the counters of the near sites, for the counting thread to have at hand.
    pub(super) fn near(&self) -> Arc<NearSites> {
        self.near.clone()
    }

    #[cold]
    fn far(&self, index: usize) -> &SiteCount {
        let Some(chunk) = self.chunks.get((index - NEAR_SITES) / CHUNK_SITE_COUNTS) else {
            return &self.near[0];
        };
        let chunk = chunk.get_or_init(|| {
            (0..CHUNK_SITE_COUNTS).map(|_| SiteCount::default()).collect::<Vec<_>>().into()
        });
        &chunk[(index - NEAR_SITES) % CHUNK_SITE_COUNTS]
    }

    /// Adds a poll that was timed, of a task of this site, and stands for at most `most` polls. Called by the only
    /// writer.
    pub(super) fn add_time(&self, site: SiteId, time: u64, most: u64) {
        let polls = self.of(site).add_time(time, most);
        if let Some(times) = self.times.get(site.index()) {
            times.get_or_init(Default::default).record(time, polls);
        }
    }

    /// Returns the histogram of a site, if the thread has one.
    pub(super) fn times(&self, index: usize) -> Option<&Recorder> {
        self.times.get(index)?.get().map(|times| &**times)
    }

    /// Returns the counters of a site, if the thread may have used them.
    pub(super) fn get(&self, index: usize) -> Option<&SiteCount> {
        if index < NEAR_SITES {
            return Some(&self.near[index]);
        }
        let chunk = self.chunks.get((index - NEAR_SITES) / CHUNK_SITE_COUNTS)?.get()?;
        Some(&chunk[(index - NEAR_SITES) % CHUNK_SITE_COUNTS])
    }
}
