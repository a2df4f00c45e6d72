//! Who looks at the timers next, and how it is told to look sooner.
//!
//! # The keepers
//!
//! Timers are fired by whoever is awake: workers look when they run dry and every 50 µs or so. While
//! nobody is awake, or nobody comes to look, it is up to the **keepers**, of which a runtime has two:
//! the worker in the seat, which sleeps until the next deadline, and the poller's thread, which does so
//! when nobody sits, and looks each time it wakes up for other reasons. Each publishes the time at which
//! it will look, its *promise*:
//!
//! - the time to which it sleeps, or [`AWAKE`] while it does not and will look before it does;
//! - [`NOT_KEEPING`] if it can't be counted on: the seat is empty, the thread sleeps for good.
//!
//! # The handshake
//!
//! A shard publishes its next deadline; see [`Shard`](crate::Shard).
//!
//! - *Arming*, if the deadline is earlier than all others of the shard: publish it; fence; read the
//!   promises; ring if none of them is early enough.
//! - *Falling asleep*, as a keeper: publish the promise; fence; read the deadlines of all shards, and
//!   start anew if one is earlier than the promise.
//! - *Ceasing to keep*, be it the worker that leaves the seat or the thread that leaves the timers to it:
//!   publish the new promise, if any; fence; read the deadlines, and ring if the other's promise is
//!   too late for one of them.
//!
//! The fences are totally ordered. If the one of the arming thread comes first, the keeper sees the
//! deadline; otherwise the arming thread sees the promise. A shard's deadline that is early enough
//! already needs neither: the keeper looks then, and looks at the whole wheel. A timer that is cancelled
//! leaves the published deadline as it is; somebody may look in vain, once.
//!
//! *Ringing* wakes the worker in the seat if there is one, and the thread otherwise. If the worker is
//! just leaving, its own fence comes after the ringing one's, so it sees the deadline and rings for
//! the thread.
//!
//! # Leniency
//!
//! A worker that arms a timer is awake, and looks by itself: before it sleeps, and soon. The promise is
//! for the case that it gets stuck before that, and then [`LENIENCY`] later will do. So the thread, as
//! long as it stands guard over workers that are awake, need not wake up for deadlines of theirs, nor be
//! woken by each task that naps for 100 µs. Before it sleeps without being a keeper, a worker makes up
//! for it: see [`Timers::entrust`](crate::Timers::entrust). Deadlines of foreign threads are kept
//! exactly.

use std::task::RawWakerVTable;

use windlass_sync::primitives::plain::{AtomicUsize, Ordering as Plain};
use windlass_sync::primitives::{AtomicU64, Ordering, fence};

/// What never comes: the deadline of an empty shard.
pub const NEVER: u64 = u64::MAX;
/// The promise of one who is awake, and looks before it sleeps.
pub(crate) const AWAKE: u64 = 0;
/// The promise of one who can't be counted on.
pub(crate) const NOT_KEEPING: u64 = u64::MAX;
/// By how much a worker may count on itself, in nanoseconds.
pub(crate) const LENIENCY: u64 = 1_000_000;

/// One who sleeps until the next deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The worker that waits on the OS.
    Seat = 0,
    /// The poller's thread.
    Thread = 1,
}

/// What timers need of their runtime.
pub trait Driver: Send + Sync {
    /// The time, in nanoseconds since the [`epoch`](crate::epoch).
    fn now(&self) -> u64;

    /// A time that really passes, for how long things take: the same, unless that is a virtual one.
    fn lasting(&self) -> u64 {
        self.now()
    }

    /// Has a keeper look at the timers: the worker in the seat, or else the thread.
    fn ring(&self);

    /// What the wakers of the runtime's own tasks have in common. Dropping one never panics.
    fn own_wakers(&self) -> Option<&'static RawWakerVTable> {
        None
    }
}

/// The promises of a runtime's keepers, and the way to ring for them.
pub(crate) struct Vigil {
    promises: [AtomicU64; 2],
    driver: Box<dyn Driver>,
    /// How often somebody was rung for.
    rings: AtomicUsize,
}

impl Vigil {
    pub(crate) fn new(driver: Box<dyn Driver>) -> Self {
        Self {
            promises: [AtomicU64::new(NOT_KEEPING), AtomicU64::new(NOT_KEEPING)],
            driver,
            rings: AtomicUsize::new(0),
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.driver.now()
    }

    pub(crate) fn lasting(&self) -> u64 {
        self.driver.lasting()
    }

    pub(crate) fn own_wakers(&self) -> Option<&'static RawWakerVTable> {
        self.driver.own_wakers()
    }

    /// Publishes a promise. A fence follows before the keeper relies on it.
    pub(crate) fn promise(&self, keeper: Keeper, time: u64) {
        self.promises[keeper as usize].store(time, Ordering::Relaxed);
    }

    /// A deadline was published: rings if nobody has promised to look so much after it at the latest.
    pub(crate) fn rely(&self, deadline: u64, leniency: u64) {
        // Partner of the fences in `Timers`: either the keeper that falls asleep or leaves sees the
        // deadline, or we see what it has promised.
        fence(Ordering::SeqCst);
        self.check(deadline, leniency);
    }

    /// As [`rely`](Self::rely), for one who has had a fence between what it published and its look at
    /// the deadlines.
    pub(crate) fn check(&self, deadline: u64, leniency: u64) {
        let promised = |keeper: &AtomicU64| keeper.load(Ordering::Relaxed);
        let earliest = self.promises.iter().map(promised).min().unwrap_or(NOT_KEEPING);
        if deadline.saturating_add(leniency) < earliest {
            self.rings.fetch_add(1, Plain::Relaxed);
            self.driver.ring();
        }
    }

    pub(crate) fn rings(&self) -> usize {
        self.rings.load(Plain::Relaxed)
    }
}
