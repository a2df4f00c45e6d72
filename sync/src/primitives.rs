//! The one place that names `std::sync`, so that loom can stand in for it.
//!
//! Every crate of the workspace takes its atomics, cells, locks and threads from here. Built
//! with `--cfg loom` they are loom's, and the models in `loom-tests` check the very code that
//! ships. This module is an implementation detail: it is `pub` only for the sibling crates.
//!
//! Two things differ from `std`: [`UnsafeCell`] hands out its pointer through closures (loom
//! watches the length of the access), and [`Mutex`] ignores poisoning (none of our critical
//! sections runs user code, so a panic never leaves one half done).

#[cfg(not(loom))]
mod real {
    pub use std::hint;
    pub use std::sync::Arc;
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub use std::thread;

    /// A cell whose contents are reached through closures, as loom wants it.
    #[derive(Debug, Default)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Wraps a value.
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Gives `f` a pointer for shared reading.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Gives `f` a pointer for exclusive access.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }

        /// Takes the value out again.
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    /// `std`'s mutex without poisoning.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(std::sync::Mutex<T>);

    /// What [`Mutex::lock`] returns.
    pub type MutexGuard<'a, T> = std::sync::MutexGuard<'a, T>;

    impl<T> Mutex<T> {
        /// Wraps a value.
        pub const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        /// Locks, blocking the thread.
        #[inline]
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        /// Gives access without locking; the exclusive borrow is the proof.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }

    /// A lock that nobody ever waits for, without poisoning.
    #[derive(Debug, Default)]
    pub struct TryLock<T>(std::sync::Mutex<T>);

    /// What [`TryLock::try_lock`] returns.
    pub type TryLockGuard<'a, T> = std::sync::MutexGuard<'a, T>;

    impl<T> TryLock<T> {
        /// Wraps a value.
        pub const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        /// Locks if nobody else has.
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
        /// A condition variable nobody waits on.
        pub const fn new() -> Self {
            Self(std::sync::Condvar::new())
        }

        /// Waits for a notification; may return without one.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        /// Waits for a notification or the time-out; the flag says that the time ran out.
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

#[cfg(loom)]
mod model {
    pub use loom::cell::UnsafeCell;
    pub use loom::hint;
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub use loom::thread;

    /// loom's mutex without poisoning, which also notices being freed too early.
    #[derive(Debug)]
    pub struct Mutex<T> {
        inner: loom::sync::Mutex<T>,
        alive: Alive,
    }

    /// Written when the mutex is dropped, read at both ends of every critical section. loom
    /// reports a race unless each of them, its unlocking included, happened before the drop.
    #[derive(Debug)]
    struct Alive(UnsafeCell<()>);

    // SAFETY: there is nothing in the cell; it exists for loom to watch.
    unsafe impl Sync for Alive {}

    /// What [`Mutex::lock`] returns.
    #[derive(Debug)]
    pub struct MutexGuard<'a, T> {
        // Dropped in this order: the trace is left while the lock is still held.
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
        /// Wraps a value.
        pub fn new(value: T) -> Self {
            Self { inner: loom::sync::Mutex::new(value), alive: Alive(UnsafeCell::new(())) }
        }

        /// Locks, blocking the thread.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            let inner = self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            MutexGuard { trace: Trace::new(&self.alive), inner }
        }

        /// Gives access without locking; the exclusive borrow is the proof.
        pub fn get_mut(&mut self) -> &mut T {
            self.inner.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }

    /// A lock that nobody ever waits for. Not loom's mutex: that blocks a thread which is about to try
    /// until the lock is free, and orders more than a lock need do.
    #[derive(Debug)]
    pub struct TryLock<T> {
        held: AtomicBool,
        value: UnsafeCell<T>,
    }

    // SAFETY: the value is reached by one thread at a time.
    unsafe impl<T: Send> Sync for TryLock<T> {}

    /// What [`TryLock::try_lock`] returns.
    #[derive(Debug)]
    pub struct TryLockGuard<'a, T> {
        // Dropped in this order: loom sees the access end before the lock is free.
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
        /// Wraps a value.
        pub fn new(value: T) -> Self {
            Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
        }

        /// Locks if nobody else has.
        pub fn try_lock(&self) -> Option<TryLockGuard<'_, T>> {
            // Acquire pairs with the Release of the guard's drop. No swap: loom would have that drop's store slip
            // under one that finds the lock held, which would then stay so for ever. See `loom_itself` among
            // the models.
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
        /// A condition variable nobody waits on.
        pub fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        /// Waits for a notification; may return without one.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            let MutexGuard { trace, inner } = guard;
            let inner = self.0.wait(inner).unwrap_or_else(|poisoned| poisoned.into_inner());
            MutexGuard { trace, inner }
        }

        /// Waits for a notification; in a model the time never runs out.
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

/// A look at `word` that spares an exchange which cannot succeed. What it returns orders nothing
/// and may be out of date.
///
/// In models it is `guess`, without looking: loom goes back from an exchange to the one access
/// before it in search of a race. A load of our own would be that access, and hide all others.
#[inline(always)]
pub fn peek(word: &AtomicUsize, guess: usize) -> usize {
    if cfg!(loom) { guess } else { word.load(Ordering::Relaxed) }
}

/// As [`peek`], for a place that is to be emptied by a swap: true if there is nothing in it.
///
/// In models it is an exchange that fails, from which loom does go back. Leaving the look out there would
/// not do: a swap that finds nothing and writes nothing is one that loom lets a later store slip under.
#[inline(always)]
pub fn is_vacant<T>(place: &AtomicPtr<T>) -> bool {
    #[cfg(loom)]
    {
        let nobody = std::ptr::without_provenance_mut(1);
        let seen = place.compare_exchange(nobody, nobody, Ordering::Relaxed, Ordering::Relaxed);
        seen.is_err_and(|seen| seen.is_null())
    }
    #[cfg(not(loom))]
    place.load(Ordering::Relaxed).is_null()
}

/// Atomics that order nothing and that no model needs to see: statistics and ids.
///
/// They stay `std`'s under loom, which would otherwise explore their every interleaving.
pub mod plain {
    pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
}

/// Declares a thread-local [`Cell`](std::cell::Cell) that is never destroyed, so that it can be
/// reached from the destructors of other thread-locals. loom's threads share one OS thread, hence
/// its own kind there.
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

#[cfg(loom)]
#[doc(hidden)]
pub use ::loom;
#[cfg(loom)]
pub use model::*;
#[cfg(not(loom))]
pub use real::*;
