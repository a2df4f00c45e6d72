//! The latch that a joiner waits for: one flag, set once, in memory that may be freed the moment it is set.

use crate::primitives::{AtomicBool, Ordering};

/// A flag that the thief sets when it is done.
pub(crate) struct JoinLatch {
    set: AtomicBool,
    #[cfg(loom)]
    alive: Alive,
}

impl JoinLatch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            set: AtomicBool::new(false),
            #[cfg(loom)]
            alive: Alive(crate::primitives::UnsafeCell::new(())),
        }
    }

    pub(crate) fn is_set(&self) -> bool {
        #[cfg(loom)]
        self.alive.touch();
        // Acquire pairs with the Release in `set`: the result is there.
        self.set.load(Ordering::Acquire)
    }

    /// # Safety
    ///
    /// The latch is there. It may be gone when this returns.
    pub(crate) unsafe fn set(this: *const Self) {
        // SAFETY: the caller guarantees it, and the joiner keeps it until the flag is set.
        let this = unsafe { &*this };
        #[cfg(loom)]
        this.alive.touch();
        // Release pairs with the Acquire in `is_set`.
        this.set.store(true, Ordering::Release);
    }
}

/// Written when the latch is dropped, read at each use: loom reports a race unless each use happened before the drop.
#[cfg(loom)]
struct Alive(crate::primitives::UnsafeCell<()>);

// SAFETY: there is nothing in the cell; it exists for loom to watch.
#[cfg(loom)]
unsafe impl Sync for Alive {}

#[cfg(loom)]
impl Alive {
    fn touch(&self) {
        self.0.with(|_| ());
    }
}

#[cfg(loom)]
impl Drop for Alive {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.with_mut(|_| ());
        }
    }
}
