//! A scheduler for models of one task.

use std::future::Future;
use std::ptr::{self, NonNull};

use super::Runnable;
use crate::primitives::plain::{AtomicUsize, Ordering as Plain};
use crate::primitives::{Arc, AtomicPtr, Ordering};
use crate::task::{self, End, Header, JoinHandle, Listing, Origin, Schedule};

/// The scheduler of a model with one task: a place for its `Runnable`.
///
/// The place orders no more than any queue must: the thread that takes the `Runnable` sees what the thread that put it
/// there did before. Everything else rests on the task's state word. The model keeps the place until the task is
/// complete.
#[derive(Debug)]
pub struct Ready {
    place: AtomicPtr<Header>,
    released: AtomicUsize,
}

impl Ready {
    /// Creates an empty place.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { place: AtomicPtr::new(ptr::null_mut()), released: AtomicUsize::new(0) })
    }

    /// Makes a task that is put here when it is woken.
    pub fn task<F: Future>(&self, future: F) -> (Runnable, JoinHandle<F::Output>) {
        let link = Link(NonNull::from(self));
        let (runnable, handle) = task::new_task(future, link, Origin::caller(), Listing::AtSpawn);
        (Runnable(runnable), handle)
    }

    /// Takes the `Runnable`, if the task was woken.
    pub fn take(&self) -> Option<Runnable> {
        // Acquire pairs with the Release in `schedule`.
        let header = NonNull::new(self.place.swap(ptr::null_mut(), Ordering::Acquire))?;
        // SAFETY: put here by `schedule`, which gave up a `Runnable`, and taken out once.
        Some(Runnable(unsafe { task::Runnable::new(header) }))
    }

    /// Runs the task until it stays idle.
    pub fn run_all(&self) {
        while let Some(runnable) = self.take() {
            runnable.run();
        }
    }

    /// Returns the number of times that the task has left its owner.
    pub fn released(&self) -> usize {
        self.released.load(Plain::Relaxed)
    }
}

#[derive(Clone, Copy)]
struct Link(NonNull<Ready>);

// SAFETY: `Ready` is `Sync`, and the model keeps it.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

impl Link {
    fn get(&self) -> &Ready {
        // SAFETY: kept by the model until the task is complete.
        unsafe { self.0.as_ref() }
    }
}

impl Schedule for Link {
    fn schedule(self, runnable: task::Runnable) {
        let header = runnable.into_header().as_ptr();
        // Release pairs with the Acquire in `take`.
        let before = self.get().place.swap(header, Ordering::Release);
        assert!(before.is_null(), "a task has two `Runnable`s");
    }

    fn release(self, _task: NonNull<Header>, _end: End) {
        self.get().released.fetch_add(1, Plain::Relaxed);
    }
}
