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
//! have one that blocks in its place (`model.rs`).

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
        if !self.try_take() {
            self.wait();
        }
        let _held = Held(&self.taken);
        self.value.with_mut(|value| {
            // SAFETY: `taken` is ours until `_held` is dropped, and the borrow ends before.
            f(unsafe { &mut *value })
        })
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
struct Held<'a>(&'a AtomicBool);

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with the Acquire in `try_take`.
        self.0.store(false, Ordering::Release);
    }
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}
