//! Parking a thread: the primitive that everything that blocks is built on.
//!
//! A [`Parker`] belongs to one thread, and any number of [`Unparker`]s can wake it. If the thread is awake, `unpark`
//! leaves a token for the next `park`, so that it is not lost. There is at most one token.
//!
//! The state word changes as follows:
//!
//! ```text
//!   EMPTY --park--> PARKED --unpark--> NOTIFIED --park returns--> EMPTY
//!     \------------- unpark -----------^
//! ```
//!
//! `unpark` swaps in NOTIFIED and takes the lock only if it found PARKED. `park` announces PARKED while it holds the
//! lock, and releases the lock only by waiting. So an unparker that found PARKED and then gets the lock knows that the
//! thread is waiting: its notification cannot come between the announcement and the wait.
//!
//! `std::thread::park` is not used, because its token belongs to the user's code, which may run on the same thread.

use std::task::Waker;
use std::time::{Duration, Instant};

use crate::primitives::{Arc, AtomicUsize, Condvar, Mutex, Ordering};

/// The thread is awake, and there is no token.
const EMPTY: usize = 0;
/// The thread waits, or holds the lock and is about to wait.
const PARKED: usize = 1;
/// There is a token for the next `park`.
const NOTIFIED: usize = 2;

struct Inner {
    state: AtomicUsize,
    lock: Mutex<()>,
    condvar: Condvar,
}

impl Inner {
    fn unpark(&self) {
        // Release pairs with the Acquire of the thread that takes the token. Acquire is not needed, because the swap
        // returns only the state.
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

/// Parks the thread that owns it. It is not `Sync`, so only one thread can park on it at a time.
///
/// ```
/// use std::time::Duration;
/// use windlass_sync::Parker;
///
/// let parker = Parker::new();
/// let unparker = parker.unparker();
/// let thread = std::thread::spawn(move || unparker.unpark());
/// parker.park();
/// thread.join().unwrap();
///
/// assert!(!parker.take_token());
/// assert!(!parker.park_timeout(Duration::from_millis(1)));
/// ```
pub struct Parker {
    inner: Arc<Inner>,
    not_sync: std::marker::PhantomData<std::cell::Cell<()>>,
}

impl Parker {
    /// Creates a parker without a token.
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

    /// Blocks until a token arrives, or `timeout` has passed. Returns true if a token was taken. If the clock cannot
    /// represent the end of the time-out, waits without one.
    pub fn park_timeout(&self, timeout: Duration) -> bool {
        self.park_until(Instant::now().checked_add(timeout))
    }

    /// Blocks until a token arrives, or the clock reaches `deadline`. Returns true if a token was taken.
    pub fn park_until(&self, deadline: Option<Instant>) -> bool {
        let inner = &*self.inner;
        if inner.take_token() {
            return true;
        }
        let mut guard = inner.lock.lock();
        // Relaxed on success: announcing PARKED publishes nothing, and the lock orders it before an unparker's
        // notification. On failure the state is NOTIFIED, and the token is ours.
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
                        // Withdraws the announcement. A token that has come in the meantime is taken.
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

    /// Takes the token if there is one. Returns true if there was. Never blocks.
    pub fn take_token(&self) -> bool {
        self.inner.take_token()
    }

    /// Returns a handle with which any thread can wake this parker.
    pub fn unparker(&self) -> Unparker {
        Unparker { inner: self.inner.clone() }
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

crate::opaque_debug!([] Parker);

/// Wakes the thread of a [`Parker`].
#[derive(Clone)]
pub struct Unparker {
    inner: Arc<Inner>,
}

impl Unparker {
    /// Gives the parker a token, and wakes its thread if it waits.
    pub fn unpark(&self) {
        self.inner.unpark();
    }
}

crate::opaque_debug!([] Unparker);

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
