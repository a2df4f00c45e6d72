//! The only module that names `std::sync`, so that loom can replace it.
//!
//! All crates of the workspace take their atomics, cells, locks and threads from here. With `--cfg loom` they are
//! loom's, and the models in `loom-tests` check the code that ships; with `--cfg windlass_seeded` besides, they are
//! those of
//! `seeded`, for models that are too large for loom. This module is an implementation detail. It is `pub` only for the
//! other crates of the workspace.
//!
//! Two things differ from `std`: [`UnsafeCell`] passes its pointer to closures, so that loom sees how long an access
//! lasts, and [`Mutex`] ignores poisoning, because none of our critical sections runs user code that could panic.

#[cfg(not(loom))]
mod real {
    pub use std::hint;
    pub use std::sync::Arc;
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub use std::{thread, thread_local};

    /// A cell that passes its pointer to closures, as loom's does.
    #[derive(Debug, Default)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Creates one with this value.
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Calls `f` with a pointer for shared access.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Calls `f` with a pointer for exclusive access.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }

        /// Returns the value.
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    /// `std`'s mutex without poisoning.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(std::sync::Mutex<T>);

    /// The guard that [`Mutex::lock`] returns.
    pub type MutexGuard<'a, T> = std::sync::MutexGuard<'a, T>;

    impl<T> Mutex<T> {
        /// Creates one with this value.
        pub const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        /// Locks the mutex. Blocks the current thread until it is free.
        #[inline]
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        /// Returns the value without locking, because the borrow is exclusive.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }

    /// A lock that can only be tried, without poisoning.
    #[derive(Debug, Default)]
    pub struct TryLock<T>(std::sync::Mutex<T>);

    /// The guard that [`TryLock::try_lock`] returns.
    pub type TryLockGuard<'a, T> = std::sync::MutexGuard<'a, T>;

    impl<T> TryLock<T> {
        /// Creates one with this value.
        pub const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        /// Locks it if it is free.
        pub fn try_lock(&self) -> Option<TryLockGuard<'_, T>> {
            match self.0.try_lock() {
                Ok(guard) => Some(guard),
                Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(std::sync::TryLockError::WouldBlock) => None,
            }
        }
    }

    /// `std`'s condition variable, working with [`Mutex`].
    #[derive(Debug, Default)]
    pub struct Condvar(std::sync::Condvar);

    impl Condvar {
        /// Creates a condition variable.
        pub const fn new() -> Self {
            Self(std::sync::Condvar::new())
        }

        /// Waits for a notification. May return without one.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        /// Waits for a notification, or until `timeout` has passed. The flag is true if it has.
        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            timeout: std::time::Duration,
        ) -> (MutexGuard<'a, T>, bool) {
            let (guard, result) = self
                .0
                .wait_timeout(guard, timeout)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            (guard, result.timed_out())
        }

        /// Wakes one waiter.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes every waiter.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

#[cfg(all(loom, not(windlass_seeded)))]
mod model {
    pub use loom::cell::UnsafeCell;
    pub use loom::hint;
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub use loom::{thread, thread_local};

    /// loom's mutex without poisoning, which also detects that it is freed too early.
    #[derive(Debug)]
    pub struct Mutex<T> {
        inner: loom::sync::Mutex<T>,
        alive: Alive,
    }

    /// Written when the mutex is dropped, and read at both ends of every critical section. loom reports a race unless
    /// each of them, including its unlocking, happened before the drop.
    #[derive(Debug)]
    struct Alive(UnsafeCell<()>);

    // SAFETY: the cell is empty. It exists only for loom to watch.
    unsafe impl Sync for Alive {}

