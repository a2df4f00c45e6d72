//! A countdown that can be freed as soon as it has been waited for.
//!
//! # Who may access a latch, and until when
//!
//! A latch often lives in the stack frame of the thread that waits for it, and other threads reach it through a
//! pointer. The waiter returns and its frame is gone, while the thread that counted down last may still be inside
//! [`Latch::count_down`]. So the last access of a counter must come before anything that lets a waiter return. *Waiter*
//! here includes a thread that learns from [`Latch::is_open`] or [`Latch::count`] that the latch is open.
//!
//! The state word holds the count and a flag, ENLISTED, which means that the queue was not empty. The flag changes only
//! under the queue's lock. The latch is **open** if the word is 0, and **opening** if the count is 0 and the flag is
//! still set.
//!
//! A counter does one of three things, each of which ends with its last access to the latch:
//!
//! 1. It subtracts, and the count stays above 0. That is one compare-and-swap, which is its last access.
//! 2. It takes the count to 0 and finds ENLISTED unset. That is one compare-and-swap to open, which is its last access.
//! 3. It would take the count to 0 and finds ENLISTED set. It takes the lock and swaps in *opening* (never *open*, even
//!    if the last waiter has left in the meantime), moves all wakers to its own stack, and releases the lock, which is
//!    its last access. It wakes the wakers from its stack.
//!
//! A waiter returns in one of two ways:
//!
//! - It reads *open*. Either step 2 wrote it, and that was the counter's last access, or a waiter wrote it under the
//!   lock (see below), after the counter of step 3 had released the lock.
//! - It reads *opening*, or finds its own waiter RELEASED. Step 3 writes both under the lock. The waiter then takes the
//!   lock itself (it *settles*), and so comes after the counter's unlocking. There it changes *opening* to *open*,
//!   which spares later waiters the lock.
//!
//! Only step 3 subtracts under the lock. If a subtraction of the first kind were made there, its thread would still
//! have to unlock when another thread opens the latch without the lock.
//!
//! One thing is left to the mutex: unlocking it must not touch its memory after the store that lets the next thread in.
//! `std`'s mutex at most passes the *address* to the system, for a wake-up that an unrelated waiter at the same address
//! treats as spurious. POSIX requires the same of its own mutexes.
//!
//! Rejected: counting down with `fetch_sub`, which cannot decide between 2 and 3 before it has opened the latch;
//! releasing in batches with the lock taken again in between, which would be another access; having each released
//! waiter release the next, which stops at one that is leaked.

use std::fmt;
use std::time::Duration;

use crate::primitives::{AtomicUsize, Mutex, Ordering, peek};
use crate::wait::{self, Signal, wait_future};
use crate::waiters::WaiterList;
use crate::waits::WaitsFor;
use crate::wake_batch::WakeBatch;

/// The state word: the count, and whether there are waiters in the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State(usize);

impl State {
    /// Set by a waiter that joins the queue. Cleared by the last one that leaves it, or by the first one that finds the
    /// latch opening.
    const ENLISTED: usize = 1;
    const OPEN: State = State(0);
    const OPENING: State = State(Self::ENLISTED);
    const MAX_COUNT: usize = usize::MAX >> 1;

    const fn new(count: usize) -> Self {
        Self(count << 1)
    }

    fn count(self) -> usize {
        self.0 >> 1
    }

    fn is_enlisted(self) -> bool {
        self.0 & Self::ENLISTED != 0
    }

    fn enlisted(self) -> Self {
        Self(self.0 | Self::ENLISTED)
    }

    fn minus(self, count: usize) -> Self {
        Self(self.0 - (count << 1))
    }
}

/// A counter that opens when it reaches zero, and stays open.
///
/// Everything that a thread did before [`count_down`](Self::count_down) is visible to every thread that finds the latch
/// open.
///
/// **A latch may be freed as soon as a wait for it has returned**, or [`is_open`](Self::is_open) has returned true. The
/// call to `count_down` that opened it may not have returned yet on its own thread, but it does not access the latch
/// any more. This matters only to code that reaches the latch through a raw pointer, because the borrow checker
/// prevents it in safe code. All other waiters must have returned as well.
///
/// # Cancelling
///
/// Dropping a wait future, or reaching a time-out, leaves the count as it is.
///
/// # Example
///
/// ```
/// use windlass::sync::Latch;
///
/// let done = Latch::new(3);
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| done.count_down());
///     }
///     done.wait_blocking();
/// });
/// assert!(done.is_open());
/// ```
pub struct Latch {
    state: AtomicUsize,
    queue: Mutex<WaiterList>,
}

