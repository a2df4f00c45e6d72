//! A slot: the part of a worker that other threads see.
//!
//! What several threads write is in the [`Status`], one word with named transitions. The rest is written by the thread
//! in the slot alone, with plain stores, because it changes with every poll or join: the [`Activity`], the counters,
//! and which task is being polled.

use std::ptr::{self, NonNull};

use crate::primitives::plain::{
    AtomicPtr as PlainPtr, AtomicU64 as PlainU64, AtomicUsize as PlainUsize, Ordering as Plain,
};
use crate::primitives::{AtomicU64, Mutex, Ordering};

use windlass_sync::{Parker, Unparker};

use super::activity::Activity;
use super::lifo::LifoSlot;
use super::policy::FIRST_POLL_TIME;
use super::status::Status;
use crate::deque::{Deque, Stealer};
use crate::fork::{Offers, Pending};
use crate::observe::ObservedPlace;
use crate::stuck::ThreadMark;
use crate::task::{Header, Id, Runnable, SiteId};

/// The slot of one worker. Spares have theirs from the start, so that the list of victims never changes.
pub(crate) struct Slot {
    pub(crate) stealer: Stealer<Runnable>,
    pub(crate) lifo: LifoSlot,
    /// The fork-join jobs that others may take.
    pub(crate) offers: Offers,
    pub(crate) unparker: Unparker,
    pub(crate) counters: Counters,
    pub(crate) status: Status,
    pub(crate) activity: Activity,
    pub(crate) observed: ObservedPlace,
    /// The task that is being polled or was polled last, and the one that is polled in place within that poll; null for
    /// none. Compared, never followed.
    polled: [PlainPtr<Header>; 2],
    /// The means to ask the thread here for its stack.
    pub(crate) mark: ThreadMark,
    /// Where [`progress`](Self::progress) stood when the monitor found the worker stalled. Stale once the progress
    /// changes.
    stalled_at: Counter,
    /// One more than the index of the worker or guest that waits in a `join` or `scope` for the job that is being run
    /// here; 0 for none. The worker's own if it runs the job on top of its own wait.
    joined_by: PlainUsize,
    /// Spawn site and id of the innermost task being polled, if that is in no list; otherwise 0.
    unlisted: PlainU64,
    /// The parts that the thread takes with it when it moves in, and leaves when it moves out.
    pub(crate) kit: Mutex<Option<Kit>>,
}

/// The parts of a slot that only the thread working there may use.
pub(crate) struct Kit {
    pub(crate) queue: Deque<Runnable>,
    pub(crate) parker: Parker,
    pub(crate) pending: Pending,
}

impl Slot {
    /// Returns a vacant slot, for a worker or for a spare.
    pub(crate) fn new(for_spare: bool) -> Self {
        let kit = Kit { queue: Deque::new_fifo(), parker: Parker::new(), pending: Pending::new() };
        Self {
            stealer: kit.queue.stealer(),
            lifo: LifoSlot::new(),
            offers: kit.pending.offers(),
            unparker: kit.parker.unparker(),
            counters: Counters::new(),
            status: Status::new(for_spare),
            activity: Activity::default(),
            observed: ObservedPlace::default(),
            polled: Default::default(),
            mark: ThreadMark::new(),
            stalled_at: Counter::new(UNREACHED),
            joined_by: PlainUsize::new(0),
            unlisted: PlainU64::new(0),
            kit: Mutex::new(Some(kit)),
        }
    }

    /// Returns how long the worker would take for the tasks in its queue, in nanoseconds, judging by its recent polls.
    pub(crate) fn backlog(&self) -> u64 {
        (self.stealer.len() as u64).saturating_mul(self.counters.poll_time.get())
    }

    /// Notes that the monitor has seen the worker stalled at this progress.
    pub(crate) fn note_stalled(&self, progress: u64) {
        self.stalled_at.set(progress);
    }

    /// Returns true if the monitor has seen the worker stalled, and it has made no progress since.
    pub(crate) fn is_seen_stalled(&self) -> bool {
        self.stalled_at.get() == self.progress()
    }

    /// Returns true if a worker is here that does not sleep. Orders nothing.
    pub(crate) fn is_awake(&self) -> bool {
        self.activity.is_present() && (!self.is_asleep() || self.is_polling())
    }

