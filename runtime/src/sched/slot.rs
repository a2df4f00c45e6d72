//! What a worker shows to the others.

use std::panic::Location;
use std::ptr::{self, NonNull};

use crate::primitives::plain::{
    AtomicBool as PlainBool, AtomicPtr as PlainPtr, AtomicU64 as PlainU64, Ordering as Plain,
};
use crate::primitives::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, hint};

use windlass_sync::{Parker, Unparker};

use super::lifo::LifoSlot;
use super::policy::{LONG_POLL, THIEF_SPINS};
use super::queue::{LocalQueue, Stealer};
use crate::fork::{Offers, Pending};
use crate::task::{Header, Runnable};

/// One place for a worker; spares have theirs from the start, so that the list of victims never
/// changes.
pub(crate) struct Slot {
    pub(crate) stealer: Stealer,
    pub(crate) lifo: LifoSlot,
    /// The fork-join jobs that others may take.
    pub(crate) offers: Offers,
    pub(crate) unparker: Unparker,
    pub(crate) counters: Counters,
    /// Index of the spare that stands in for this worker, plus one; set by the monitor, cleared by
    /// the worker when it comes back, or by the monitor.
    pub(crate) relief: AtomicUsize,
    /// Tells a spare to hand over its queue and leave. A spare's place is vacant only if this has been said.
    pub(crate) retire: AtomicBool,
    /// True while a thread works here.
    pub(crate) occupied: PlainBool,
    /// True while the worker sleeps in a join, or between two jobs, to be called by whoever has what it waits for.
    pub(crate) joining: AtomicBool,
    /// True while the worker waits for its next job and leaves tasks to a spare.
    pub(crate) awaiting: AtomicBool,
    /// True while the worker is inside a fork-join root or job.
    pub(crate) computing: PlainBool,
    /// True while the worker is in a call of `block_in_place`.
    pub(crate) blocked: PlainBool,
    /// True while that computation has split points all the time.
    pub(crate) fine: PlainBool,
    /// True for a spare that stands in for a worker which computes.
    pub(crate) for_tasks: PlainBool,
    /// The task that is being polled or was last, and the one that is polled in place within that poll;
    /// null for none. Compared, never followed.
    polled: [PlainPtr<Header>; 2],
    /// Where [`progress`](Self::progress) stood when the monitor found the worker stalled. Says nothing any more as
    /// soon as that moves.
    stalled_at: Counter,
    /// Spawn site of the innermost of those polled, if that is in no list; else null.
    unlisted: PlainPtr<Location<'static>>,
    /// What the thread takes along when it moves in, and leaves when it moves out.
    pub(crate) kit: Mutex<Option<Kit>>,
}

/// The parts of a slot that only the thread working there may use.
pub(crate) struct Kit {
    pub(crate) queue: LocalQueue,
    pub(crate) parker: Parker,
    pub(crate) pending: Pending,
}

impl Slot {
    /// A vacant place, for a worker or for a spare.
    pub(crate) fn new(for_spare: bool) -> Self {
        let kit = Kit { queue: LocalQueue::new(), parker: Parker::new(), pending: Pending::new() };
        Self {
            stealer: kit.queue.stealer(),
            lifo: LifoSlot::new(),
            offers: kit.pending.offers(),
            unparker: kit.parker.unparker(),
            counters: Counters::new(),
            relief: AtomicUsize::new(0),
            retire: AtomicBool::new(for_spare),
            occupied: PlainBool::new(false),
            joining: AtomicBool::new(false),
            awaiting: AtomicBool::new(false),
            computing: PlainBool::new(false),
            blocked: PlainBool::new(false),
            fine: PlainBool::new(false),
            for_tasks: PlainBool::new(false),
            polled: Default::default(),
            stalled_at: Counter::new(NOWHERE),
            unlisted: PlainPtr::new(ptr::null_mut()),
            kit: Mutex::new(Some(kit)),
        }
    }

    /// How long the worker would take for what is in its queue, in nanoseconds, going by its recent
    /// polls.
    pub(crate) fn backlog(&self) -> u64 {
        (self.stealer.len() as u64).saturating_mul(self.counters.poll_time.get())
    }

    /// True if nobody should rely on the worker to look after anything soon: it computes, it is blocked, its recent
    /// polls were long, or the monitor has seen it stalled.
    pub(crate) fn is_held_up(&self) -> bool {
        let long = self.counters.poll_time.get() >= LONG_POLL.as_nanos() as u64;
        self.is_polling() && (long || self.is_blocked() || self.is_computing())
            || self.is_seen_stalled()
    }

    /// The monitor has seen the worker stalled at this progress.
    pub(super) fn saw_stalled(&self, progress: u64) {
        self.stalled_at.set(progress);
    }

    /// True if the monitor has seen the worker stalled, and it has made no progress since.
    pub(crate) fn is_seen_stalled(&self) -> bool {
        self.stalled_at.get() == self.progress()
    }

