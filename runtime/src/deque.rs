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

/// A list behind a lock. Its length is read without the lock and orders nothing, so that a model of a thread that looks for
/// work rests on the fences around the look.
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
    pub(crate) struct Worker<T> {
        list: Arc<LockedList<T>>,
        newest_first: bool,
    }

    impl<T> Worker<T> {
        pub(crate) fn new_fifo() -> Self {
            Self { list: Arc::new(LockedList::default()), newest_first: false }
        }

        pub(crate) fn new_lifo() -> Self {
            Self { newest_first: true, ..Self::new_fifo() }
        }

        pub(crate) fn push(&self, item: T) {
            self.list.push_back(item);
        }

        pub(crate) fn pop(&self) -> Option<T> {
            // Only the owner fills it, so what it sees empty is.
            if !self.newest_first {
                return self.list.pop_front();
            }
            if self.is_empty() { None } else { self.list.change(VecDeque::pop_back) }
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.list.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.list.len()
        }

        pub(crate) fn stealer(&self) -> Stealer<T> {
            Stealer(self.list.clone())
        }
    }

    /// The thieves' end of a deque.
    pub(crate) struct Stealer<T>(Arc<LockedList<T>>);

    impl<T> Stealer<T> {
        pub(crate) fn steal(&self) -> Steal<T> {
            self.0.pop_front().into()
        }

        pub(crate) fn steal_batch_and_pop(&self, _to: &Worker<T>) -> Steal<T> {
            self.steal()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
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

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len()
        }
    }
}
