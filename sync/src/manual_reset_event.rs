//! An event that, once set, lets everybody through until it is reset.

use std::fmt;
use std::time::Duration;

use crate::event_state::EventState;
use crate::primitives::Mutex;
use crate::wait::{self, Signal, wait_future};
use crate::waiters::WaiterList;
use crate::wake_batch::WakeBatch;

/// An event that releases all its waiters when it is set, and stays set until it is reset.
///
/// A waiter that is in the queue when [`set`](Self::set) is called is released for good, even if
/// [`reset`](Self::reset) follows before it gets to run. What a thread did before `set` is visible
/// to everyone the event lets through.
///
/// An event can be used by tasks of any runtime and by plain threads at the same time, and waiting
/// allocates nothing. It may be a `static`.
///
/// # Cancelling
///
/// Dropping a wait future, or running into a time-out, gives up the place in the queue and has no
/// other effect.
///
/// # Example
///
/// ```
/// use windlass::sync::ManualResetEvent;
///
/// let open = ManualResetEvent::new(false);
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| open.wait_blocking());
///     }
///     open.set();
/// });
/// assert!(open.is_set());
/// ```
pub struct ManualResetEvent {
    state: EventState,
    queue: Mutex<WaiterList>,
}

impl ManualResetEvent {
    const_fn! {
        /// An event that is set or not.
        ///
        /// ```
        /// use windlass::sync::ManualResetEvent;
        ///
        /// assert!(ManualResetEvent::new(true).is_set());
        /// ```
        pub const fn new(set: bool) -> Self {
            Self { state: EventState::new(set), queue: Mutex::new(WaiterList::new()) }
        }
    }

    /// Releases everybody who waits, and everybody who will until the next [`reset`](Self::reset).
    ///
    /// # Panics
    ///
    /// If a waiter's waker panics; the event is set and all others are woken nevertheless.
    ///
    /// ```
    /// use windlass::sync::ManualResetEvent;
    ///
    /// let event = ManualResetEvent::new(false);
    /// event.set();
    /// event.wait_blocking();
    /// event.wait_blocking();
    /// ```
    #[inline]
    pub fn set(&self) {
        if !self.state.try_set() {
            let mut batch = WakeBatch::new();
            self.release_all(&mut batch);
            batch.wake_all();
        }
    }

    /// `set`, with the waking left to the caller.
    pub(crate) fn set_into(&self, batch: &mut WakeBatch) {
        if !self.state.try_set() {
            self.release_all(batch);
        }
    }

    fn release_all(&self, batch: &mut WakeBatch) {
        let mut queue = self.queue.lock();
        // Before the first release, so that a released waiter finds the event set.
        self.state.set_locked();
        while let Some(waker) = queue.pop_front() {
            batch.push(waker);
        }
    }

    pub(crate) fn waiters(&self) -> &Mutex<WaiterList> {
        &self.queue
    }

    /// Makes the event unset. Waiters already released stay released.
    ///
    /// ```
    /// use windlass::sync::ManualResetEvent;
    ///
    /// let event = ManualResetEvent::new(true);
    /// event.reset();
    /// assert!(!event.is_set());
    /// ```
    pub fn reset(&self) {
        self.state.take();
    }

    /// Whether the event is set.
    ///
    /// ```
    /// assert!(!windlass::sync::ManualResetEvent::new(false).is_set());
    /// ```
    #[inline]
    pub fn is_set(&self) -> bool {
        self.state.is_set()
    }

    /// Waits until the event is set; at once if it is.
    ///
    /// # Panics
    ///
    /// The future panics if it is polled again after it has completed.
    ///
    /// ```
    /// use windlass::{block_on, sync::ManualResetEvent};
    ///
    /// let event = ManualResetEvent::new(true);
    /// block_on(event.wait());
    /// assert!(event.is_set(), "waiting takes nothing away");
    /// ```
    #[inline]
    pub fn wait(&self) -> ManualResetWait<'_> {
        ManualResetWait::new(self)
    }

    /// Blocks the thread until the event is set.
    ///
    /// ```
    /// use windlass::sync::ManualResetEvent;
    ///
    /// let event = ManualResetEvent::new(false);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| event.set());
    ///     event.wait_blocking();
    /// });
    /// ```
    pub fn wait_blocking(&self) {
        wait::wait_blocking(self);
    }

    /// Blocks the thread until the event is set (true) or `timeout` has passed (false).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::sync::ManualResetEvent;
    ///
    /// let event = ManualResetEvent::new(false);
    /// assert!(!event.wait_timeout(Duration::from_millis(1)));
    /// event.set();
    /// assert!(event.wait_timeout(Duration::ZERO));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        wait::wait_timeout(self, timeout)
    }
}

// SAFETY: the queue is that of the event behind the reference.
unsafe impl Signal for &ManualResetEvent {
    fn queue(&self) -> &Mutex<WaiterList> {
        &self.queue
    }

    #[inline]
    fn try_take(&self) -> bool {
        self.state.is_set()
    }

    fn take_or_announce(&self) -> bool {
        !self.state.announce()
    }

    fn withdraw(&self) {
        self.state.withdraw();
    }
}

impl fmt::Debug for ManualResetEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualResetEvent").field("set", &self.is_set()).finish_non_exhaustive()
    }
}

/// An event that is not set.
impl Default for ManualResetEvent {
    fn default() -> Self {
        Self::new(false)
    }
}

wait_future! {
    /// The future of [`ManualResetEvent::wait`]. Dropping it leaves the queue.
    pub struct ManualResetWait<'a>(&'a ManualResetEvent);
}
