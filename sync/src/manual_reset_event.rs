//! An event that, once set, releases every waiter until it is reset.

use std::fmt;
use std::time::Duration;

use crate::event_state::EventState;
use crate::primitives::Mutex;
use crate::wait::{self, Signal, wait_future};
use crate::waiters::WaiterList;
use crate::waits::WaitsFor;
use crate::wake_batch::WakeBatch;

/// An event that releases all its waiters when it is set, and stays set until it is reset.
///
/// A waiter that is in the queue when [`set`](Self::set) is called is released, even if [`reset`](Self::reset) follows
/// before it runs. Everything that a thread did before `set` is visible to every waiter that the event releases.
///
/// Tasks of any runtime and plain threads can use an event at the same time, and waiting allocates nothing. It may be a
/// `static`.
///
/// # Cancelling
///
/// Dropping a wait future, or reaching a time-out, gives up the place in the queue and has no other effect.
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
        /// Creates an event, which is set if `set` is true.
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

    /// Releases all waiters, and lets later ones pass until the next [`reset`](Self::reset).
    ///
    /// # Panics
    ///
    /// Panics if a waiter's waker panics. The event is still set, and all other waiters are woken.
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

    /// Like [`set`](Self::set), but leaves waking the batch to the caller.
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

    /// Unsets the event. Waiters that were already released stay released.
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

    /// Returns true if the event is set.
    ///
    /// ```
    /// assert!(!windlass::sync::ManualResetEvent::new(false).is_set());
    /// ```
    #[inline]
    pub fn is_set(&self) -> bool {
        self.state.is_set()
    }

    /// Waits until the event is set. If it already is, the future is ready at once.
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

    /// Blocks the current thread until the event is set.
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

    /// Blocks the current thread until the event is set, or `timeout` has passed. Returns true if the event is set.
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
    const WAITS_FOR: WaitsFor = WaitsFor::Event;

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

/// Creates an event that is not set.
impl Default for ManualResetEvent {
    fn default() -> Self {
        Self::new(false)
    }
}

wait_future! {
    /// The future returned by [`ManualResetEvent::wait`]. Dropping it leaves the queue.
    pub struct ManualResetWait<'a>(&'a ManualResetEvent);
}
