//! The cooperative budget, as programs see it. The budget itself is [`windlass_sync::budget`], because the waits of
//! that crate ask it too.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::pin;
use std::task::{Poll, ready};

pub(crate) use windlass_sync::budget::{
    budgeted, has_budget, poll_proceed, spend, start, stop, unconstrained as uncounted,
};

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
    poll_fn(|cx| {
        ready!(poll_proceed(cx));
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
    poll_fn(|cx| uncounted(|| future.as_mut().poll(cx))).await
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

/// Awaits a future of another library as if it were one of windlass's own: if the task's budget is used up, it lets
/// others run first, once, and the result counts against the budget. For futures that may be ready again and again
/// without end, such as those of `windlass::channel` and `windlass::lock` under load.
///
/// Dropping it drops the future, which is not polled before the others have had their turn.
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
/// // However fast the sender is, other tasks have their turn.
/// while let Ok(number) = cooperative(receiver.recv()).await {
///     sum += number;
/// }
/// assert_eq!(sum, 499_500);
/// # });
/// ```
pub async fn cooperative<F: IntoFuture>(future: F) -> F::Output {
    let mut put_off = false;
    poll_fn(|cx| {
        // Once: what is polled before it may use the budget up in every poll of the task.
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
