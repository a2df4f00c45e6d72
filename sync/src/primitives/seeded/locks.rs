//! Locks and condition variables that pass the turn on where those of `std` would block.
//!
//! A thread that is not part of a model, such as one that runs the destructors of its thread-locals, uses those of
//! `std`.

use std::ptr;
use std::sync::TryLockError;
use std::time::Duration;

use super::schedule::{self, On};

fn try_lock<T>(lock: &std::sync::Mutex<T>) -> Option<std::sync::MutexGuard<'_, T>> {
    match lock.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// A mutex without poisoning.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

/// The guard that [`Mutex::lock`] returns.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    /// `Some` until the drop.
    inner: Option<std::sync::MutexGuard<'a, T>>,
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    /// Creates one with this value.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Locks the mutex. Waits until it is free.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        schedule::step();
        self.lock_now()
    }

    fn lock_now(&self) -> MutexGuard<'_, T> {
        let inner = match schedule::current() {
            Some((run, thread)) => loop {
                match try_lock(&self.0) {
                    Some(guard) => break guard,
                    None => run.wait(thread, self.key()),
                }
            },
            None => self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()),
        };
        MutexGuard { inner: Some(inner), mutex: self }
    }

    /// Returns the value without locking, because the borrow is exclusive.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn key(&self) -> On {
        On::Lock(ptr::from_ref(self).addr())
    }
}

impl<T> std::ops::Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("there until the drop")
    }
}

impl<T> std::ops::DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("there until the drop")
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // The mutex may be gone as soon as it is free, so only its address is used afterwards.
        let key = self.mutex.key();
        drop(self.inner.take());
        if let Some((run, _)) = schedule::current() {
            run.wake_all(key);
        }
    }
}

/// A lock that can only be tried.
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
        schedule::step();
        try_lock(&self.0)
    }
}

/// A condition variable, working with [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(());

impl Condvar {
    /// Creates a condition variable.
    pub const fn new() -> Self {
        Self(())
    }

    /// Waits for a notification.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let mutex = guard.mutex;
        drop(guard);
        // Nobody else runs between the two.
        let (run, thread) = schedule::current().expect("a thread of the model");
        run.wait(thread, self.key());
        mutex.lock_now()
    }

    /// Waits for a notification. In a model the time never passes.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _timeout: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        (self.wait(guard), false)
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        schedule::step();
        if let Some((run, _)) = schedule::current() {
            run.wake_one(self.key());
        }
    }

    /// Wakes every waiter.
    pub fn notify_all(&self) {
        schedule::step();
        if let Some((run, _)) = schedule::current() {
            run.wake_all(self.key());
        }
    }

    fn key(&self) -> On {
        On::Condvar(ptr::from_ref(self).addr())
    }
}
