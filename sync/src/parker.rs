//! Parking a thread: the one primitive below everything that blocks.
//!
//! A [`Parker`] belongs to one thread; any number of [`Unparker`]s may wake it. A token that
//! arrives while the thread is awake is kept (once), so `unpark` before `park` is not lost.
//!
//! The state word moves as follows:
//!
//! ```text
//!   EMPTY --park--> PARKED --unpark--> NOTIFIED --park returns--> EMPTY
//!     \------------- unpark -----------^
//! ```
//!
//! `unpark` swaps in NOTIFIED and goes on to the lock only if it found PARKED. `park` announces
//! PARKED while it holds the lock and gives the lock up only by waiting, so an unparker that saw
//! PARKED and then gets the lock knows that the thread is waiting: its notification cannot fall
//! between announcement and wait.
//!
//! `std::thread::park` is not used: its token belongs to the user's code, which may be running
//! on the same thread.

use std::fmt;
use std::task::Waker;
use std::time::{Duration, Instant};

use crate::primitives::{Arc, AtomicUsize, Condvar, Mutex, Ordering};

/// Nobody waits and no token is kept.
const EMPTY: usize = 0;
/// The thread waits (or holds the lock and is about to).
const PARKED: usize = 1;
/// A token is kept for the next `park`.
const NOTIFIED: usize = 2;

struct Inner {
    state: AtomicUsize,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Inner {
    fn unpark(&self) {
        // Release: what the caller did before is seen by the thread that takes the token.
        // Acquire is not needed; the swap returns only the state.
        if self.state.swap(NOTIFIED, Ordering::Release) == PARKED {
            drop(self.lock.lock());
            self.condvar.notify_one();
        }
    }

    /// Takes the token if there is one. Acquire pairs with the Release swap in `unpark`.
    fn take_token(&self) -> bool {
        self.state.compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

/// The waiting side. Not `Sync`: only one thread may park on it at a time.
pub struct Parker {
    inner: Arc<Inner>,
    not_sync: std::marker::PhantomData<std::cell::Cell<()>>,
}

impl Parker {
    /// A parker with no token.
    pub fn new() -> Self {
        Self {
            inner: Arc::new(Inner {
                state: AtomicUsize::new(EMPTY),
                lock: Mutex::new(()),
                condvar: Condvar::new(),
            }),
            not_sync: std::marker::PhantomData,
        }
    }

    /// Blocks until a token arrives, and takes it.
    pub fn park(&self) {
        self.park_until(None);
    }

    /// Blocks until a token arrives or `timeout` has passed; says whether a token was taken.
    /// A time-out beyond the clock's range means no time-out.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        self.park_until(Some(Instant::now().checked_add(timeout)).flatten())
    }

    /// Blocks until a token arrives or the clock reaches `deadline`; says whether a token was
    /// taken.
    pub fn park_until(&self, deadline: Option<Instant>) -> bool {
        let inner = &*self.inner;
        if inner.take_token() {
            return true;
        }
        let mut guard = inner.lock.lock();
        // Relaxed on success: announcing PARKED publishes nothing, the lock orders it before an
        // unparker's notification. On failure the state is NOTIFIED and the token is ours.
        if inner
            .state
            .compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed)
            .is_err()
        {
            return inner.take_token();
        }
        loop {
            guard = match deadline {
                None => inner.condvar.wait(guard),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        // Takes the announcement back; a token that came in the meantime wins.
                        // Acquire pairs with the Release swap in `unpark`.
                        return inner.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED;
                    }
                    inner.condvar.wait_timeout(guard, left).0
                }
            };
            if inner.take_token() {
                return true;
            }
        }
    }

    /// Takes the token if there is one, without blocking.
    pub fn take_token(&self) -> bool {
        self.inner.take_token()
    }

    /// A handle that wakes this parker from anywhere.
    pub fn unparker(&self) -> Unparker {
        Unparker { inner: self.inner.clone() }
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parker").finish_non_exhaustive()
    }
}

/// The waking side of a [`Parker`].
#[derive(Clone)]
pub struct Unparker {
    inner: Arc<Inner>,
}

impl Unparker {
    /// Gives the parker a token; wakes its thread if it waits.
    pub fn unpark(&self) {
        self.inner.unpark();
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unparker").finish_non_exhaustive()
    }
}

#[cfg(not(loom))]
impl std::task::Wake for Inner {
    fn wake(self: Arc<Self>) {
        self.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.unpark();
    }
}

#[cfg(not(loom))]
impl From<Unparker> for Waker {
    fn from(unparker: Unparker) -> Waker {
        unparker.inner.into()
    }
}

#[cfg(loom)]
impl From<Unparker> for Waker {
    fn from(unparker: Unparker) -> Waker {
        // loom's `Arc` is not std's, so the waker holds the unparker through one of std's.
        struct Model(Unparker);
        impl std::task::Wake for Model {
            fn wake(self: std::sync::Arc<Self>) {
                self.0.unpark();
            }
        }
        std::sync::Arc::new(Model(unparker)).into()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn token_before_park_is_kept_once() {
        let parker = Parker::new();
        parker.unparker().unpark();
        parker.unparker().unpark();
        assert!(parker.park_timeout(Duration::from_secs(60)));
        assert!(!parker.park_timeout(Duration::ZERO));
    }

    #[test]
    fn unpark_from_another_thread_ends_the_wait() {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let thread = std::thread::spawn(move || unparker.unpark());
        parker.park();
        thread.join().unwrap();
    }

    #[test]
    fn timeout_without_token_is_reported() {
        let parker = Parker::new();
        let start = Instant::now();
        assert!(!parker.park_timeout(Duration::from_millis(5)));
        assert!(start.elapsed() >= Duration::from_millis(5));
    }

    #[test]
    fn a_timeout_beyond_the_clock_waits_for_the_token() {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let thread = std::thread::spawn(move || unparker.unpark());
        assert!(parker.park_timeout(Duration::MAX));
        thread.join().unwrap();
    }
}
