//! What a worker shows to the others.

use crate::primitives::plain::{AtomicBool as PlainBool, AtomicU64, Ordering as Plain};
use crate::primitives::{AtomicBool, AtomicUsize, Mutex};

use windlass_sync::{Parker, Unparker};

use super::lifo::LifoSlot;
use super::queue::{LocalQueue, Stealer};

/// One place for a worker; spares have theirs from the start, so that the list of victims never
/// changes.
pub(crate) struct Slot {
    pub(crate) stealer: Stealer,
    pub(crate) lifo: LifoSlot,
    pub(crate) unparker: Unparker,
    pub(crate) counters: Counters,
    /// Index of the spare that stands in for this worker, plus one; set by the watch, cleared by
    /// the worker when it comes back.
    pub(crate) relief: AtomicUsize,
    /// Tells a spare to hand over its queue and leave.
    pub(crate) retire: AtomicBool,
    /// True while a thread works here.
    pub(crate) occupied: PlainBool,
    /// True while the worker waits on the OS instead of being parked.
    pub(crate) seated: AtomicBool,
    /// What the thread takes along when it moves in, and leaves when it moves out.
    pub(crate) kit: Mutex<Option<Kit>>,
}

/// The parts of a slot that only the thread working there may use.
pub(crate) struct Kit {
    pub(crate) queue: LocalQueue,
    pub(crate) parker: Parker,
}

impl Slot {
    pub(crate) fn new() -> Self {
        let kit = Kit { queue: LocalQueue::new(), parker: Parker::new() };
        Self {
            stealer: kit.queue.stealer(),
            lifo: LifoSlot::new(),
            unparker: kit.parker.unparker(),
            counters: Counters::new(),
            relief: AtomicUsize::new(0),
            retire: AtomicBool::new(false),
            occupied: PlainBool::new(false),
            seated: AtomicBool::new(false),
            kit: Mutex::new(Some(kit)),
        }
    }

    /// How long the worker would take for what is in its queue, in nanoseconds, going by its recent
    /// polls.
    pub(crate) fn backlog(&self) -> u64 {
        (self.stealer.len() as u64).saturating_mul(self.counters.poll_time.get())
    }

    /// True for a worker in a poll whose recent polls were so long that nobody should count on it
    /// to come out of this one soon.
    pub(crate) fn is_slow(&self) -> bool {
        self.counters.tick.get() % 2 == 1 && self.counters.poll_time.get() >= LONG_POLL
    }

    /// True if tasks wait here for their turn.
    pub(crate) fn has_work(&self) -> bool {
        !self.stealer.is_empty() || !self.lifo.is_empty()
    }
}

/// Polls of this length, in nanoseconds, keep a worker from what it owes to others: looking at the OS
/// in time, and getting soon to what it takes from the shared queues.
pub(crate) const LONG_POLL: u64 = 50_000;

/// What a worker counts. Each is written by its owner only and lies on the owner's cache line, so
/// counting costs a plain add.
#[derive(Default)]
pub(crate) struct Counters {
    /// Odd while a task is being polled; moves on with every poll.
    pub(crate) tick: Counter,
    /// Moving average of a poll's time, in nanoseconds.
    pub(crate) poll_time: Counter,
    pub(crate) steals: Counter,
    pub(crate) parks: Counter,
    pub(crate) wakeups: Counter,
    pub(crate) spawned: Counter,
    pub(crate) finished: Counter,
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

/// A number with one writer and any number of readers.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one, by the only writer.
    #[inline]
    pub(crate) fn bump(&self) {
        self.0.store(self.0.load(Plain::Relaxed).wrapping_add(1), Plain::Relaxed);
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
