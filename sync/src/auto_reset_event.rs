//! An event that lets one waiter through for each time it is set.

use std::fmt;
use std::time::Duration;

use crate::event_state::EventState;
use crate::primitives::Mutex;
use crate::wait::{self, Signal, wait_future};
use crate::waiters::WaiterList;

/// An event that releases one waiter per [`set`](Self::set), and keeps one signal if nobody waits.
///
/// - `set` with waiters releases the one that has waited longest; the event stays unset.
/// - `set` without waiters makes the event set. On an event that is set already it changes
///   nothing: signals are not counted.
/// - Waiting on a set event takes the signal and returns at once.
///
/// What a thread did before `set` is visible to the waiter that the signal lets through. That
/// holds for every `set`, also one that found the event set: whoever takes the one kept signal
/// sees what all of them did before.
///
/// An event can be used by tasks of any runtime and by plain threads at the same time, and waiting
/// allocates nothing. It may be a `static`.
///
/// # Cancelling
///
/// Dropping a wait future, or running into a time-out, gives up the place in the queue. If the
/// waiter had been released already, its signal goes to the next in the queue or back into the
/// event, so no signal is lost.
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
        /// An event that is set or not.
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

    /// Releases the waiter that has waited longest, or keeps the signal for the next one to come.
    ///
    /// # Panics
    ///
    /// If the waiter's waker panics; the waiter is released nevertheless.
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
            // Whoever waited has gone in the meantime.
            None => self.state.set_locked(),
        }
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes back a signal that nobody has taken yet. Waiters already released stay released.
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

    /// Whether a signal is kept. Nothing is taken, so another thread may be quicker than the
    /// caller's next step.
    ///
    /// ```
    /// assert!(windlass::sync::AutoResetEvent::new(true).is_set());
    /// ```
    pub fn is_set(&self) -> bool {
        self.state.is_set()
    }

    /// Waits for a signal and takes it. Waiters are served in the order of their first poll.
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

    /// Blocks the thread until it has got a signal.
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

    /// Blocks the thread until it has got a signal (true) or `timeout` has passed (false). With
    /// `Duration::ZERO` it takes a signal that is there and never blocks.
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
    fn queue(&self) -> &Mutex<WaiterList> {
        &self.queue
    }

    #[inline]
    fn try_take(&self) -> bool {
        self.state.take()
    }

    fn take_or_announce(&self) -> bool {
        // Round again if another thread was quicker to take the signal.
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

/// An event that is not set.
impl Default for AutoResetEvent {
    fn default() -> Self {
        Self::new(false)
    }
}

wait_future! {
    /// The future of [`AutoResetEvent::wait`].
    ///
    /// Dropping it leaves the queue; a signal it had been given goes to the next waiter or back
    /// into the event.
    pub struct AutoResetWait<'a>(&'a AutoResetEvent);
}
