//! Queues of ready tasks. With `fork/spawned.rs` the only file that names crossbeam-deque.
//!
//! crossbeam-deque can't run under loom, so models get a queue behind a lock with the same
//! interface. What the models prove is what is built on the queues, not the queues.

#[cfg(not(loom))]
mod real {
    use crossbeam_deque::{self as deque, Steal};

    use crate::task::Runnable;

    /// The owner's end of a worker's queue: first in, first out.
    pub(crate) struct LocalQueue(deque::Worker<Runnable>);

    /// The thieves' end of a worker's queue.
    pub(crate) struct Stealer(deque::Stealer<Runnable>);

    impl LocalQueue {
        pub(crate) fn new() -> Self {
            Self(deque::Worker::new_fifo())
        }

        pub(crate) fn push(&self, runnable: Runnable) {
            self.0.push(runnable);
        }

        pub(crate) fn pop(&self) -> Option<Runnable> {
            self.0.pop()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }

        pub(crate) fn stealer(&self) -> Stealer {
            Stealer(self.0.stealer())
        }
    }

    impl Stealer {
        /// Moves about half of the queue into `to`, and gives one of them.
        pub(crate) fn steal_into(&self, to: &LocalQueue) -> Option<Runnable> {
            settle(|| self.0.steal_batch_and_pop(&to.0))
        }

        /// Takes one.
        pub(crate) fn take(&self) -> Option<Runnable> {
            settle(|| self.0.steal())
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }
    }

    /// A queue that any thread may push to.
    pub(crate) struct Injector(deque::Injector<Runnable>);

    impl Injector {
        pub(crate) fn new() -> Self {
            Self(deque::Injector::new())
        }

        pub(crate) fn push(&self, runnable: Runnable) {
            self.0.push(runnable);
        }

        /// Takes one.
        pub(crate) fn take(&self) -> Option<Runnable> {
            settle(|| self.0.steal())
        }

        /// Moves a batch into `to`, and gives one of them.
        pub(crate) fn take_into(&self, to: &LocalQueue) -> Option<Runnable> {
            if self.0.is_empty() {
                return None;
            }
            settle(|| self.0.steal_batch_and_pop(&to.0))
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }
    }

    /// Tries until the answer is definite.
    fn settle(mut steal: impl FnMut() -> Steal<Runnable>) -> Option<Runnable> {
        loop {
            match steal() {
                Steal::Success(runnable) => return Some(runnable),
                Steal::Empty => return None,
                Steal::Retry => std::hint::spin_loop(),
            }
        }
    }
}

#[cfg(loom)]
mod model {
    use std::collections::VecDeque;

    use crate::primitives::{Arc, AtomicUsize, Mutex, Ordering};
    use crate::task::Runnable;

    pub(crate) struct LocalQueue(Arc<Mutex<VecDeque<Runnable>>>);
    pub(crate) struct Stealer(Arc<Mutex<VecDeque<Runnable>>>);

    /// The length is read without the lock and orders nothing, so that a model of who looks whether
    /// there is work rests on the fences around the look.
    pub(crate) struct Injector {
        queue: Mutex<VecDeque<Runnable>>,
        len: AtomicUsize,
    }

    impl LocalQueue {
        pub(crate) fn new() -> Self {
            Self(Arc::new(Mutex::new(VecDeque::new())))
        }

        pub(crate) fn push(&self, runnable: Runnable) {
            self.0.lock().push_back(runnable);
        }

        pub(crate) fn pop(&self) -> Option<Runnable> {
            self.0.lock().pop_front()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.lock().len()
        }

        pub(crate) fn stealer(&self) -> Stealer {
            Stealer(self.0.clone())
        }
    }

    impl Stealer {
        pub(crate) fn steal_into(&self, _to: &LocalQueue) -> Option<Runnable> {
            self.take()
        }

        pub(crate) fn take(&self) -> Option<Runnable> {
            self.0.lock().pop_front()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.lock().is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.lock().len()
        }
    }

    impl Injector {
        pub(crate) fn new() -> Self {
            Self { queue: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
        }

        pub(crate) fn push(&self, runnable: Runnable) {
            let mut queue = self.queue.lock();
            queue.push_back(runnable);
            self.len.store(queue.len(), Ordering::Relaxed);
        }

        pub(crate) fn take_into(&self, _to: &LocalQueue) -> Option<Runnable> {
            self.take()
        }

        pub(crate) fn take(&self) -> Option<Runnable> {
            if self.is_empty() {
                return None;
            }
            let mut queue = self.queue.lock();
            let taken = queue.pop_front()?;
            self.len.store(queue.len(), Ordering::Relaxed);
            Some(taken)
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }

        pub(crate) fn len(&self) -> usize {
            self.len.load(Ordering::Relaxed)
        }
    }
}

#[cfg(loom)]
pub(crate) use model::{Injector, LocalQueue, Stealer};
#[cfg(not(loom))]
pub(crate) use real::{Injector, LocalQueue, Stealer};
