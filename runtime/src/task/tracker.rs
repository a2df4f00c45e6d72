//! Waiting for tasks without collecting their results.
//!
//! # Protocol
//!
//! The word is twice the number of tracked tasks, plus one while the tracker is closed. The thread that makes it 1,
//! which means closed and empty, takes the waiters' wakers under the lock and wakes them after it. A waiter stores its
//! waker under the lock and reads the word again there: if it does not see 1, the word becomes 1 later, and the thread
//! that makes it so finds the waker. `passed` counts how often that has happened, so that a waiter that was woken
//! knows it even if more tasks are tracked by then.

mod spawns;

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::waits::Waits;
use super::{quietly, waker};
use crate::primitives::{Arc, AtomicUsize, Mutex, Ordering};

/// Set while the tracker is closed.
const CLOSED: usize = 1;
/// One tracked task.
const ONE: usize = 2;

/// Tracks tasks until they have ended, without keeping their results. A server uses it to wait for its remaining
/// connections at shutdown.
///
/// [`wait`](Self::wait) returns when the tracker is both [closed](Self::close) and empty. Unlike a
/// [`JoinSet`](super::JoinSet), a tracker keeps nothing of a task that has ended, and dropping it cancels no task.
/// Clones share the same tracker.
///
/// # Examples
///
/// ```
/// use windlass::sync::CancellationToken;
/// use windlass::task::TaskTracker;
///
/// # windlass::block_on(async {
/// let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
/// for _ in 0..3 {
///     let stop = stop.clone();
///     drop(tracker.spawn(async move { stop.cancelled().await }));
/// }
/// tracker.close(); // no more to come
/// stop.cancel();
/// tracker.wait().await;
/// assert!(tracker.is_empty());
/// # });
/// ```
#[derive(Clone, Default)]
pub struct TaskTracker(Arc<Shared>);

#[derive(Default)]
struct Shared {
    word: AtomicUsize,
    waiters: Mutex<TrackerWaiters>,
}

#[derive(Default)]
struct TrackerWaiters {
    /// The number of times that the tracker became closed and empty.
    passed: u64,
    next: u64,
    wakers: Vec<(u64, Waker)>,
}

impl TaskTracker {
    /// Creates a tracker that is open and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let tracker = windlass::task::TaskTracker::new();
    /// assert!(tracker.is_empty() && !tracker.is_closed());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a future that is tracked until it is ready or dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let tracker = windlass::task::TaskTracker::new();
    /// let future = tracker.track_future(async { 42 });
    /// assert_eq!(tracker.len(), 1);
    /// assert_eq!(future.await, 42);
    /// assert!(tracker.is_empty());
    /// # });
    /// ```
    pub fn track_future<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let token = self.token();
        async move {
            let output = pin!(future).await;
            drop(token);
            output
        }
    }

    /// Returns a token that counts as a tracked task until it is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// let tracker = windlass::task::TaskTracker::new();
    /// let token = tracker.token();
    /// assert_eq!(tracker.len(), 1);
    /// drop(token);
    /// assert!(tracker.is_empty());
    /// ```
    pub fn token(&self) -> TaskTrackerToken {
        // Relaxed: it orders nothing. The drop of the token publishes what the task did.
        self.0.word.fetch_add(ONE, Ordering::Relaxed);
        TaskTrackerToken(self.clone())
    }

    /// Returns true if both are clones of the same tracker.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::TaskTracker;
    ///
    /// let tracker = TaskTracker::new();
    /// assert!(TaskTracker::ptr_eq(&tracker, &tracker.clone()));
    /// assert!(!TaskTracker::ptr_eq(&tracker, &TaskTracker::new()));
    /// ```
    pub fn ptr_eq(one: &Self, other: &Self) -> bool {
        Arc::ptr_eq(&one.0, &other.0)
    }

    /// Closes the tracker, so that [`wait`](Self::wait) returns once it is empty. Returns true if it was open. Tasks
    /// can still be added.
    ///
    /// # Examples
    ///
    /// ```
    /// let tracker = windlass::task::TaskTracker::new();
    /// assert!(tracker.close());
    /// assert!(tracker.is_closed());
    /// assert!(tracker.reopen());
    /// assert!(!tracker.is_closed());
    /// ```
    pub fn close(&self) -> bool {
        // Release pairs with the Acquire in `is_done`; Acquire with the Release of the tokens.
        let before = self.0.word.fetch_or(CLOSED, Ordering::AcqRel);
        if before == 0 {
            self.0.wake_waiters();
        }
        before & CLOSED == 0
    }

    /// Opens the tracker again. Returns true if it was closed.
    ///
    /// # Examples
    ///
    /// ```
    /// let tracker = windlass::task::TaskTracker::new();
    /// tracker.close();
    /// assert!(tracker.reopen());
    /// assert!(!tracker.reopen(), "it was open already");
    /// ```
    pub fn reopen(&self) -> bool {
        // Relaxed: it publishes nothing.
        self.0.word.fetch_and(!CLOSED, Ordering::Relaxed) & CLOSED != 0
    }

    /// Returns true if the tracker is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// let tracker = windlass::task::TaskTracker::new();
    /// assert!(!tracker.is_closed());
    /// tracker.close();
    /// assert!(tracker.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.0.word.load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Returns the number of tasks that have not ended.
    ///
    /// # Examples
    ///
    /// ```
    /// let tracker = windlass::task::TaskTracker::new();
    /// let _tokens = [tracker.token(), tracker.token()];
    /// assert_eq!(tracker.len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        self.0.word.load(Ordering::Relaxed) / ONE
    }

    /// Returns true if no task is tracked.
    ///
    /// # Examples
    ///
    /// ```
    /// let tracker = windlass::task::TaskTracker::new();
    /// assert!(tracker.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until the tracker is closed and empty at the same time, even if only for a moment. Dropping
    /// the future has no effect.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let tracker = windlass::task::TaskTracker::new();
    /// drop(tracker.spawn(async {}));
    /// tracker.close();
    /// tracker.wait().await;
    /// # });
    /// ```
    pub fn wait(&self) -> TaskTrackerWait<'_> {
        TaskTrackerWait { shared: &self.0, waiting: None }
    }
}

