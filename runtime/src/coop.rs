//! The public interface of the cooperative budget. The budget itself is in [`windlass_sync::budget`], because the waits
//! of that crate use it too.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::pin;
use std::task::{Poll, ready};

pub(crate) use windlass_sync::budget::{
    budgeted, has_budget, poll_proceed, spend, spend_io, start, stop, unconstrained as uncounted,
};

/// Spends one unit of the task's budget, and yields if it is used up. Use it in loops that make progress without
/// waiting for any of windlass's own operations. Dropping the future has no effect.
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
    poll_fn(|cx| {
        ready!(poll_proceed(cx));
        spend();
        Poll::Ready(())
    })
    .await
}

/// Runs a future without a budget. It is never forced to yield, so it may keep the other tasks of its worker waiting
/// for as long as it has something to do. Dropping it drops the future.
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
    poll_fn(|cx| uncounted(|| future.as_mut().poll(cx))).await
}

/// Returns true if the current task may continue without yielding. Always true outside of tasks and `block_on`, where
/// there is no budget.
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

/// Awaits a future of another library like one of windlass's own: if the task's budget is used up, it first yields
/// once, and the result counts against the budget. Use it for futures that may always be ready under load, such as
/// those of `windlass::channel` and `windlass::lock`.
///
/// Dropping it drops the future, which is not polled before the yield.
///
/// # Examples
///
/// ```
/// use windlass::task::cooperative;
///
/// # windlass::block_on(async {
/// let (sender, receiver) = windlass::channel::bounded(1000);
/// for number in 0..1000 {
///     sender.send(number).await.unwrap();
/// }
/// drop(sender);
/// let mut sum = 0;
/// // However fast the sender is, other tasks run too.
/// while let Ok(number) = cooperative(receiver.recv()).await {
///     sum += number;
/// }
/// assert_eq!(sum, 499_500);
/// # });
/// ```
pub async fn cooperative<F: IntoFuture>(future: F) -> F::Output {
    let mut put_off = false;
    poll_fn(|cx| {
        // Once only, because a future polled before this one may use the budget up in every poll of the task.
        if !has_budget() && !put_off {
            put_off = true;
            return poll_proceed(cx);
        }
        Poll::Ready(())
    })
    .await;
    let output = future.await;
    spend();
    output
}
