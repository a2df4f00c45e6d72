//! A lock for critical sections of a few instructions, which is hardly ever contended.
//!
//! Arming and cancelling a timer are two critical sections of some nanoseconds each. Most of their cost is atomic
//! read-modify-writes, and a lock that parks its waiters needs a second one to unlock, to find out whether anybody
//! waits. Here unlocking is a plain store, after which the lock is not touched any more, so the thread that unlocks
//! last may free it. A thread that has to wait spins for a moment, then yields, then sleeps for short times: the holder
//! was preempted, and there is no way to know when it will continue.
//!
//! So no critical section may do more than a bounded amount of work, and none may run user code.
//!
//! Threads that spin next to each other make models endless. So the lock has a model of its own, and the other models
//! use `Blocking` instead.

// Public in models.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use windlass_sync::primitives::{AtomicBool, Ordering, UnsafeCell, hint, thread};

use crate::policy::{LOCK_PAUSE, LOCK_SPINS, LOCK_YIELDS};

/// A value that one thread at a time can access.
pub struct Lock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `taken` makes sure that one thread at a time accesses the value, and that it sees what the last one wrote, by
// Release and Acquire.
unsafe impl<T: Send> Sync for Lock<T> {}
// SAFETY: apart from the value, nothing in it is bound to a thread.
unsafe impl<T: Send> Send for Lock<T> {}

impl<T> Lock<T> {
    /// Creates an unlocked lock.
    pub fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Calls `f` with the value, under the lock. `f` must be short.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: our reference keeps the lock alive.
        unsafe { Self::with_last(self, f) }
    }

    /// Like [`with`](Self::with), but for a caller whose `f` allows others to free the lock as soon as it is released.
    /// A reference would have to stay valid until the call returns, whether it is used or not.
    ///
    /// # Safety
    ///
    /// The lock stays alive until it is released.
    #[inline]
    pub(crate) unsafe fn with_last<R>(this: *const Self, f: impl FnOnce(&mut T) -> R) -> R {
        {
            // SAFETY: it is alive, because we have not released it yet.
            let this = unsafe { &*this };
            if !this.try_take() {
                this.wait();
            }
        }
        // SAFETY: both are fields of the lock, which is alive until `_held` is dropped.
        let (_held, value) = unsafe { (Held(&raw const (*this).taken), &raw const (*this).value) };
        // SAFETY: as above. `taken` is ours until `_held` is dropped, and both borrows end before.
        unsafe { (*value).with_mut(|value| f(&mut *value)) }
    }

    #[inline]
    fn try_take(&self) -> bool {
        // Acquire pairs with the Release in `Held::drop`: we see what the last holder did.
        self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&self) {
        let mut checks = 0_u32;
        while !self.try_take() {
            // In models a spin has to yield at once, because no other thread runs otherwise.
            while !cfg!(loom) && checks < LOCK_SPINS && self.taken.load(Ordering::Relaxed) {
                hint::spin_loop();
                checks += 1;
            }
            checks = checks.saturating_add(1);
            if checks > LOCK_SPINS + LOCK_YIELDS && !cfg!(loom) {
                std::thread::sleep(LOCK_PAUSE);
            } else if checks > LOCK_SPINS || cfg!(loom) {
                thread::yield_now();
            }
        }
    }
}

/// The right to access the value. Dropping it unlocks.
struct Held(*const AtomicBool);

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with the Acquire in `try_take`. SAFETY: the lock is alive until this store. It
        // may be gone right after it: a reference to an atomic, which is all `UnsafeCell`, need not stay
        // valid until the call returns.
        unsafe { (*self.0).store(false, Ordering::Release) }
    }
}

/// A lock that blocks. It replaces [`Lock`] in models of the code that uses it.
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
        // SAFETY: it is alive. Models check accesses, not references.
        unsafe { (*this).with(f) }
    }
}

windlass_sync::opaque_debug!([T] Lock<T>);
