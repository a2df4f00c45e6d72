//! The primitives that models run on: loom's.

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
