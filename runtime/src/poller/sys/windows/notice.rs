//! The work of a callback that comes once: it tells the source, and wakes the tasks.
//!
//! # Closing beside the callback
//!
//! The thread that ends a wait waits for its callback, if that is under way. It waits for some instructions, until the
//! callback has collected the wakers. There the callback takes leave of the wait
//! (`DisassociateCurrentThreadFromCallback`), and wakes the wakers after that. So closing never waits for user code,
//! and never for itself if a waker of the very callback drops the registration.

use std::ffi::c_void;

use windows_sys::Win32::System::Threading::{
    DisassociateCurrentThreadFromCallback, PTP_CALLBACK_INSTANCE,
};

use super::threadpool::{Callbacks, Threadpool};
use crate::poller::source::{Readiness, Source};
use crate::poller::wake_all;
use crate::primitives::Arc;

pub(super) struct Notice {
    source: Arc<Source>,
    callbacks: Callbacks,
}

impl Notice {
    pub(super) fn new(pool: &Threadpool, source: &Arc<Source>) -> Arc<Self> {
        Arc::new(Self { source: source.clone(), callbacks: pool.callbacks().clone() })
    }

    /// Returns the callback's context, which does not count as a reference.
    pub(super) fn context(self: &Arc<Self>) -> *mut c_void {
        Arc::as_ptr(self).cast_mut().cast()
    }
}

/// Does the work of such a callback. It may be called for something that has ended, as long as the notice lives. Then
/// it tells a source that nobody looks at.
///
/// # Safety
///
/// The context is that of a notice, which lives until the callback has returned or taken leave. The instance is that of
/// the callback that calls this.
pub(super) unsafe fn deliver(instance: PTP_CALLBACK_INSTANCE, context: *mut c_void) {
    // SAFETY: the caller guarantees it.
    let notice = unsafe { &*context.cast::<Notice>() };
    let _running = notice.callbacks.enter();
    let mut wake = Vec::new();
    notice.source.event(Readiness { read: true, ..Readiness::default() }, &mut wake);
    // SAFETY: the instance is this call's. The notice is not used any more.
    unsafe { DisassociateCurrentThreadFromCallback(instance) };
    wake_all(wake);
}
