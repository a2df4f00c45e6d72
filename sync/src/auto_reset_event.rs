//! An event that releases one waiter each time it is set.

use std::fmt;
use std::time::Duration;

use crate::event_state::EventState;
use crate::primitives::Mutex;
use crate::wait::{self, Signal, wait_future};
use crate::waiters::WaiterList;
use crate::waits::WaitsFor;

/// An event that releases one waiter each time it is [`set`](Self::set), and keeps one signal if nobody waits.
///
/// - `set` with waiters releases the one that has waited longest; the event stays unset.
/// - `set` without waiters sets the event. If the event is already set, nothing changes: signals are not counted.
/// - Waiting for an event that is set takes the signal and returns at once.
///
/// Everything that a thread did before `set` is visible to the waiter that the signal releases. This holds for every
/// `set`, even if the event was already set: the waiter that takes the signal sees what all of the setters did before.
///
/// Tasks of any runtime and plain threads can use an event at the same time, and waiting allocates nothing. It may be a
/// `static`.
///
/// # Cancelling
///
/// Dropping a wait future, or reaching a time-out, gives up the place in the queue. If the waiter had already been
/// released, its signal goes to the next waiter in the queue or back into the event, so that no signal is lost.
///
/// # Example
///
/// ```
/// use windlass::sync::AutoResetEvent;
///
/// static READY: AutoResetEvent = AutoResetEvent::new(false);
///
/// let worker = std::thread::spawn(|| READY.wait_blocking());
/// READY.set();
/// worker.join().unwrap();
/// assert!(!READY.is_set());
/// ```
pub struct AutoResetEvent {
    state: EventState,
    queue: Mutex<WaiterList>,
}

impl AutoResetEvent {
    const_fn! {
        /// Creates an event, which is set if `set` is true.
        ///
        /// ```
        /// use windlass::sync::AutoResetEvent;
        ///
        /// assert!(AutoResetEvent::new(true).is_set());
        /// ```
        pub const fn new(set: bool) -> Self {
            Self { state: EventState::new(set), queue: Mutex::new(WaiterList::new()) }
        }
    }

    /// Releases the waiter that has waited longest. If nobody waits, keeps the signal for the next waiter.
    ///
    /// # Panics
    ///
    /// Panics if the waiter's waker panics. The waiter is still released.
    ///
    /// ```
    /// use windlass::sync::AutoResetEvent;
    ///
    /// let event = AutoResetEvent::new(false);
    /// event.set();
    /// event.set();
    /// event.wait_blocking();
    /// assert!(!event.is_set(), "two signals with nobody waiting are one");
    /// ```
    #[inline]
    pub fn set(&self) {
        if !self.state.try_set() {
            self.release_one();
        }
    }

    fn release_one(&self) {
        let mut queue = self.queue.lock();
        let waker = queue.pop_front();
        match waker {
            Some(_) if queue.is_empty() => self.state.withdraw(),
            Some(_) => {}
            // All waiters have left in the meantime.
            None => self.state.set_locked(),
        }
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Removes a signal that no waiter has taken yet. Waiters that were already released stay released.
    ///
    /// ```
    /// use windlass::sync::AutoResetEvent;
    ///
    /// let event = AutoResetEvent::new(true);
    /// event.reset();
    /// assert!(!event.is_set());
    /// ```
    pub fn reset(&self) {
        self.state.take();
    }

    /// Returns true if the event is set. The signal stays there, so another thread may take it at any time.
    ///
    /// ```
    /// assert!(windlass::sync::AutoResetEvent::new(true).is_set());
    /// ```
    pub fn is_set(&self) -> bool {
        self.state.is_set()
    }

    /// Waits for a signal and takes it. Waiters are released in the order of their first poll.
    ///
    /// # Panics
    ///
    /// The future panics if it is polled again after it has completed.
    ///
    /// ```
    /// use windlass::{block_on, sync::AutoResetEvent};
    ///
    /// let event = AutoResetEvent::new(true);
    /// block_on(async {
    ///     event.wait().await;
    ///     assert!(!event.is_set());
    /// });
    /// ```
    #[inline]
    pub fn wait(&self) -> AutoResetWait<'_> {
        AutoResetWait::new(self)
    }

    /// Blocks the current thread until it has taken a signal.
    ///
    /// ```
    /// use windlass::sync::AutoResetEvent;
    ///
    /// let event = AutoResetEvent::new(false);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| event.set());
    ///     event.wait_blocking();
    /// });
    /// ```
    pub fn wait_blocking(&self) {
        wait::wait_blocking(self);
    }

    /// Blocks the current thread until it has taken a signal, or `timeout` has passed. Returns true if it has taken a
    /// signal. With `Duration::ZERO`, never blocks.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::sync::AutoResetEvent;
    ///
    /// let event = AutoResetEvent::new(true);
    /// assert!(event.wait_timeout(Duration::from_secs(1)));
    /// assert!(!event.wait_timeout(Duration::from_millis(1)));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        wait::wait_timeout(self, timeout)
    }
}

// SAFETY: the queue is that of the event behind the reference.
unsafe impl Signal for &AutoResetEvent {
    const WAITS_FOR: WaitsFor = WaitsFor::Event;

    fn queue(&self) -> &Mutex<WaiterList> {
        &self.queue
    }

    #[inline]
    fn try_take(&self) -> bool {
        self.state.take()
    }

    fn take_or_announce(&self) -> bool {
        // Try again if another thread has taken the signal first.
        while !self.state.announce() {
            if self.state.take() {
                return true;
            }
        }
        false
    }

    fn withdraw(&self) {
        self.state.withdraw();
    }

    fn pass_on(&self) {
        self.set();
    }
}

impl fmt::Debug for AutoResetEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AutoResetEvent").field("set", &self.is_set()).finish_non_exhaustive()
    }
}

/// Creates an event that is not set.
impl Default for AutoResetEvent {
    fn default() -> Self {
        Self::new(false)
    }
}

wait_future! {
    /// The future returned by [`AutoResetEvent::wait`].
    ///
    /// Dropping it leaves the queue. If it had already been released, its signal goes to the next waiter or back into
    /// the event.
    pub struct AutoResetWait<'a>(&'a AutoResetEvent);
}
