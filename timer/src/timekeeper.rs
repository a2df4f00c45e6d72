//! Who looks at the timers next, and how it is told to look sooner.
//!
//! Timers are fired by whoever is awake: workers look when they run out of work, and every 50 µs or so while they are
//! busy. While all of them sleep, one thread of the runtime blocks until the next deadline: the **timekeeper**. It
//! publishes the time at which it will look, its *promise*. While there is no timekeeper, somebody is awake, and looks
//! before it sleeps; the promise is [`AWAKE`] then.
//!
//! # The handshake
//!
//! A shard publishes its next deadline; see [`Shard`](crate::Shard).
//!
//! - *Arming*, if the deadline is earlier than all others of the shard: publish it; fence; read the
//!   promise; wake the timekeeper if the promise is too late.
//! - *Becoming the timekeeper*: publish the promise; fence; read the deadlines of all shards, and
//!   start anew if one is earlier than the promise.
//!
//! The fences are totally ordered. If the one of the arming thread comes first, the timekeeper sees the
//! deadline; otherwise the arming thread sees the promise. A shard's deadline that is early enough
//! already needs neither: the timekeeper looks then, and looks at the whole wheel. A timer that is cancelled
//! leaves the published deadline as it is, so somebody may look in vain, once.
//!
//! # Workers
//!
//! A worker that arms a timer is awake and looks by itself, so it does not have to wake anybody: a task that naps for
//! 100 µs again and again wakes no second thread. Only when the worker falls asleep, and is not the timekeeper itself,
//! it reads the promise and wakes the timekeeper if that is too late ([`Timers::entrust`](crate::Timers::entrust)).
//! If the worker gets stuck before that, its timers are up to whoever watches over the workers.

use std::task::RawWakerVTable;

use windlass_sync::primitives::plain::{AtomicUsize, Ordering as Plain};
use windlass_sync::primitives::{AtomicU64, Ordering, fence};

/// What never comes: the deadline of an empty shard.
pub const NEVER: u64 = u64::MAX;
/// The promise while there is no timekeeper: somebody is awake, and looks before it sleeps.
const AWAKE: u64 = 0;

/// What timers need of their runtime.
pub trait Driver: Send + Sync {
    /// Returns the time, in nanoseconds since the [`epoch`](crate::epoch).
    fn now(&self) -> u64;

    /// Returns a time that really passes, to measure how long things take. The same as [`now`](Self::now), unless
    /// that is a virtual time.
    fn lasting(&self) -> u64 {
        self.now()
    }

    /// Has the timekeeper look at the timers.
    fn wake_timekeeper(&self);

    /// Returns true if the current thread looks at the timers by itself: it is a worker of the runtime.
    fn is_on_worker(&self) -> bool {
        false
    }

    /// Returns what the wakers of the runtime's own tasks have in common. Dropping one never panics.
    fn own_wakers(&self) -> Option<&'static RawWakerVTable> {
        None
    }
}

/// The timekeeper's promise, and the way to wake it.
pub(crate) struct Timekeeper {
    promise: AtomicU64,
    driver: Box<dyn Driver>,
    /// How often the timekeeper was woken.
    wakes: AtomicUsize,
}

impl Timekeeper {
    pub(crate) fn new(driver: Box<dyn Driver>) -> Self {
        Self { promise: AtomicU64::new(AWAKE), driver, wakes: AtomicUsize::new(0) }
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

    /// Publishes a promise, by the timekeeper, and passes the fence.
    pub(crate) fn promise(&self, time: u64) {
        self.promise.store(time, Ordering::Relaxed);
        // Partner of the fence in `rely`: either the timekeeper sees the deadline that was armed, or the
        // thread that armed it sees the promise.
        fence(Ordering::SeqCst);
    }

    /// The timekeeper is awake, and looks before it sleeps.
    pub(crate) fn wake_up(&self) {
        self.promise.store(AWAKE, Ordering::Relaxed);
    }

    /// A deadline was published: wakes the timekeeper if it would look too late.
    pub(crate) fn rely(&self, deadline: u64) {
        if self.driver.is_on_worker() {
            return;
        }
        // Partner of the fence in `promise`.
        fence(Ordering::SeqCst);
        self.check(deadline);
    }

    /// As [`rely`](Self::rely), after a fence of the caller's.
    pub(crate) fn check(&self, deadline: u64) {
        if deadline < self.promise.load(Ordering::Relaxed) {
            self.wakes.fetch_add(1, Plain::Relaxed);
            self.driver.wake_timekeeper();
        }
    }

    /// True if there is a timekeeper. Orders nothing.
    pub(crate) fn is_there(&self) -> bool {
        self.promise.load(Ordering::Relaxed) != AWAKE
    }

    pub(crate) fn wakes(&self) -> usize {
        self.wakes.load(Plain::Relaxed)
    }
}
