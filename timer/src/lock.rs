//! A lock for a few instructions at a time, which nearly always meet nobody.
//!
//! Arming and cancelling a timer are two critical sections of some nanoseconds each. What they cost is the
//! atomic read-modify-writes, and a lock that can park its waiters needs a second one to unlock, in order to
//! find out whether there are any. Here unlocking is a plain store, after which the lock is not touched any
//! more, so the last to unlock may free it. Who has to wait spins for a moment, then gives way to other
//! threads, then sleeps for short times: the holder was preempted, and nobody tells when it is back.
//!
//! For that to be right, no critical section may do more than a bounded piece of work, and none may run
//! user code.
//!
//! Threads that spin beside each other make models endless. So the lock has a model of its own, and the others
//! have one that blocks in its place.

// Models see it.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use std::fmt;
use std::time::Duration;

use windlass_sync::primitives::{AtomicBool, Ordering, UnsafeCell, hint, thread};

/// Looks at the lock before the thread gives way.
const SPINS: u32 = 100;
/// So often the thread gives way before it sleeps.
const YIELDS: u32 = 10;
/// How long it sleeps then, each time.
const PAUSE: Duration = Duration::from_micros(50);

/// A value that one thread at a time may touch.
pub struct Lock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `taken` makes sure that the value is reached by one thread at a time, which hands it on with
// Release and Acquire.
unsafe impl<T: Send> Sync for Lock<T> {}
// SAFETY: nothing in it is bound to a thread but the value.
unsafe impl<T: Send> Send for Lock<T> {}

impl<T> Lock<T> {
    /// Nobody has it.
    pub fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Gives `f` the value, for a short time.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: our reference keeps it.
        unsafe { Self::with_last(self, f) }
    }

    /// As [`with`](Self::with), for one who lets others free the lock once it is released, by what `f` does. A
    /// reference would have to be good until the call returns, be it used or not.
    ///
    /// # Safety
    ///
    /// The lock is there until it is released, whoever frees it.
    #[inline]
    pub(crate) unsafe fn with_last<R>(this: *const Self, f: impl FnOnce(&mut T) -> R) -> R {
        {
            // SAFETY: it is there, for we don't have it yet.
            let this = unsafe { &*this };
            if !this.try_take() {
                this.wait();
            }
        }
        // SAFETY: both are fields of what is there until `_held` is dropped.
        let (_held, value) = unsafe { (Held(&raw const (*this).taken), &raw const (*this).value) };
        // SAFETY: as above. `taken` is ours until `_held` is dropped, and both borrows end before.
        unsafe { (*value).with_mut(|value| f(&mut *value)) }
    }

    #[inline]
    fn try_take(&self) -> bool {
        // Acquire pairs with the Release in `Held::drop`: what the last holder did is seen.
        self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&self) {
        let mut looks = 0_u32;
        while !self.try_take() {
            // In models a spin has to give way at once: nobody else gets on otherwise.
            while !cfg!(loom) && looks < SPINS && self.taken.load(Ordering::Relaxed) {
                hint::spin_loop();
                looks += 1;
            }
            looks = looks.saturating_add(1);
            if looks > SPINS + YIELDS && !cfg!(loom) {
                std::thread::sleep(PAUSE);
            } else if looks > SPINS || cfg!(loom) {
                thread::yield_now();
            }
        }
    }
}

/// The right to touch the value; dropping it gives it up.
struct Held(*const AtomicBool);

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with the Acquire in `try_take`.
        // SAFETY: the lock is there until this store. It may be gone right after it; a reference to what is all
        // `UnsafeCell` need not be good until the call returns.
        unsafe { (*self.0).store(false, Ordering::Release) }
    }
}

/// In place of [`Lock`] in models of what is built on it: a lock that blocks.
#[cfg(loom)]
#[derive(Debug)]
pub(crate) struct Blocking<T>(windlass_sync::primitives::Mutex<T>);

#[cfg(loom)]
impl<T> Blocking<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(windlass_sync::primitives::Mutex::new(value))
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock())
    }

    /// # Safety
    ///
    /// As for [`Lock::with_last`].
    pub(crate) unsafe fn with_last<R>(this: *const Self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: it is there. Models know only of what is done, not of references.
        unsafe { (*this).with(f) }
    }
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}
