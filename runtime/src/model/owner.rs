//! A scheduler for models of the owner's list.

use std::collections::VecDeque;
use std::future::Future;
use std::ptr::NonNull;

use super::Runnable;
use crate::primitives::{Arc, Mutex};
use crate::task::{self, End, Header, JoinHandle, Listing, Origin, OwnedTasks, Schedule};

/// The scheduler of a model of the owner's list: the list, and a queue behind a lock.
pub struct Owner {
    owned: OwnedTasks,
    ready: Mutex<VecDeque<task::Runnable>>,
}

impl Owner {
    /// Creates an empty list.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { owned: OwnedTasks::new(0), ready: Mutex::new(VecDeque::new()) })
    }

    /// Makes a task that is to be bound before it is run.
    pub fn task<F: Future>(&self, future: F) -> (Runnable, JoinHandle<F::Output>) {
        self.new_task(future, Listing::AtSpawn)
    }

    /// Makes a task that is bound when its first poll returns `Pending`.
    pub fn late_task<F: Future>(&self, future: F) -> (Runnable, JoinHandle<F::Output>) {
        self.new_task(future, Listing::Late)
    }

    fn new_task<F>(&self, future: F, listing: Listing) -> (Runnable, JoinHandle<F::Output>)
    where
        F: Future,
    {
        let member = Member(NonNull::from(self));
        let (runnable, handle) = task::new_task(future, member, Origin::caller(), listing);
        (Runnable(runnable), handle)
    }

    /// Takes a task into the list. Returns false if that is closed.
    pub fn bind(&self, runnable: &Runnable) -> bool {
        self.owned.bind(0, runnable.0.header())
    }

    /// Takes a late task into the list before its first poll, unless that is closed.
    pub fn list(&self, runnable: &Runnable) {
        runnable.0.list(0);
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

    /// Returns true if the list is closed and every task is complete.
    pub fn is_over(&self) -> bool {
        self.owned.is_over()
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

    fn bind(self, task: NonNull<Header>) -> bool {
        self.get().owned.bind(0, task)
    }

    fn list(self, task: NonNull<Header>) -> bool {
        self.get().owned.bind(0, task)
    }

    fn release(self, task: NonNull<Header>, end: End) {
        if end.listed {
            self.get().owned.remove(0, task);
        }
    }
}