impl Latch {
    const_fn! {
        /// Creates a latch that opens after `count` steps. If `count` is zero, it is open from the start.
        ///
        /// # Panics
        ///
        /// Panics if `count` is more than `usize::MAX / 2`.
        ///
        /// ```
        /// use windlass::sync::Latch;
        ///
        /// assert!(Latch::new(0).is_open());
        /// assert_eq!(Latch::new(7).count(), 7);
        /// ```
        pub const fn new(count: usize) -> Self {
            assert!(count <= State::MAX_COUNT, "a latch counts to usize::MAX / 2 at the most");
            Self {
                state: AtomicUsize::new(State::new(count).0),
                queue: Mutex::new(WaiterList::new()),
            }
        }
    }

    /// Counts one step. The last step opens the latch and releases all waiters.
    ///
    /// # Panics
    ///
    /// Panics if the latch is already open; use [`try_count_down`](Self::try_count_down) where that may happen. Also
    /// panics if a waiter's waker does; the latch is still open, and all other waiters are woken.
    ///
    /// ```
    /// use windlass::sync::Latch;
    ///
    /// let latch = Latch::new(2);
    /// latch.count_down();
    /// assert_eq!(latch.count(), 1);
    /// latch.count_down();
    /// latch.wait_blocking();
    /// ```
    #[inline]
    #[track_caller]
    pub fn count_down(&self) {
        assert!(
            self.try_count_down(1),
            "Latch::count_down on a latch that is already open; make it with a larger count, or \
             use try_count_down"
        );
    }

    /// Counts `steps` steps at once. If fewer are left, counts nothing and returns false.
    ///
    /// # Panics
    ///
    /// Panics if a waiter's waker panics. The latch is still open, and all other waiters are woken.
    ///
    /// ```
    /// use windlass::sync::Latch;
    ///
    /// let latch = Latch::new(3);
    /// assert!(latch.try_count_down(2));
    /// assert!(!latch.try_count_down(2));
    /// assert_eq!(latch.count(), 1);
    /// ```
    #[must_use = "returns whether the steps were counted"]
    pub fn try_count_down(&self, steps: usize) -> bool {
        if steps == 0 {
            return true;
        }
        if steps > State::MAX_COUNT {
            return false;
        }
        let mut current = State(peek(&self.state, State::new(steps).0));
        loop {
            if current.count() < steps {
                return false;
            }
            if current.count() == steps && current.is_enlisted() {
                return self.open_locked(steps);
            }
            // Release pairs with the Acquire of a thread that finds the latch open. That includes earlier counters,
            // because a read-modify-write continues their release sequence.
            match self.state.compare_exchange(
                current.0,
                current.minus(steps).0,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                // From here on the latch may be gone.
                Ok(_) => return true,
                Err(now) => current = State(now),
            }
        }
    }

