//! What one thread counts for each spawn site.

use std::sync::OnceLock;

use super::histogram::Recorder;
use crate::sched::Counter;
use crate::task::SiteId;

/// Sites that are found with one comparison.
const NEAR: usize = 256;
/// Sites in a chunk of the others; a thread has chunks only for sites it has met.
const CHUNK: usize = 64;
/// Chunks. The tasks of sites beyond them count for site 0.
const CHUNKS: usize = 64;

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
    /// Where `polls` stood at the last poll that was timed.
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

    /// A poll was timed that stands for at most `most` polls. By the only writer. Returns how many it stands for.
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
    near: Box<[SiteCount; NEAR]>,
    /// Histograms of the same sites, made when a poll is timed for the first time: a kilobyte each.
    times: Box<[OnceLock<Box<Recorder>>]>,
    chunks: Box<[OnceLock<Box<[SiteCount]>>]>,
}

impl Default for SiteCounts {
    fn default() -> Self {
        let near = (0..NEAR).map(|_| SiteCount::default()).collect::<Vec<_>>();
        let near = near.try_into().unwrap_or_else(|_| unreachable!("of this length"));
        let times = (0..NEAR).map(|_| OnceLock::new()).collect();
        Self { near, times, chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect() }
    }
}

impl SiteCounts {
    /// Returns the counters of a site, for the thread that counts.
    #[inline]
    pub(crate) fn of(&self, site: SiteId) -> &SiteCount {
        match self.near.get(site.index()) {
            Some(count) => count,
            None => self.far(site.index()),
        }
    }

    #[cold]
    fn far(&self, index: usize) -> &SiteCount {
        let Some(chunk) = self.chunks.get((index - NEAR) / CHUNK) else { return &self.near[0] };
        let chunk = chunk
            .get_or_init(|| (0..CHUNK).map(|_| SiteCount::default()).collect::<Vec<_>>().into());
        &chunk[(index - NEAR) % CHUNK]
    }

    /// A poll of the site's was timed that stands for at most `most` polls. By the only writer.
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

    /// Returns the counters of a site, if the thread has met it.
    pub(super) fn get(&self, index: usize) -> Option<&SiteCount> {
        if index < NEAR {
            return Some(&self.near[index]);
        }
        let chunk = self.chunks.get((index - NEAR) / CHUNK)?.get()?;
        Some(&chunk[(index - NEAR) % CHUNK])
    }
}
