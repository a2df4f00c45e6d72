//! The handle to a task that ends with it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{AbortHandle, Id, JoinError, JoinHandle};

/// A [`JoinHandle`] that **aborts** its task when it is dropped, where the handle itself detaches it. Awaiting it returns
/// what the handle returns.
///
/// # Cancel safety
///
/// Awaiting `&mut handle` can be cancelled at any time and started again. Cancelling what owns the handle aborts the
/// task.
///
/// # Panics
///
/// Panics if it is polled again after it has returned the output.
///
/// # Examples
///
/// ```
/// use windlass::task::AbortOnDropHandle;
///
/// # windlass::block_on(async {
/// let task = AbortOnDropHandle::new(windlass::spawn(std::future::pending::<()>()));
/// let abort = task.abort_handle();
/// drop(task);
/// while !abort.is_finished() {
///     windlass::yield_now().await;
/// }
///
/// let task = AbortOnDropHandle::new(windlass::spawn(async { 42 }));
/// assert_eq!(task.await.unwrap(), 42);
/// # });
/// ```
#[must_use = "dropping the handle aborts the task"]
pub struct AbortOnDropHandle<T>(Option<JoinHandle<T>>);

impl<T> AbortOnDropHandle<T> {
    /// Has the task end with the handle.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::AbortOnDropHandle;
    ///
    /// # windlass::block_on(async {
    /// assert_eq!(AbortOnDropHandle::new(windlass::spawn(async { 42 })).await.unwrap(), 42);
    /// # });
    /// ```
    pub fn new(handle: JoinHandle<T>) -> Self {
        Self(Some(handle))
    }

    fn handle(&self) -> &JoinHandle<T> {
        self.0.as_ref().expect("the handle is taken once, by detach or drop")
    }

    /// Cancels the task; see [`JoinHandle::abort`].
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::AbortOnDropHandle;
    ///
    /// # windlass::block_on(async {
    /// let task = AbortOnDropHandle::new(windlass::spawn(std::future::pending::<()>()));
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        self.handle().abort();
    }

    /// Returns true if the task has ended: returned, panicked or been cancelled.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::AbortOnDropHandle;
    ///
    /// # windlass::block_on(async {
    /// let task = AbortOnDropHandle::new(windlass::spawn(std::future::pending::<()>()));
    /// assert!(!task.is_finished());
    /// # });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.handle().is_finished()
    }

    /// Returns a handle that can abort the task, and whose drop does not.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::AbortOnDropHandle;
    ///
    /// # windlass::block_on(async {
    /// let task = AbortOnDropHandle::new(windlass::spawn(std::future::pending::<()>()));
    /// task.abort_handle().abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort_handle(&self) -> AbortHandle {
        self.handle().abort_handle()
    }

    /// Returns the task's id.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::AbortOnDropHandle;
    ///
    /// # windlass::block_on(async {
    /// let task = AbortOnDropHandle::new(windlass::spawn(async { windlass::task::id() }));
    /// let id = task.id();
    /// assert_eq!(task.await.unwrap(), id);
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.handle().id()
    }

    /// Returns the plain handle, whose drop lets the task continue.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task::AbortOnDropHandle;
    ///
    /// # windlass::block_on(async {
    /// let task = AbortOnDropHandle::new(windlass::spawn(async { 42 }));
    /// assert_eq!(task.detach().await.unwrap(), 42);
    /// # });
    /// ```
    pub fn detach(mut self) -> JoinHandle<T> {
        self.0.take().expect("the handle is taken once, by detach or drop")
    }
}

impl<T> Future for AbortOnDropHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let handle = self.0.as_mut().expect("the handle is taken once, by detach or drop");
        Pin::new(handle).poll(cx)
    }
}

impl<T> Drop for AbortOnDropHandle<T> {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.abort();
        }
    }
}

impl<T> AsRef<JoinHandle<T>> for AbortOnDropHandle<T> {
    fn as_ref(&self) -> &JoinHandle<T> {
        self.handle()
    }
}

impl<T> From<JoinHandle<T>> for AbortOnDropHandle<T> {
    fn from(handle: JoinHandle<T>) -> Self {
        Self::new(handle)
    }
}

impl<T> fmt::Debug for AbortOnDropHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortOnDropHandle")
            .field("id", &self.id())
            .field("finished", &self.is_finished())
            .finish()
    }
}