    /// Counts the last `steps` under the lock. Returns false if fewer are left.
    #[cold]
    fn open_locked(&self, steps: usize) -> bool {
        let mut batch = WakeBatch::new();
        let mut queue = self.queue.lock();
        let mut current = State::new(steps).enlisted();
        while current.count() == steps {
            // Not OPEN, even if ENLISTED has been cleared: a waiter that reads OPEN does not wait for the unlocking
            // below. Relaxed: the lock orders what this counter did, and a read-modify-write does not break the release
            // sequence of earlier counters.
            match self.state.compare_exchange(
                current.0,
                State::OPENING.0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    while let Some(waker) = queue.pop_front() {
                        batch.push(waker);
                    }
                    drop(queue);
                    // From here on the latch may be gone.
                    batch.wake_all();
                    return true;
                }
                Err(now) => current = State(now),
            }
        }
        false
    }

    /// Returns the number of steps that are left. If this is 0, the latch may be freed, as after a wait.
    ///
    /// ```
    /// assert_eq!(windlass::sync::Latch::new(3).count(), 3);
    /// ```
    pub fn count(&self) -> usize {
        // Acquire pairs with the Release of all counters.
        let state = State(self.state.load(Ordering::Acquire));
        if state == State::OPENING {
            self.open_settled();
        }
        state.count()
    }

    /// Returns true if the count has reached zero. Then the latch may be freed, as after a wait.
    ///
    /// ```
    /// use windlass::sync::Latch;
    ///
    /// let latch = Latch::new(1);
    /// assert!(!latch.is_open());
    /// latch.count_down();
    /// assert!(latch.is_open());
    /// ```
    #[inline]
    pub fn is_open(&self) -> bool {
        self.count() == 0
    }

    /// Waits until the counter that made the latch OPENING has released the lock.
    fn open_settled(&self) {
        let queue = self.queue.lock();
        self.settle_locked();
        drop(queue);
    }

    /// Changes OPENING to OPEN. Acquire pairs with the Release of all counters, because the lock orders only what the
    /// opener did, not what earlier counters did. Release pairs with the Acquire of a thread that reads OPEN, and
    /// orders the opener's unlocking before it.
    fn settle_locked(&self) {
        self.state.fetch_and(!State::ENLISTED, Ordering::AcqRel);
    }

    /// Waits until the latch is open.
    ///
    /// # Panics
    ///
    /// The future panics if it is polled again after it has completed.
    ///
    /// ```
    /// use windlass::{block_on, sync::Latch};
    ///
    /// let latch = Latch::new(1);
    /// latch.count_down();
    /// block_on(latch.wait());
    /// ```
    pub fn wait(&self) -> LatchWait<'_> {
        LatchWait::new(self)
    }

    /// Blocks the current thread until the latch is open.
    ///
    /// ```
    /// use windlass::sync::Latch;
    ///
    /// let latch = Latch::new(1);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| latch.count_down());
    ///     latch.wait_blocking();
    /// });
    /// ```
    pub fn wait_blocking(&self) {
        wait::wait_blocking(self);
    }

    /// Blocks the current thread until the latch is open, or `timeout` has passed. Returns true if the latch is open.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::sync::Latch;
    ///
    /// let latch = Latch::new(1);
    /// assert!(!latch.wait_timeout(Duration::from_millis(1)));
    /// latch.count_down();
    /// assert!(latch.wait_timeout(Duration::ZERO));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        wait::wait_timeout(self, timeout)
    }
}

// SAFETY: the queue is that of the latch behind the reference.
unsafe impl Signal for &Latch {
    const WAITS_FOR: WaitsFor = WaitsFor::Latch;

    fn queue(&self) -> &Mutex<WaiterList> {
        &self.queue
    }

    #[inline]
    fn try_take(&self) -> bool {
        // Acquire pairs with the Release in `try_count_down` and `settle_locked`.
        State(self.state.load(Ordering::Acquire)) == State::OPEN
    }

    fn take_or_announce(&self) -> bool {
        // Acquire pairs with the Release of all counters. Setting the flag of an open latch makes it OPENING while we
        // hold the lock, so that others wait for the lock.
        let before = State(self.state.fetch_or(State::ENLISTED, Ordering::Acquire));
        if before.count() == 0 {
            self.settle_locked();
        }
        before.count() == 0
    }

    fn withdraw(&self) {
        // Relaxed: it only tells openers that they need not take the lock. A read-modify-write does not break the
        // release sequence of the counters.
        self.state.fetch_and(!State::ENLISTED, Ordering::Relaxed);
    }

    fn settle(&self) {
        self.open_settled();
    }
}

/// Makes a model fail if an access to the state word is not ordered before the drop of the latch.
#[cfg(loom)]
impl Drop for Latch {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.state.with_mut(|_| ());
        }
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latch").field("count", &self.count()).finish_non_exhaustive()
    }
}

wait_future! {
    /// The future returned by [`Latch::wait`]. Dropping it leaves the count as it is.
    pub struct LatchWait<'a>(&'a Latch);
}
