//! The cooperative budget: how much a task may do in one poll before it has to let others run.
//!
//! An operation that can be ready for ever (a socket that always has data, a handle whose task has
//! ended) asks [`poll_proceed`] first and says [`spend`] when it gave a result. Only progress costs:
//! a poll that stays pending is free, so that a future which polls a thousand pending children is
//! not sent round and round.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use windlass_sync::thread_cell;

/// Results a task may take in one poll.
const BUDGET: u32 = 128;
/// Outside tasks and `block_on` nothing is counted.
const UNLIMITED: u32 = u32::MAX;

thread_cell!(static LEFT: u32 = UNLIMITED);

/// Gives the task that is about to be polled a full budget.
pub(crate) fn start() {
    LEFT.with(|left| left.set(BUDGET));
}

/// Back to code that is no task.
pub(crate) fn stop() {
    LEFT.with(|left| left.set(UNLIMITED));
}

/// True if the task has budget left.
#[inline]
pub(crate) fn has_budget() -> bool {
    LEFT.with(Cell::get) != 0
}

/// Ready if the task has budget left; otherwise wakes it, to be polled again after the others.
#[inline]
pub(crate) fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    if !has_budget() {
        cx.waker().wake_by_ref();
        return Poll::Pending;
    }
    Poll::Ready(())
}

/// Counts one result against the budget.
#[inline]
pub(crate) fn spend() {
    LEFT.with(|left| {
        if left.get() != UNLIMITED {
            left.set(left.get().saturating_sub(1));
        }
    });
}

/// Runs `f` without counting.
pub(crate) fn uncounted<R>(f: impl FnOnce() -> R) -> R {
    with_left(UNLIMITED, f)
}

/// Runs `f`, a poll beside or within whatever is under way, with a full budget of its own.
pub(crate) fn budgeted<R>(f: impl FnOnce() -> R) -> R {
    with_left(BUDGET, f)
}

fn with_left<R>(budget: u32, f: impl FnOnce() -> R) -> R {
    struct Restore(u32);
    impl Drop for Restore {
        fn drop(&mut self) {
            LEFT.with(|left| left.set(self.0));
        }
    }
    let _restore = Restore(LEFT.with(|left| left.replace(budget)));
    f()
}

/// Spends one unit of the task's budget, and yields if it is used up. For loops that make progress
/// without ever waiting for one of windlass's own operations. Dropping the future changes nothing.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let mut sum = 0_u64;
/// for number in 0..10_000 {
///     sum += number;
///     windlass::task::consume_budget().await;
/// }
/// # assert_eq!(sum, 49_995_000);
/// # });
/// ```
pub async fn consume_budget() {
    std::future::poll_fn(|cx| {
        std::task::ready!(poll_proceed(cx));
        spend();
        Poll::Ready(())
    })
    .await
}

/// Runs a future without a budget: it is never made to yield, and may keep the other tasks of its worker waiting for as
/// long as it finds something to do. Dropping it drops the future.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let ready = windlass::task::unconstrained(async {
///     windlass::task::consume_budget().await;
///     windlass::task::has_budget_remaining()
/// });
/// assert!(ready.await);
/// # });
/// ```
pub async fn unconstrained<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| uncounted(|| future.as_mut().poll(cx))).await
}

/// Returns true if the task that is being polled may go on without a yield. Outside of tasks and `block_on` nothing is
/// counted, and it is always true.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// while windlass::task::has_budget_remaining() {
///     windlass::task::consume_budget().await; // handles one of many items
/// }
/// # });
/// ```
pub fn has_budget_remaining() -> bool {
    has_budget()
}
