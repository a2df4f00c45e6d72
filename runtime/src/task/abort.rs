//! The handle that cancels a task and does not own its output.

use std::fmt;
use std::ptr::NonNull;

use super::header::Header;
use super::id::Id;
use super::waker;

/// Cancels a task without owning its output. Returned by
/// [`JoinHandle::abort_handle`](super::JoinHandle::abort_handle) and
/// [`JoinSet::spawn`](super::JoinSet::spawn). Dropping it has no effect.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let task = windlass::spawn(std::future::pending::<()>());
/// let abort = task.abort_handle();
/// assert_eq!(abort.id(), task.id());
/// abort.abort();
/// assert!(task.await.unwrap_err().is_cancelled());
/// assert!(abort.is_finished());
/// # });
/// ```
pub struct AbortHandle {
    pub(super) header: NonNull<Header>,
}

// SAFETY: only the atomic state and the read-only id are reached through it.
unsafe impl Send for AbortHandle {}
// SAFETY: as above.
unsafe impl Sync for AbortHandle {}

impl std::panic::UnwindSafe for AbortHandle {}
impl std::panic::RefUnwindSafe for AbortHandle {}

impl AbortHandle {
    /// # Safety
    ///
    /// The caller gives the handle a reference.
    pub(super) unsafe fn new(header: NonNull<Header>) -> Self {
        Self { header }
    }

    #[inline]
    pub(super) fn header(&self) -> &Header {
        // SAFETY: the handle's reference keeps the task alive.
        unsafe { self.header.as_ref() }
    }

    /// Cancels the task; see [`JoinHandle::abort`](super::JoinHandle::abort).
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(std::future::pending::<()>());
    /// task.abort_handle().abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        // SAFETY: the handle has a reference.
        unsafe { waker::abort(self.header) }
    }

    /// Returns true if the task has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(async {});
    /// let abort = task.abort_handle();
    /// task.await.unwrap();
    /// assert!(abort.is_finished());
    /// # });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.header().state.load().is_complete()
    }

    /// Returns the task's id.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(async {});
    /// assert_eq!(task.abort_handle().id(), task.id());
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.header().id
    }
}

impl Clone for AbortHandle {
    fn clone(&self) -> Self {
        self.header().state.retain();
        Self { header: self.header }
    }
}

impl Drop for AbortHandle {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the handle's reference, which is not used again.
        unsafe { waker::release(self.header) }
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}
