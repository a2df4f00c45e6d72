//! The cheapest way for tasks to take turns: whose turn it is, and the wakers of those who wait.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

pub(crate) struct Baton {
    holder: AtomicUsize,
    wakers: Vec<Mutex<Option<Waker>>>,
}

impl Baton {
    /// Creates one for this many tasks; nobody holds it.
    pub(crate) fn new(tasks: usize) -> Baton {
        let wakers = (0..tasks).map(|_| Mutex::new(None)).collect();
        Baton { holder: AtomicUsize::new(tasks), wakers }
    }

    /// Gives it to a task, and wakes that one if it waits.
    pub(crate) fn pass_to(&self, task: usize) {
        // The lock of the waker orders this for a task on another thread.
        self.holder.store(task, Ordering::Relaxed);
        let waker = self.waker(task).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits until it was passed to `task`.
    pub(crate) async fn held_by(&self, task: usize) {
        poll_fn(|context| {
            let mut waker = self.waker(task);
            if self.holder.load(Ordering::Relaxed) == task {
                self.holder.store(self.wakers.len(), Ordering::Relaxed);
                return Poll::Ready(());
            }
            *waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn waker(&self, task: usize) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.wakers[task].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
