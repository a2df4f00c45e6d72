//! The cooperative budget: how much a task may do in one poll before it has to let others run.
//!
//! An operation that can be ready for ever (an event that is set, a socket that always has data, a handle whose task
//! has ended) asks [`poll_proceed`] first and calls [`spend`] when it returns a result. Only progress costs: a poll
//! that stays pending is free, so that a future which polls a thousand pending children is not sent round and round.
//!
//! The runtime says when a task's poll begins and ends. It is here, below the runtime, because the waits of this crate
//! ask it too, and know no runtime. It is a cell of the current thread and nothing else: on the executor of somebody
//! else nothing is counted.

use std::cell::Cell;
use std::task::{Context, Poll};

use crate::thread_cell;

/// Results a task may take in one poll.
const BUDGET: u64 = 128;
/// Outside tasks and `block_on` nothing is counted, or for so long that nobody sees the end of it.
const UNLIMITED: u64 = u64::MAX;

thread_cell!(static LEFT: u64 = UNLIMITED);

/// Grants the task that is about to be polled a full budget.
#[inline]
pub fn start() {
    LEFT.with(|left| left.set(BUDGET));
}

/// Back to code that is no task.
#[inline]
pub fn stop() {
    LEFT.with(|left| left.set(UNLIMITED));
}

/// True if the task has budget left.
#[inline]
pub fn has_budget() -> bool {
    LEFT.with(Cell::get) != 0
}

/// Ready if the task has budget left; otherwise wakes it, to be polled again after the others.
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    if !has_budget() {
        cx.waker().wake_by_ref();
        return Poll::Pending;
    }
    Poll::Ready(())
}

/// Counts one result against the budget.
#[inline]
pub fn spend() {
    LEFT.with(|left| left.set(left.get().saturating_sub(1)));
}

/// Takes a result if it is there, and counts it; `None` if the task has no budget left. The same as asking first and
/// spending afterwards, with one look at the cell.
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

/// Runs `f` without counting.
pub fn unconstrained<R>(f: impl FnOnce() -> R) -> R {
    with_left(UNLIMITED, f)
}

/// Runs `f`, a poll beside or within whatever is under way, with a full budget of its own.
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
