//! Queues that others may take from: crossbeam's, or in models, lists behind a lock. No other file names
//! crossbeam-deque.
//!
//! crossbeam-deque can't run under loom. The models prove what is built on the queues, not the queues.

use std::collections::VecDeque;

use crate::primitives::{AtomicUsize, Mutex, Ordering};

#[cfg(loom)]
pub(crate) use model::{Deque, Injector, Stealer};
#[cfg(not(loom))]
pub(crate) use real::{Deque, Injector, Stealer};

/// A list behind a lock. Its length is read without the lock and orders nothing, so a model of a thread that looks for
/// work depends on the fences around the look.
pub(crate) struct LockedList<T> {
    items: Mutex<VecDeque<T>>,
    len: AtomicUsize,
}

impl<T> Default for LockedList<T> {
    fn default() -> Self {
        Self { items: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }
}

impl<T> LockedList<T> {
    fn change<R>(&self, f: impl FnOnce(&mut VecDeque<T>) -> R) -> R {
        let mut items = self.items.lock();
        let result = f(&mut items);
        self.len.store(items.len(), Ordering::Relaxed);
        result
    }

    pub(crate) fn push_back(&self, item: T) {
        self.change(|items| items.push_back(item));
    }

    pub(crate) fn pop_front(&self) -> Option<T> {
        if self.is_empty() { None } else { self.change(VecDeque::pop_front) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }
}

#[cfg(not(loom))]
mod real {
    use crossbeam_deque::Steal;

    /// Steals until the answer is definite.
    fn settle<T>(mut steal: impl FnMut() -> Steal<T>) -> Option<T> {
        loop {
            match steal() {
                Steal::Success(item) => return Some(item),
                Steal::Empty => return None,
                Steal::Retry => std::hint::spin_loop(),
            }
        }
    }

    /// The owner's end of a queue.
    pub(crate) struct Deque<T>(crossbeam_deque::Worker<T>);

    impl<T> Deque<T> {
        /// Creates a queue whose owner takes the oldest.
        pub(crate) fn new_fifo() -> Self {
            Self(crossbeam_deque::Worker::new_fifo())
        }

        /// Creates a queue whose owner takes the newest.
        pub(crate) fn new_lifo() -> Self {
            Self(crossbeam_deque::Worker::new_lifo())
        }

        #[inline]
        pub(crate) fn push(&self, item: T) {
            self.0.push(item);
        }

        #[inline]
        pub(crate) fn pop(&self) -> Option<T> {
            self.0.pop()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }

        pub(crate) fn stealer(&self) -> Stealer<T> {
            Stealer(self.0.stealer())
        }
    }

    /// The thieves' end of a queue.
    pub(crate) struct Stealer<T>(crossbeam_deque::Stealer<T>);

    impl<T> Stealer<T> {
        /// Takes the oldest.
        pub(crate) fn steal(&self) -> Option<T> {
            if self.is_empty() { None } else { settle(|| self.0.steal()) }
        }

        /// Moves about half of the queue into `to`, and returns one of them.
        pub(crate) fn steal_into(&self, to: &Deque<T>) -> Option<T> {
            settle(|| self.0.steal_batch_and_pop(&to.0))
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }
    }

    /// A queue that any thread may push to.
    pub(crate) struct Injector<T>(crossbeam_deque::Injector<T>);

    impl<T> Injector<T> {
        pub(crate) fn new() -> Self {
            Self(crossbeam_deque::Injector::new())
        }

        pub(crate) fn push(&self, item: T) {
            self.0.push(item);
        }

        /// Takes one.
        pub(crate) fn take(&self) -> Option<T> {
            settle(|| self.0.steal())
        }

        /// Moves a batch into `to`, and returns one of them.
        pub(crate) fn take_into(&self, to: &Deque<T>) -> Option<T> {
            if self.is_empty() { None } else { settle(|| self.0.steal_batch_and_pop(&to.0)) }
        }

        /// Moves a batch into `to`. Returns false if there was nothing.
        pub(crate) fn move_into(&self, to: &Deque<T>) -> bool {
            !self.is_empty() && settle(|| self.0.steal_batch(&to.0)).is_some()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }
    }
}

#[cfg(loom)]
mod model {
    use std::collections::VecDeque;

    use super::LockedList;
    use crate::primitives::{Arc, Ordering};

    /// The owner's end of a queue.
    pub(crate) struct Deque<T>(Stealer<T>);

    /// The thieves' end of a queue.
    pub(crate) struct Stealer<T> {
        list: Arc<LockedList<T>>,
        newest_first: bool,
    }

    impl<T> Deque<T> {
        fn new(newest_first: bool) -> Self {
            Self(Stealer { list: Arc::new(LockedList::default()), newest_first })
        }

        pub(crate) fn new_fifo() -> Self {
            Self::new(false)
        }

        pub(crate) fn new_lifo() -> Self {
            Self::new(true)
        }

        pub(crate) fn push(&self, item: T) {
            if self.0.newest_first {
                self.0.list.push_back(item);
            } else {
                self.0.list.items.lock().push_back(item);
            }
        }

        pub(crate) fn pop(&self) -> Option<T> {
            if !self.0.newest_first {
                return self.0.steal();
            }
            // Only the owner fills the queue, so if the owner sees it empty, it is.
            if self.is_empty() { None } else { self.0.list.change(VecDeque::pop_back) }
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }

        pub(crate) fn stealer(&self) -> Stealer<T> {
            Stealer { list: self.0.list.clone(), newest_first: self.0.newest_first }
        }
    }

    impl<T> Stealer<T> {
        pub(crate) fn steal(&self) -> Option<T> {
            if self.newest_first {
                self.list.pop_front()
            } else {
                self.list.items.lock().pop_front()
            }
        }

        pub(crate) fn steal_into(&self, _to: &Deque<T>) -> Option<T> {
            self.steal()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// Reads the length of a queue of tasks under the lock, because no fence orders it: the owner is responsible
        /// for such a queue. This saves models most of their time.
        pub(crate) fn len(&self) -> usize {
            if self.newest_first {
                self.list.len.load(Ordering::Relaxed)
            } else {
                self.list.items.lock().len()
            }
        }
    }

    /// A queue that any thread may push to.
    pub(crate) struct Injector<T>(LockedList<T>);

    impl<T> Injector<T> {
        pub(crate) fn new() -> Self {
            Self(LockedList::default())
        }

        pub(crate) fn push(&self, item: T) {
            self.0.push_back(item);
        }

        pub(crate) fn take(&self) -> Option<T> {
            self.0.pop_front()
        }

        pub(crate) fn take_into(&self, _to: &Deque<T>) -> Option<T> {
            self.take()
        }

        pub(crate) fn move_into(&self, to: &Deque<T>) -> bool {
            self.take().map(|item| to.push(item)).is_some()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len.load(Ordering::Relaxed)
        }
    }
}