impl fmt::Debug for TaskTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTracker")
            .field("len", &self.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn is_done(&self) -> bool {
        // Acquire pairs with the Release of the thread that made it so, and through it with those of all tracked tasks.
        self.word.load(Ordering::Acquire) == CLOSED
    }

    /// Wakes the waiters of a tracker that has become closed and empty.
    #[cold]
    fn wake_waiters(&self) {
        let mut waiters = self.waiters.lock();
        waiters.passed += 1;
        let wakers = mem::take(&mut waiters.wakers);
        drop(waiters);
        // A waker that panics does not keep the others waiting.
        wakers.into_iter().for_each(|(_, waker)| quietly(|| waker.wake()));
    }
}

/// Counts as a task of a [`TaskTracker`] until it is dropped. Returned by [`TaskTracker::token`]. A
/// clone counts as another one.
pub struct TaskTrackerToken(TaskTracker);

impl Clone for TaskTrackerToken {
    fn clone(&self) -> Self {
        self.0.token()
    }
}

impl Drop for TaskTrackerToken {
    fn drop(&mut self) {
        let shared = &self.0.0;
        // Release pairs with the Acquire in `is_done`, and with that of the last drop here, which passes it on.
        if shared.word.fetch_sub(ONE, Ordering::AcqRel) == ONE | CLOSED {
            shared.wake_waiters();
        }
    }
}

windlass_sync::opaque_debug!([] TaskTrackerToken);

/// The future of [`TaskTracker::wait`].
#[must_use = "futures do nothing unless polled"]
pub struct TaskTrackerWait<'a> {
    shared: &'a Shared,
    /// Its number among the waiters, and the value of `passed` when it began to wait.
    waiting: Option<(u64, u64)>,
}

impl Future for TaskTrackerWait<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let shared = self.shared;
        if shared.is_done() {
            return Poll::Ready(());
        }
        // Cloned before the lock, and the old one dropped after it: both may run user code.
        let waker = cx.waker().clone();
        let mut waiters = shared.waiters.lock();
        let TrackerWaiters { passed, next, wakers } = &mut *waiters;
        let (number, since) = *self.waiting.get_or_insert_with(|| {
            *next += 1;
            (*next, *passed)
        });
        if *passed != since || shared.is_done() {
            return Poll::Ready(());
        }
        let old = match wakers.iter_mut().find(|(other, _)| *other == number) {
            Some((_, place)) => Some(mem::replace(place, waker)),
            None => {
                wakers.push((number, waker));
                None
            }
        };
        drop(waiters);
        drop(old);
        waker::note_wait(Waits::Latch);
        Poll::Pending
    }
}

impl Drop for TaskTrackerWait<'_> {
    fn drop(&mut self) {
        let Some((number, _)) = self.waiting else { return };
        let mut waiters = self.shared.waiters.lock();
        let place = waiters.wakers.iter().position(|(other, _)| *other == number);
        let waker = place.map(|place| waiters.wakers.swap_remove(place));
        drop(waiters);
        drop(waker);
    }
}

windlass_sync::opaque_debug!(['a] TaskTrackerWait<'a>);
