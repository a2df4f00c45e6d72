//! crossbeam's deques, and for models their interface on lists behind a lock. The only file that names crossbeam-deque.
//!
//! crossbeam-deque can't run under loom. What the models prove is what is built on the deques, not the deques.

use std::collections::VecDeque;

use crate::primitives::{AtomicUsize, Mutex, Ordering};

#[cfg(not(loom))]
pub(crate) use crossbeam_deque::{Injector, Steal, Stealer, Worker};
#[cfg(loom)]
pub(crate) use model::{Injector, Steal, Stealer, Worker};

/// Steals until the answer is definite.
#[inline]
pub(crate) fn settle<T>(mut steal: impl FnMut() -> Steal<T>) -> Option<T> {
    loop {
        match steal() {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => std::hint::spin_loop(),
        }
    }
}

/// A list behind a lock. Its length is read without the lock and orders nothing, so that a model of a thread that looks
/// for work rests on the fences around the look.
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
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }
}

#[cfg(loom)]
mod model {
    use std::collections::VecDeque;

    use super::LockedList;
    use crate::primitives::Arc;

    /// The answer of a deque.
    pub(crate) enum Steal<T> {
        Success(T),
        Empty,
        Retry,
    }

    impl<T> From<Option<T>> for Steal<T> {
        fn from(stolen: Option<T>) -> Self {
            stolen.map_or(Steal::Empty, Steal::Success)
        }
    }

    /// The owner's end of a deque.
    pub(crate) struct Worker<T>(Arc<Deque<T>>);

    /// The thieves' end of a deque.
    pub(crate) struct Stealer<T>(Arc<Deque<T>>);

    struct Deque<T> {
        list: LockedList<T>,
        newest_first: bool,
    }

    impl<T> Deque<T> {
        /// No fence is there for the emptiness of a queue of tasks, whose owner answers for it. It is read under the lock,
        /// which saves models most of their time.
        fn len(&self) -> usize {
            if self.newest_first { self.list.len() } else { self.list.items.lock().len() }
        }

        fn take_oldest(&self) -> Option<T> {
            if self.newest_first {
                self.list.pop_front()
            } else {
                self.list.items.lock().pop_front()
            }
        }
    }

    impl<T> Worker<T> {
        fn new(newest_first: bool) -> Self {
            Self(Arc::new(Deque { list: LockedList::default(), newest_first }))
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
                return self.0.take_oldest();
            }
            // Only the owner fills it, so what it sees empty is.
            if self.is_empty() { None } else { self.0.list.change(VecDeque::pop_back) }
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }

        pub(crate) fn stealer(&self) -> Stealer<T> {
            Stealer(self.0.clone())
        }
    }

    impl<T> Stealer<T> {
        pub(crate) fn steal(&self) -> Steal<T> {
            self.0.take_oldest().into()
        }

        pub(crate) fn steal_batch_and_pop(&self, _to: &Worker<T>) -> Steal<T> {
            self.steal()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
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

        pub(crate) fn steal(&self) -> Steal<T> {
            self.0.pop_front().into()
        }

        pub(crate) fn steal_batch_and_pop(&self, _to: &Worker<T>) -> Steal<T> {
            self.steal()
        }

        pub(crate) fn steal_batch(&self, to: &Worker<T>) -> Steal<()> {
            self.0.pop_front().map(|item| to.push(item)).into()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }
    }
}
