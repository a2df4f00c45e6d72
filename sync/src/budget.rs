//! The cooperative budget: the number of operations that a task may complete in one poll before it lets others run.
//!
//! An operation that can be ready for ever (an event that is set, a socket that always has data, a handle whose task
//! has ended) calls [`poll_proceed`] first, and [`spend`] when it returns a result. Only progress costs budget: a poll
//! that stays pending is free, so that a future which polls a thousand pending children is not rescheduled again and
//! again.
//!
//! The runtime calls [`start`] and [`stop`] around a task's poll. The budget is defined here, below the runtime,
//! because the waits of this crate use it too and depend on no runtime. It is only a thread-local cell: on the executor
//! of another library nothing is counted.

use std::cell::Cell;
use std::task::{Context, Poll};

use crate::policy::{BUDGET, IO_COST};
use crate::thread_cell;

/// The budget outside of tasks and `block_on`. It is never used up.
const UNLIMITED: u64 = u64::MAX;

thread_cell!(static LEFT: u64 = UNLIMITED);

/// Gives the task that is about to be polled a full budget.
#[inline]
pub fn start() {
    LEFT.with(|left| left.set(BUDGET));
}

/// Stops counting, because the code that follows is not part of a task.
#[inline]
pub fn stop() {
    LEFT.with(|left| left.set(UNLIMITED));
}

/// Returns true if the task has budget left.
#[inline]
pub fn has_budget() -> bool {
    LEFT.with(Cell::get) != 0
}

/// Returns `Ready` if the task has budget left. Otherwise wakes the task, so that it is polled again after the others.
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    if !has_budget() {
        cx.waker().wake_by_ref();
        return Poll::Pending;
    }
    Poll::Ready(())
}

/// Counts one completed operation against the budget.
///
/// ```
/// use windlass_sync::budget;
///
/// budget::budgeted(|| {
///     while budget::has_budget() {
///         budget::spend();
///     }
/// });
/// assert!(budget::has_budget(), "the budget was that of the closure");
/// ```
#[inline]
pub fn spend() {
    LEFT.with(|left| left.set(left.get().saturating_sub(1)));
}

/// Like [`spend`], but for an operation that has called the OS. Such an operation takes a microsecond or more, while a
/// wait that was ready takes a few nanoseconds, so it costs accordingly more. A task that always finds something to
/// read or write lets others run after a few messages, not after 64.
#[inline]
pub fn spend_io() {
    LEFT.with(|left| left.set(left.get().saturating_sub(IO_COST)));
}

/// Calls `take`, and counts an operation if it returns true. Returns `None` if the task has no budget left. The same as
/// [`has_budget`] and [`spend`], but with a single access to the cell.
#[inline]
pub(crate) fn take(take: impl FnOnce() -> bool) -> Option<bool> {
    LEFT.with(|left| {
        let before = left.get();
        if before == 0 {
            return None;
        }
        let taken = take();
        if taken {
            left.set(before - 1);
        }
        Some(taken)
    })
}

/// Calls `f` without counting.
pub fn unconstrained<R>(f: impl FnOnce() -> R) -> R {
    with_left(UNLIMITED, f)
}

/// Calls `f` with a full budget of its own.
pub fn budgeted<R>(f: impl FnOnce() -> R) -> R {
    with_left(BUDGET, f)
}

fn with_left<R>(budget: u64, f: impl FnOnce() -> R) -> R {
    struct Restore(u64);
    impl Drop for Restore {
        fn drop(&mut self) {
            LEFT.with(|left| left.set(self.0));
        }
    }
    let _restore = Restore(LEFT.with(|left| left.replace(budget)));
    f()
}
