//! A request to stop: a token that can be cancelled once, together with all tokens made from it.

mod guard;
mod tree;

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::primitives::{Arc, Mutex};
use crate::wait::{self, Signal, wait_future};
use crate::waiters::WaiterList;
use crate::waits::WaitsFor;
use tree::Node;

pub use guard::DropGuardRef;

/// A request to stop that is passed down a tree of tokens.
///
/// Clones are the same token. A [child](Self::child_token) is cancelled with its parent, but not the other way round. A
/// token stays cancelled.
///
/// A parent does not keep its children alive, and a child does not keep its parent alive. A child that is dropped
/// leaves no memory behind in its parent. When a token is dropped, its children become children of its parent.
/// Everything that a thread did before [`cancel`](Self::cancel) is visible to every thread that finds the token
/// cancelled.
///
/// Tasks of any runtime and plain threads can use a token at the same time.
///
/// # Cancelling a wait
///
/// Dropping a future that waits for a token has no effect on the token.
///
/// # Example
///
/// ```
/// use windlass::sync::CancellationToken;
///
/// let server = CancellationToken::new();
/// let connection = server.child_token();
/// let thread = std::thread::spawn({
///     let connection = connection.clone();
///     move || connection.wait_blocking()
/// });
/// server.cancel();
/// thread.join().unwrap();
/// assert!(connection.is_cancelled());
/// ```
#[derive(Clone)]
pub struct CancellationToken {
    node: Arc<Node>,
}

impl UnwindSafe for CancellationToken {}
impl RefUnwindSafe for CancellationToken {}

impl CancellationToken {
    /// Creates a token that is not cancelled and has no parent.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// assert!(!CancellationToken::new().is_cancelled());
    /// ```
    pub fn new() -> Self {
        Self { node: Node::root() }
    }

    /// Creates a token that is cancelled when this one is, and can also be cancelled alone. If this token is already
    /// cancelled, so is the child.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// let parent = CancellationToken::new();
    /// let child = parent.child_token();
    /// child.cancel();
    /// assert!(!parent.is_cancelled());
    /// parent.cancel();
    /// assert!(parent.child_token().is_cancelled());
    /// ```
    #[must_use = "a child that is dropped does nothing"]
    pub fn child_token(&self) -> Self {
        Self { node: self.node.child() }
    }

    /// Cancels this token and all its descendants, and wakes their waiters. When this returns, all of these tokens are
    /// cancelled. Has no effect on a token that is already cancelled.
    ///
    /// # Panics
    ///
    /// Panics if a waiter's waker panics. All tokens are still cancelled, and all other waiters are woken.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// let token = CancellationToken::new();
    /// token.cancel();
    /// token.wait_blocking();
    /// ```
    pub fn cancel(&self) {
        self.node.cancel();
    }