    /// Returns true while the thread here sleeps, maybe in a join. Orders nothing.
    pub(crate) fn is_asleep(&self) -> bool {
        self.counters.parks.get() != self.counters.wakeups.get()
    }

    /// Returns true while the worker polls a task.
    pub(crate) fn is_polling(&self) -> bool {
        self.counters.tick.get() % 2 == 1
    }

    /// Returns the number of polls of its own that the worker has begun.
    pub(crate) fn polls_begun(&self) -> u64 {
        self.counters.tick.get().div_ceil(2)
    }

    /// Returns the number of polls of its own that the worker has completed.
    pub(super) fn polls_done(&self) -> u64 {
        self.counters.tick.get() / 2
    }

    /// Returns a count that moves when the worker makes progress: it begins or ends a poll, or comes to a split point.
    /// Odd while it is in a poll.
    pub(crate) fn progress(&self) -> u64 {
        self.counters.tick.get().wrapping_add(self.counters.splits.get().wrapping_mul(2))
    }

    /// Notes, for shutdown's report, which task the worker is about to poll, if it is a task.
    #[inline]
    pub(crate) fn note_poll(&self, runnable: Option<&Runnable>) {
        let task = runnable.map_or(ptr::null_mut(), |runnable| runnable.header().as_ptr());
        self.polled[0].store(task, Plain::Relaxed);
        self.note_unlisted(runnable.and_then(Runnable::unlisted));
    }

    /// Like [`note_poll`](Self::note_poll), but for a poll within a poll, while `f` runs.
    pub(crate) fn note_poll_in_place<R>(
        &self,
        runnable: Runnable,
        f: impl FnOnce(Runnable) -> R,
    ) -> R {
        let around = self.unlisted();
        self.polled[1].store(runnable.header().as_ptr(), Plain::Relaxed);
        self.note_unlisted(runnable.unlisted());
        let result = f(runnable);
        self.polled[1].store(ptr::null_mut(), Plain::Relaxed);
        self.note_unlisted(around);
        result
    }

    /// Runs a job that the worker or guest `joiner` waits for, or that runs on top of one of its waits.
    pub(crate) fn run_for(&self, joiner: usize, run: impl FnOnce()) {
        let before = self.joined_by.load(Plain::Relaxed);
        self.joined_by.store(joiner.wrapping_add(1), Plain::Relaxed);
        run();
        self.joined_by.store(before, Plain::Relaxed);
    }

    /// Returns which worker or guest may wait in a `join` or `scope` for what is run here, at the index `own`.
    pub(crate) fn joiner(&self, own: usize) -> Option<usize> {
        let in_place = !self.polled[1].load(Plain::Relaxed).is_null();
        let joiner = self.joined_by.load(Plain::Relaxed).checked_sub(1);
        if in_place { Some(own) } else { joiner }
    }

    /// Returns the innermost task that is being polled or was polled last, or `None` for a job. It may be compared, but
    /// not followed. It is the task of the current poll if [`progress`](Self::progress) has not moved for long, before
    /// and after.
    pub(crate) fn innermost(&self) -> Option<NonNull<Header>> {
        let load = |polled: &PlainPtr<Header>| NonNull::new(polled.load(Plain::Relaxed));
        let [outer, inner] = &self.polled;
        load(inner).or_else(|| load(outer))
    }

    /// Returns how the worker polls the task, if it does.
    pub(crate) fn in_poll_of(&self, task: NonNull<Header>) -> Option<Polled> {
        let [outer, inner] = self.polled.each_ref().map(|polled| polled.load(Plain::Relaxed));
        if !self.is_polling() {
            None
        } else if inner == task.as_ptr() || (outer == task.as_ptr() && inner.is_null()) {
            Some(Polled::Innermost)
        } else {
            (outer == task.as_ptr()).then_some(Polled::Around)
        }
    }

    #[inline]
    fn note_unlisted(&self, task: Option<(SiteId, Id)>) {
        let pack =
            |(site, id): (SiteId, Id)| ((site.index() as u64) << 48) | (id.number() % (1 << 48));
        self.unlisted.store(task.map_or(0, pack), Plain::Relaxed);
    }