    /// Watches the worker for some microseconds; true if it makes progress.
    pub(super) fn makes_progress_soon(&self) -> bool {
        let before = self.progress();
        (0..THIEF_SPINS).any(|_| {
            hint::spin_loop();
            self.progress() != before
        })
    }

    /// True if a worker is here that does not sleep. Orders nothing.
    pub(crate) fn is_awake(&self) -> bool {
        let is_asleep = self.counters.parks.get() != self.counters.wakeups.get();
        self.occupied.load(Plain::Relaxed) && (!is_asleep || self.is_polling())
    }

    /// The spare that stands in for this worker, if one does. Orders nothing.
    pub(crate) fn spare(&self) -> Option<usize> {
        self.relief.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Takes out the note of the spare that stands in for this worker. Whoever gets it sets that one's `retire`.
    pub(super) fn take_spare(&self) -> Option<usize> {
        // A look first, for most have none. Acquire pairs with the Release in `Monitor::relieve`.
        self.spare()?;
        self.relief.swap(0, Ordering::Acquire).checked_sub(1)
    }

    /// True while the worker polls a task.
    pub(crate) fn is_polling(&self) -> bool {
        self.counters.tick.get() % 2 == 1
    }

    /// How many polls of its own the worker has behind it.
    pub(super) fn polls_done(&self) -> u64 {
        self.counters.tick.get() / 2
    }

    /// True if the worker is inside a fork-join root or job.
    pub(crate) fn is_computing(&self) -> bool {
        self.computing.load(Plain::Relaxed)
    }

    /// True if the worker has said that it is blocked.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.load(Plain::Relaxed)
    }

    /// Moves when the worker makes progress: it begins or ends a poll, or comes to a split point. Odd while it is in a
    /// poll.
    pub(crate) fn progress(&self) -> u64 {
        self.counters.tick.get().wrapping_add(self.counters.splits.get().wrapping_mul(2))
    }

    /// Tells, for shutdown's report, what the worker is about to poll, if it is a task.
    #[inline]
    pub(crate) fn polls(&self, runnable: Option<&Runnable>) {
        let task = runnable.map_or(ptr::null_mut(), |runnable| runnable.header().as_ptr());
        self.polled[0].store(task, Plain::Relaxed);
        self.polls_unlisted(runnable.and_then(Runnable::unlisted_location));
    }

    /// As [`polls`](Self::polls), for a poll within a poll, while `f` runs.
    pub(crate) fn polls_in_place<R>(&self, runnable: Runnable, f: impl FnOnce(Runnable) -> R) -> R {
        let around = self.unlisted();
        self.polled[1].store(runnable.header().as_ptr(), Plain::Relaxed);
        self.polls_unlisted(runnable.unlisted_location());
        let result = f(runnable);
        self.polled[1].store(ptr::null_mut(), Plain::Relaxed);
        self.polls_unlisted(around);
        result
    }

    /// True if the worker is in a poll of the task.
    pub(crate) fn is_in_poll_of(&self, task: NonNull<Header>) -> bool {
        let is_it = |polled: &PlainPtr<Header>| polled.load(Plain::Relaxed) == task.as_ptr();
        self.is_polling() && self.polled.iter().any(is_it)
    }

    #[inline]
    fn polls_unlisted(&self, location: Option<&'static Location<'static>>) {
        let location = location.map_or(ptr::null(), ptr::from_ref);
        self.unlisted.store(location.cast_mut(), Plain::Relaxed);
    }

    /// Spawn site of the task that is being polled, if that is in no list.
    pub(crate) fn unlisted(&self) -> Option<&'static Location<'static>> {
        let tick = self.counters.tick.get();
        let location = self.unlisted.load(Plain::Relaxed);
        if tick % 2 == 0 || self.counters.tick.get() != tick {
            return None;
        }
        // SAFETY: null, or made from a reference that lives for ever.
        unsafe { location.as_ref() }
    }

    /// True if tasks wait here for their turn.
    pub(crate) fn has_work(&self) -> bool {
        !self.stealer.is_empty() || !self.lifo.is_empty()
    }
}

/// What a worker counts. Each is written by its owner only and lies on the owner's cache line, so
/// counting costs a plain add.
#[derive(Default)]
pub(crate) struct Counters {
    /// Odd while a task is being polled; moves on with every poll.
    pub(crate) tick: Counter,
    /// How many of those were none, but waits for a job.
    pub(crate) waits: Counter,
    /// Split points of computations at which the clock was read.
    pub(crate) splits: Counter,
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
        // A guess, until the first average is there.
        counters.poll_time.set(1_000);
        counters
    }
}

/// A progress that no worker ever makes.
const NOWHERE: u64 = u64::MAX;

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

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Plain::Relaxed)
    }
}

/// As [`Counter`], for what more than statistics rests on: whether a task is left is the difference of
/// two sums of these. See *Shutdown* in this folder's `README.md`.
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

    /// Whoever sees a task counted sees all that its counter did before.
    pub(crate) fn get(&self) -> u64 {
        // Acquire pairs with the Release in `bump`.
        self.0.load(Ordering::Acquire)
    }
}
