//! How the models in `loom-tests` reach the real tasks and the real scheduler.
//!
//! A thin layer: what it adds of its own is a scheduler for models of a single task.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::ptr::{self, NonNull};

use crate::primitives::plain::{AtomicUsize, Ordering as Plain};
use crate::primitives::{Arc, AtomicPtr, Mutex, Ordering};
use crate::task::{self, Header, JoinHandle, Origin, OwnedTasks, Schedule};

/// The right to run a task.
#[derive(Debug)]
pub struct Runnable(task::Runnable);

impl Runnable {
    /// Polls the task once, or drops its future if it was cancelled.
    pub fn run(self) {
        self.0.run();
    }

    /// Drops the task's future.
    pub fn cancel(self) {
        self.0.cancel();
    }
}

/// The scheduler of a model with one task: a place for its `Runnable`.
///
/// The place orders nothing, so that the model rests on the task's state word alone. The model
/// keeps it until the task is complete.
#[derive(Debug)]
pub struct Ready {
    place: AtomicPtr<Header>,
    released: AtomicUsize,
}

impl Ready {
    /// An empty place.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { place: AtomicPtr::new(ptr::null_mut()), released: AtomicUsize::new(0) })
    }

    /// Makes a task that is put here when it is woken.
    pub fn task<F: Future>(&self, future: F) -> (Runnable, JoinHandle<F::Output>) {
        let (runnable, handle) = task::new_task(future, Link(NonNull::from(self)), origin());
        (Runnable(runnable), handle)
    }

    /// The `Runnable`, if the task was woken.
    pub fn take(&self) -> Option<Runnable> {
        let header = NonNull::new(self.place.swap(ptr::null_mut(), Ordering::Relaxed))?;
        // SAFETY: put here by `schedule`, which gave up a `Runnable`, and taken out once.
        Some(Runnable(unsafe { task::Runnable::new(header) }))
    }

    /// Runs the task until it stays idle.
    pub fn run_all(&self) {
        while let Some(runnable) = self.take() {
            runnable.run();
        }
    }

    /// How often the task left its owner.
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
        let before = self.get().place.swap(header, Ordering::Relaxed);
        assert!(before.is_null(), "a task has two `Runnable`s");
    }

    fn release(self, _task: NonNull<Header>, _panicked: bool) {
        self.get().released.fetch_add(1, Plain::Relaxed);
    }
}

/// The scheduler of a model of the owner's list: the list, and a queue behind a lock.
pub struct Owner {
    owned: OwnedTasks,
    ready: Mutex<VecDeque<task::Runnable>>,
}

impl Owner {
    /// An empty list.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { owned: OwnedTasks::new(0), ready: Mutex::new(VecDeque::new()) })
    }

    /// Makes a task that is not in the list yet.
    pub fn task<F: Future>(&self, future: F) -> (Runnable, JoinHandle<F::Output>) {
        let (runnable, handle) = task::new_task(future, Member(NonNull::from(self)), origin());
        (Runnable(runnable), handle)
    }

    /// Takes a task into the list; false if that is closed.
    pub fn bind(&self, runnable: &Runnable) -> bool {
        self.owned.bind(0, &runnable.0)
    }

    /// Takes a task into the list and runs it; cancels it if the list is closed.
    pub fn bind_and_run(&self, runnable: Runnable) {
        if self.bind(&runnable) {
            runnable.run();
        } else {
            runnable.cancel();
        }
    }

    /// Closes the list, and queues what it returns.
    pub fn close(&self) {
        let idle = self.owned.close();
        self.ready.lock().extend(idle);
    }

    /// Runs what is queued.
    pub fn run_all(&self) {
        loop {
            let next = self.ready.lock().pop_front();
            match next {
                Some(runnable) => runnable.run(),
                None => return,
            }
        }
    }

    /// True if every task is complete.
    pub fn is_empty(&self) -> bool {
        self.owned.is_empty()
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").finish_non_exhaustive()
    }
}

#[derive(Clone, Copy)]
struct Member(NonNull<Owner>);

// SAFETY: `Owner` is `Sync`, and the model keeps it.
unsafe impl Send for Member {}
// SAFETY: as above.
unsafe impl Sync for Member {}

impl Member {
    fn get(&self) -> &Owner {
        // SAFETY: kept by the model until the task is complete.
        unsafe { self.0.as_ref() }
    }
}

impl Schedule for Member {
    fn schedule(self, runnable: task::Runnable) {
        self.get().ready.lock().push_back(runnable);
    }

    fn release(self, task: NonNull<Header>, _panicked: bool) {
        self.get().owned.remove(0, task);
    }
}

#[track_caller]
fn origin() -> Origin {
    Origin::new(Location::caller(), None)
}
