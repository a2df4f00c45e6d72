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
//! WAITING means that the queue is not empty. **The word enters and leaves WAITING only under the
//! queue's lock**, so whoever holds the lock and sees the queue empty knows that the word is EMPTY
//! or SET, and that it stays one of the two until the lock is given up. Between EMPTY and SET it
//! moves by compare-and-swap, without the lock.

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

    /// Acquire pairs with the Release in `try_set` and `set_locked`.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire) == SET
    }

    /// Makes it SET, unless somebody waits (false): then it is for the caller to take the lock.
    #[inline]
    pub(crate) fn try_set(&self) -> bool {
        let mut current = peek(&self.0, EMPTY);
        while current != WAITING {
            // Release pairs with the Acquire of whoever takes or sees the signal. SET is written
            // over SET: a mere look would leave this setter out of what the taker synchronises
            // with, and the taker could then miss what this setter has to tell.
            match self.0.compare_exchange(current, SET, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => current = now,
            }
        }
        false
    }

    /// SET becomes EMPTY (true); anything else stays. Acquire pairs with the Release in `try_set`
    /// and `set_locked`.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        peek(&self.0, SET) == SET
            && self.0.compare_exchange(SET, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// EMPTY becomes WAITING; false if it is SET. For the lock's holder.
    pub(crate) fn announce(&self) -> bool {
        // Relaxed: a signaller that sees WAITING learns the rest under the lock. Acquire on
        // failure pairs with the Release in `try_set` and `set_locked`.
        match self.0.compare_exchange(EMPTY, WAITING, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => true,
            Err(now) => now == WAITING,
        }
    }

    /// Makes it SET whatever it was. For the lock's holder, who then empties the queue or has
    /// found it empty. Release pairs with the Acquire of whoever takes or sees the signal.
    pub(crate) fn set_locked(&self) {
        self.0.swap(SET, Ordering::Release);
    }

    /// WAITING becomes EMPTY. For the lock's holder, who has taken the last waiter out.
    pub(crate) fn withdraw(&self) {
        self.0.store(EMPTY, Ordering::Relaxed);
    }
}
