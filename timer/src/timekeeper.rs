//! The timekeeper: the thread that sleeps until the next deadline, and how it is woken earlier.
//!
//! Any thread of the runtime that is awake fires timers: workers look when they run out of work, and every 50 µs or so
//! while they are busy. While all of them sleep, one thread of the runtime blocks until the next deadline: the
//! **timekeeper**. It publishes the time at which it will look, its *promise*. If there is no timekeeper, some thread
//! is awake and looks before it sleeps; the promise is [`AWAKE`] then.
//!
//! # The handshake
//!
//! A shard publishes its next deadline; see [`Shard`](crate::Shard).
//!
//! - *Arming a timer* whose deadline is earlier than all others of the shard: publish the deadline; fence; read the
//!   promise; wake the timekeeper if the promise is too late.
//! - *Becoming the timekeeper*: publish the promise; fence; read the deadlines of all shards; start again if one of
//!   them is earlier than the promise.
//!
//! The fences are totally ordered. If the arming thread's fence comes first, the timekeeper sees the deadline;
//! otherwise the arming thread sees the promise. If the shard has already published an earlier deadline, neither is
//! needed: the timekeeper looks at that time, and looks at the whole wheel. Cancelling a timer leaves the published
//! deadline as it is, so that a thread may look once in vain.
//!
//! # Workers
//!
//! A worker that arms a timer is awake and looks by itself, so it does not wake another thread: a task that sleeps for
//! 100 µs again and again wakes no second thread. When the worker falls asleep without becoming the timekeeper, or
//! leaves for good, as a spare does right after its last poll, it reads the promise and wakes the timekeeper if the
//! promise is too late ([`Timers::entrust`](crate::Timers::entrust)). If the worker is blocked before that, the
//! runtime's monitor takes care of its timers.

use std::task::{RawWakerVTable, Waker};

use windlass_sync::primitives::plain::{AtomicUsize, Ordering as Plain};
use windlass_sync::primitives::{AtomicU64, Ordering, fence};

/// A time that never comes. It is the deadline of an empty shard.
pub const NEVER: u64 = u64::MAX;
/// The promise while there is no timekeeper, because some thread is awake and looks before it sleeps.
const AWAKE: u64 = 0;

/// Gives timers access to their runtime.
pub trait Driver: Send + Sync {
    /// Returns the time, in nanoseconds since the [`epoch`](crate::epoch).
    fn now(&self) -> u64;

    /// Returns the real time, to measure how long things take. The same as [`now`](Self::now), unless that time is
    /// virtual.
    fn real_now(&self) -> u64 {
        self.now()
    }

    /// Wakes the timekeeper, so that it looks at the timers.
    fn wake_timekeeper(&self);

    /// Returns true if the current thread is a worker of the runtime, which looks at the timers by itself.
    fn is_on_worker(&self) -> bool {
        false
    }

    /// Returns the vtable of the wakers of the runtime's own tasks. Such a waker neither blocks nor panics.
    fn own_wakers(&self) -> Option<&'static RawWakerVTable> {
        None
    }

    /// Returns true if a waker that is not of the runtime's own tasks may block. Called under a lock.
    fn may_block(&self, _waker: &Waker) -> bool {
        true
    }
}

/// The timekeeper's promise, and the way to wake it.
pub(crate) struct Timekeeper {
    promise: AtomicU64,
    pub(crate) driver: Box<dyn Driver>,
    /// How often the timekeeper was woken.
    wakes: AtomicUsize,
}

impl Timekeeper {
    pub(crate) fn new(driver: Box<dyn Driver>) -> Self {
        Self { promise: AtomicU64::new(AWAKE), driver, wakes: AtomicUsize::new(0) }
    }

    /// Publishes the timekeeper's promise, followed by a fence.
    pub(crate) fn promise(&self, time: u64) {
        self.promise.store(time, Ordering::Relaxed);
        // Partner of the fence in `notify`: either the timekeeper sees the deadline that was armed, or the
        // thread that armed it sees the promise.
        fence(Ordering::SeqCst);
    }

    /// Withdraws the promise, because the timekeeper is awake and looks before it sleeps.
    pub(crate) fn wake_up(&self) {
        self.promise.store(AWAKE, Ordering::Relaxed);
    }

    /// Wakes the timekeeper if it would look too late for a deadline that was published.
    pub(crate) fn notify(&self, deadline: u64) {
        if self.driver.is_on_worker() {
            return;
        }
        // Partner of the fence in `promise`.
        fence(Ordering::SeqCst);
        self.notify_after_fence(deadline);
    }

    /// Like [`notify`](Self::notify), but after a `SeqCst` fence by the caller.
    pub(crate) fn notify_after_fence(&self, deadline: u64) {
        if deadline < self.promise.load(Ordering::Relaxed) {
            self.wakes.fetch_add(1, Plain::Relaxed);
            self.driver.wake_timekeeper();
        }
    }

    /// Returns true if there is a timekeeper. It orders nothing.
    pub(crate) fn is_present(&self) -> bool {
        self.promise.load(Ordering::Relaxed) != AWAKE
    }

    pub(crate) fn wakes(&self) -> usize {
        self.wakes.load(Plain::Relaxed)
    }
}
