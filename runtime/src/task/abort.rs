//! The handle that can only cancel.

use std::fmt;
use std::ptr::NonNull;

use super::header::Header;
use super::id::Id;
use super::waker;

/// Cancels a task from anywhere, without owning its output. Made by
/// [`JoinHandle::abort_handle`](super::JoinHandle::abort_handle) and by
/// [`JoinSet::spawn`](super::JoinSet::spawn). Dropping it does nothing.
pub struct AbortHandle {
    header: NonNull<Header>,
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

    fn header(&self) -> &Header {
        // SAFETY: the handle's reference keeps the task alive.
        unsafe { self.header.as_ref() }
    }

    /// Cancels the task; see [`JoinHandle::abort`](super::JoinHandle::abort).
    pub fn abort(&self) {
        // SAFETY: the handle has a reference.
        unsafe { waker::abort(self.header) }
    }

    /// True once the task has ended.
    pub fn is_finished(&self) -> bool {
        self.header().state.load().is_complete()
    }

    /// The task's id.
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
