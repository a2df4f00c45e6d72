//! Task ids.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;

use super::policy::IDS_AT_A_TIME;
use crate::primitives::plain::{AtomicU64, Ordering};

/// Identifies a task. No two tasks of a process have the same id.
///
/// Ids are not in the order of spawning, because threads take them in blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Id(NonZeroU64);

static NEXT_BLOCK: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

impl Id {
    pub(crate) fn next() -> Self {
        NEXT.with(|next| {
            let mut id = next.get();
            if id % IDS_AT_A_TIME == 0 {
                id = NEXT_BLOCK.fetch_add(IDS_AT_A_TIME, Ordering::Relaxed);
            }
            next.set(id + 1);
            // Ids start at 1: id 0 of the first block is shifted with all the others.
            Id(NonZeroU64::MIN.saturating_add(id))
        })
    }
}

impl Id {
    /// Returns the number behind the id.
    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }

    /// Returns the id with this number, if it was handed out.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// Returns the last id that was handed out with this lower half.
    pub(crate) fn from_half(half: u32) -> Option<Self> {
        let end = NEXT_BLOCK.load(Ordering::Relaxed);
        let number = end & !u64::from(u32::MAX) | u64::from(half);
        Self::from_number(if number > end { number.checked_sub(1 << 32)? } else { number })
    }
}

/// Returns the id of the current task.
///
/// # Panics
///
/// Panics outside of any task. The closures of `spawn_blocking` and `compute` are tasks; the future
/// of a `block_on` is not.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let task = windlass::spawn(async { windlass::task::id() });
/// let id = task.id();
/// assert_eq!(task.await.unwrap(), id);
/// # });
/// ```
#[track_caller]
pub fn id() -> Id {
    try_id().expect("`task::id` was called outside of any task: use `task::try_id` there")
}

/// Returns the id of the current task, or `None` outside of any.
///
/// # Examples
///
/// ```
/// assert!(windlass::task::try_id().is_none());
/// ```
pub fn try_id() -> Option<Id> {
    super::waker::polled_id()
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_across_threads_and_blocks() {
        let take = || (0..3 * IDS_AT_A_TIME).map(|_| Id::next()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(take)).collect();
        let mut all = std::collections::HashSet::new();
        for thread in threads {
            for id in thread.join().unwrap() {
                assert!(all.insert(id), "{id} was given twice");
            }
        }
    }
}