    /// Returns true if this token or an ancestor of it has been cancelled.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// let parent = CancellationToken::new();
    /// let child = parent.child_token();
    /// parent.cancel();
    /// assert!(child.is_cancelled());
    /// ```
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.node.event().is_set()
    }

    /// Waits until the token is cancelled. If it already is, the future is ready at once.
    ///
    /// # Panics
    ///
    /// The future panics if it is polled again after it has completed.
    ///
    /// ```
    /// use windlass::{block_on, sync::CancellationToken};
    ///
    /// let token = CancellationToken::new();
    /// token.cancel();
    /// block_on(token.cancelled());
    /// ```
    pub fn cancelled(&self) -> Cancelled<'_> {
        Cancelled::new(self)
    }

    /// Like [`cancelled`](Self::cancelled), but returns a future that owns the token.
    ///
    /// ```
    /// use windlass::{block_on, sync::CancellationToken};
    ///
    /// let token = CancellationToken::new();
    /// let cancelled = token.clone().cancelled_owned();
    /// std::thread::spawn(move || token.cancel());
    /// block_on(cancelled);
    /// ```
    pub fn cancelled_owned(self) -> CancelledOwned {
        CancelledOwned::new(self)
    }

    /// Blocks the current thread until the token is cancelled.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// let token = CancellationToken::new();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| token.cancel());
    ///     token.wait_blocking();
    /// });
    /// ```
    pub fn wait_blocking(&self) {
        wait::wait_blocking(self.node.event());
    }

    /// Blocks the current thread until the token is cancelled, or `timeout` has passed. Returns true if the token is
    /// cancelled.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::sync::CancellationToken;
    ///
    /// let token = CancellationToken::new();
    /// assert!(!token.wait_timeout(Duration::from_millis(1)));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        wait::wait_timeout(self.node.event(), timeout)
    }

    /// Returns a guard that cancels this token when it is dropped.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// let token = CancellationToken::new();
    /// drop(token.clone().drop_guard());
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard(self) -> DropGuard {
        DropGuard { token: Some(self) }
    }

    /// Returns a guard that cancels this token when it is dropped, and borrows the token until then.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// let token = CancellationToken::new();
    /// {
    ///     let _guard = token.drop_guard_ref();
    ///     assert!(!token.is_cancelled());
    /// }
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard_ref(&self) -> DropGuardRef<'_> {
        DropGuardRef::new(self)
    }

    /// Runs `future` until it completes or the token is cancelled. If the token is cancelled, drops
    /// `future` and returns `None`.
    ///
    /// If both happen between two polls, the result is `None`. If the token is cancelled from the start, `future` is
    /// never polled.
    ///
    /// # Panics
    ///
    /// Panics if `future` panics.
    ///
    /// ```
    /// use windlass::{block_on, sync::CancellationToken};
    ///
    /// let token = CancellationToken::new();
    /// assert_eq!(block_on(token.run_until_cancelled(async { 7 })), Some(7));
    /// token.cancel();
    /// assert_eq!(block_on(token.run_until_cancelled(std::future::pending::<()>())), None);
    /// ```
    pub async fn run_until_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        let mut cancelled = pin!(self.cancelled());
        poll_fn(|context| {
            match cancelled.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(None),
                // The token was cancelled just now, or the task has no budget. In both cases the task is polled again
                // soon.
                Poll::Pending if self.is_cancelled() => Poll::Pending,
                Poll::Pending => future.as_mut().poll(context).map(Some),
            }
        })
        .await
    }

    /// Like [`run_until_cancelled`](Self::run_until_cancelled), but the future owns the token, so that it
    /// can be spawned.
    ///
    /// # Panics
    ///
    /// Panics if `future` panics.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// # windlass::block_on(async {
    /// let token = CancellationToken::new();
    /// let work = std::future::pending::<()>();
    /// let task = windlass::spawn(token.clone().run_until_cancelled_owned(work));
    /// token.cancel();
    /// assert_eq!(task.await.unwrap(), None);
    /// # });
    /// ```
    pub async fn run_until_cancelled_owned<F: Future>(self, future: F) -> Option<F::Output> {
        self.run_until_cancelled(future).await
    }
}

/// Creates a token that is not cancelled and has no parent.
impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken")
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

// SAFETY: the queue is that of the node on the heap, which the token keeps alive.
unsafe impl Signal for CancellationToken {
    const WAITS_FOR: WaitsFor = WaitsFor::Cancellation;

    fn queue(&self) -> &Mutex<WaiterList> {
        self.node.event().waiters()
    }

    fn try_take(&self) -> bool {
        self.node.event().try_take()
    }

    fn take_or_announce(&self) -> bool {
        self.node.event().take_or_announce()
    }

    fn withdraw(&self) {
        self.node.event().withdraw();
    }
}

// SAFETY: as above.
unsafe impl Signal for &CancellationToken {
    const WAITS_FOR: WaitsFor = CancellationToken::WAITS_FOR;

    fn queue(&self) -> &Mutex<WaiterList> {
        (**self).queue()
    }

    fn try_take(&self) -> bool {
        (**self).try_take()
    }

    fn take_or_announce(&self) -> bool {
        (**self).take_or_announce()
    }

    fn withdraw(&self) {
        (**self).withdraw();
    }
}

wait_future! {
    /// The future returned by [`CancellationToken::cancelled`]. Dropping it has no effect on the token.
    pub struct Cancelled<'a>(&'a CancellationToken);
}

wait_future! {
    /// The future returned by [`CancellationToken::cancelled_owned`]. Dropping it drops its clone of the token, which
    /// has no other effect.
    pub struct CancelledOwned(CancellationToken);
}

/// Cancels a token when it is dropped; see [`CancellationToken::drop_guard`].
#[derive(Debug)]
#[must_use = "dropping the guard cancels the token"]
pub struct DropGuard {
    token: Option<CancellationToken>,
}

impl DropGuard {
    /// Returns the token without cancelling it.
    ///
    /// ```
    /// use windlass::sync::CancellationToken;
    ///
    /// let token = CancellationToken::new().drop_guard().disarm();
    /// assert!(!token.is_cancelled());
    /// ```
    pub fn disarm(mut self) -> CancellationToken {
        self.token.take().expect("the token is taken once, by disarm or drop")
    }
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        if let Some(token) = self.token.take() {
            token.cancel();
        }
    }
}