    /// The guard that [`Mutex::lock`] returns.
    #[derive(Debug)]
    pub struct MutexGuard<'a, T> {
        // Dropped in this order, so that the trace reads the cell while the lock is still held.
        trace: Trace<'a>,
        inner: loom::sync::MutexGuard<'a, T>,
    }

    #[derive(Debug)]
    struct Trace<'a>(&'a Alive);

    impl<'a> Trace<'a> {
        fn new(alive: &'a Alive) -> Self {
            alive.0.with(|_| ());
            Self(alive)
        }
    }

    impl Drop for Trace<'_> {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                self.0.0.with(|_| ());
            }
        }
    }

    impl<T> Drop for Mutex<T> {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                self.alive.0.with_mut(|_| ());
            }
        }
    }

    impl<T> std::ops::Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.inner
        }
    }

    impl<T> std::ops::DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.inner
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }

    impl<T> Mutex<T> {
        /// Creates one with this value.
        pub fn new(value: T) -> Self {
            Self { inner: loom::sync::Mutex::new(value), alive: Alive(UnsafeCell::new(())) }
        }

        /// Locks the mutex. Blocks the current thread until it is free.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            let inner = self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            MutexGuard { trace: Trace::new(&self.alive), inner }
        }

        /// Returns the value without locking, because the borrow is exclusive.
        pub fn get_mut(&mut self) -> &mut T {
            self.inner.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }

    /// A lock that can only be tried. It is not loom's mutex, because that blocks a thread that tries to lock it until
    /// it is free, and orders more than a lock has to.
    #[derive(Debug)]
    pub struct TryLock<T> {
        held: AtomicBool,
        value: UnsafeCell<T>,
    }

    // SAFETY: one thread at a time accesses the value.
    unsafe impl<T: Send> Sync for TryLock<T> {}

    /// The guard that [`TryLock::try_lock`] returns.
    #[derive(Debug)]
    pub struct TryLockGuard<'a, T> {
        // Dropped in this order, so that loom sees the access end before the lock is free.
        value: loom::cell::MutPtr<T>,
        _held: Held<'a>,
    }

    #[derive(Debug)]
    struct Held<'a>(&'a AtomicBool);

    impl Drop for Held<'_> {
        fn drop(&mut self) {
            // Release pairs with the Acquire in `try_lock`.
            self.0.store(false, Ordering::Release);
        }
    }

    impl<T> TryLock<T> {
        /// Creates one with this value.
        pub fn new(value: T) -> Self {
            Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
        }

        /// Locks it if it is free.
        pub fn try_lock(&self) -> Option<TryLockGuard<'_, T>> {
            // Acquire pairs with the Release of the guard's drop. Not a swap: loom may order that drop's store before a
            // swap that finds the lock held, and the lock would then stay held for ever. See the models of
            // `loom_itself`.
            self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
            Some(TryLockGuard { value: self.value.get_mut(), _held: Held(&self.held) })
        }
    }

    impl<T> std::ops::Deref for TryLockGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            // SAFETY: the guard is the only way to the value, and is borrowed.
            unsafe { self.value.deref() }
        }
    }

    impl<T> std::ops::DerefMut for TryLockGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: as above, exclusively.
            unsafe { self.value.deref() }
        }
    }

    /// loom's condition variable, working with [`Mutex`].
    #[derive(Debug, Default)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        /// Creates a condition variable.
        pub fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        /// Waits for a notification. May return without one.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            let MutexGuard { trace, inner } = guard;
            let inner = self.0.wait(inner).unwrap_or_else(|poisoned| poisoned.into_inner());
            MutexGuard { trace, inner }
        }

        /// Waits for a notification. In a model the time never passes.
        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _timeout: std::time::Duration,
        ) -> (MutexGuard<'a, T>, bool) {
            (self.wait(guard), false)
        }

        /// Wakes one waiter.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes every waiter.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

/// Reads `word`, to avoid an exchange that cannot succeed. The value orders nothing and may be out of date.
///
/// In models it returns `guess` without reading: loom goes back from an exchange to the access before it to look for
/// races. Our own load would be that access, and hide all others.
#[inline(always)]
pub fn peek(word: &AtomicUsize, guess: usize) -> usize {
    if cfg!(loom) { guess } else { word.load(Ordering::Relaxed) }
}

/// As [`peek`], for a pointer that the caller is about to exchange.
///
/// In models it is an exchange that always fails, from which loom does go back.
#[inline(always)]
pub fn peek_pointer<T>(place: &AtomicPtr<T>) -> *mut T {
    #[cfg(loom)]
    {
        let nobody = std::ptr::without_provenance_mut(1);
        let seen = place.compare_exchange(nobody, nobody, Ordering::Relaxed, Ordering::Relaxed);
        seen.unwrap_or_else(|seen| seen)
    }
    #[cfg(not(loom))]
    place.load(Ordering::Relaxed)
}

/// Atomics that order nothing and that no model has to see, such as statistics and ids.
///
/// They are `std`'s even under loom, which would otherwise explore all of their interleavings.
pub mod plain {
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
}

/// Declares a thread-local [`Cell`](std::cell::Cell) that is never destroyed, so that the destructors of other
/// thread-locals can access it. Under loom it is loom's thread-local, because loom's threads share one OS thread.
#[doc(hidden)]
#[macro_export]
#[cfg(not(loom))]
macro_rules! thread_cell {
    ($vis:vis static $name:ident: $type:ty = $init:expr) => {
        ::std::thread_local! {
            $vis static $name: ::std::cell::Cell<$type> = const { ::std::cell::Cell::new($init) };
        }
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(loom)]
macro_rules! thread_cell {
    ($vis:vis static $name:ident: $type:ty = $init:expr) => {
        $crate::primitives::loom::thread_local! {
            $vis static $name: ::std::cell::Cell<$type> = ::std::cell::Cell::new($init);
        }
    };
}

/// Stand-ins for loom's types in models that loom does not run.
#[cfg(all(loom, windlass_seeded))]
#[doc(hidden)]
pub mod loom {
    pub use std::{alloc, thread_local};
}

#[cfg(all(loom, not(windlass_seeded)))]
#[doc(hidden)]
pub use ::loom;
#[cfg(all(loom, not(windlass_seeded)))]
pub use model::*;
#[cfg(not(loom))]
pub use real::*;
#[cfg(all(loom, windlass_seeded))]
pub use {
    seeded::*,
    std::sync::{Arc, atomic::Ordering},
    std::thread_local,
};

#[cfg(all(loom, windlass_seeded))]
pub mod seeded;
