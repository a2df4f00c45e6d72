//! The state word of both events.
//!
//! ```text
//!   EMPTY <---set / take or reset---> SET
//!     |                                ^
//!     \--announce--> WAITING --set-----/   (all waiters released: manual reset)
//!     ^                 |
//!     \--last one gone--/                  (one waiter released or cancelled)
//! ```
//!
//! WAITING means that the queue is not empty. **The word enters and leaves WAITING only under the queue's lock.** So a
//! thread that holds the lock and finds the queue empty knows that the word is EMPTY or SET, and stays one of the two
//! until the lock is released. It changes between EMPTY and SET by compare-and-swap, without the lock.

use crate::primitives::{AtomicUsize, Ordering, peek};

const EMPTY: usize = 0;
const SET: usize = 1;
const WAITING: usize = 2;

pub(crate) struct EventState(AtomicUsize);

impl EventState {
    const_fn! {
        pub(crate) const fn new(set: bool) -> Self {
            Self(AtomicUsize::new(if set { SET } else { EMPTY }))
        }
    }

    /// Returns true if the state is SET. Acquire pairs with the Release in `try_set` and `set_locked`.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire) == SET
    }

    /// Makes it SET, unless it is WAITING. In that case returns false, and the caller has to take the lock.
    #[inline]
    pub(crate) fn try_set(&self) -> bool {
        let mut current = peek(&self.0, EMPTY);
        while current != WAITING {
            // Release pairs with the Acquire of the thread that takes or sees the signal. SET is written even over
            // SET: if it were only read, the thread that takes the signal would not synchronize with this setter, and
            // could miss what the setter did before.
            match self.0.compare_exchange(current, SET, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => current = now,
            }
        }
        false
    }

    /// Changes SET to EMPTY and returns true. Returns false if it is not SET. Acquire pairs with the Release in
    /// `try_set` and `set_locked`.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        peek(&self.0, SET) == SET
            && self.0.compare_exchange(SET, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Changes EMPTY to WAITING. Returns false if it is SET. Called under the lock.
    pub(crate) fn announce(&self) -> bool {
        // Relaxed: a signaller that sees WAITING takes the lock, which orders the rest. Acquire on failure pairs with
        // the Release in `try_set` and `set_locked`.
        match self.0.compare_exchange(EMPTY, WAITING, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => true,
            Err(now) => now == WAITING,
        }
    }

    /// Makes it SET, whatever it was. Called under the lock, if the queue is empty or the caller empties it. Release
    /// pairs with the Acquire of the thread that takes or sees the signal.
    pub(crate) fn set_locked(&self) {
        self.0.swap(SET, Ordering::Release);
    }

    /// Changes WAITING to EMPTY. Called under the lock, after the last waiter was taken out.
    pub(crate) fn withdraw(&self) {
        self.0.store(EMPTY, Ordering::Relaxed);
    }
}