    /// Returns the spawn site and id of the task that is being polled, if that is in no list.
    pub(crate) fn unlisted(&self) -> Option<(SiteId, Id)> {
        let tick = self.counters.tick.get();
        let packed = self.unlisted.load(Plain::Relaxed);
        if tick % 2 == 0 || self.counters.tick.get() != tick {
            return None;
        }
        let id = Id::from_number(packed % (1 << 48))?;
        Some((SiteId::from_index((packed >> 48) as usize), id))
    }

    /// Returns true if tasks wait here for their turn.
    pub(crate) fn has_work(&self) -> bool {
        !self.stealer.is_empty() || !self.lifo.is_empty()
    }
}

/// The relation of a worker's poll to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Polled {
    /// The task's code is running.
    Innermost,
    /// The task computes, and another one is polled in place at one of its split points.
    Around,
}

/// The counters of a worker. Each is written by its owner only and lies on the owner's cache line, so counting costs a
/// plain add.
#[derive(Default)]
pub(crate) struct Counters {
    /// Odd while a task is being polled; moves on with every poll.
    pub(crate) tick: FencedCounter,
    /// The number of ticks that were not polls, but waits for a job.
    pub(crate) waits: Counter,
    /// Split points of computations at which the clock was read.
    pub(crate) splits: FencedCounter,
    /// Moving average of a poll's time, in nanoseconds.
    pub(crate) poll_time: Counter,
    pub(crate) steals: Counter,
    pub(crate) parks: Counter,
    pub(crate) wakeups: Counter,
    pub(crate) spawned: Tally,
    pub(crate) finished: Tally,
    pub(crate) panicked: Counter,
}

impl Counters {
    pub(crate) fn new() -> Self {
        let counters = Self::default();
        counters.poll_time.set(FIRST_POLL_TIME.as_nanos() as u64);
        counters
    }
}

/// A progress that no worker ever makes.
const UNREACHED: u64 = u64::MAX;

/// A number with one writer and any number of readers.
#[derive(Default)]
pub(crate) struct Counter(PlainU64);

impl Counter {
    fn new(value: u64) -> Self {
        Self(PlainU64::new(value))
    }

    /// Adds one, by the only writer.
    #[inline]
    pub(crate) fn bump(&self) {
        self.add(1);
    }

    /// Adds to it, by the only writer.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Plain::Relaxed).wrapping_add(more), Plain::Relaxed);
    }

    /// Sets it, by the only writer.
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Plain::Relaxed);
    }

    /// Adds one, by any thread.
    pub(crate) fn bump_shared(&self) {
        self.0.fetch_add(1, Plain::Relaxed);
    }

    /// Adds to it, by any thread.
    pub(crate) fn add_shared(&self, more: u64) {
        self.0.fetch_add(more, Plain::Relaxed);
    }

    /// Raises it to this value if it is less, by any thread.
    pub(crate) fn raise_shared(&self, value: u64) {
        self.0.fetch_max(value, Plain::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Plain::Relaxed)
    }
}

/// A [`Counter`] for a reader that has passed a fence: whether a spare is sent for a worker, or a thief is woken,
/// depends on it. The reader's partner counts first and passes a fence before it looks. Models see all values that
/// another thread may read, including those that are out of date.
#[derive(Default)]
pub(crate) struct FencedCounter(AtomicU64);

impl FencedCounter {
    /// Adds one, by the only writer.
    #[inline]
    pub(crate) fn bump(&self) {
        self.add(1);
    }

    /// Adds to it, by the only writer.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A [`Counter`] that is more than a statistic: the difference of two sums of these tells whether a task is left. See
/// *Shutdown* in this folder's `README.md`.
#[derive(Default)]
pub(crate) struct Tally(AtomicU64);

impl Tally {
    /// Adds one, by the only writer.
    #[inline]
    pub(crate) fn bump(&self) {
        // Release pairs with the Acquire in `get`.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Adds one, by any thread.
    pub(crate) fn bump_shared(&self) {
        // Release pairs with the Acquire in `get`.
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Returns the sum. A thread that sees a task counted sees all that the counting thread did before.
    pub(crate) fn get(&self) -> u64 {
        // Acquire pairs with the Release in `bump`.
        self.0.load(Ordering::Acquire)
    }
}
