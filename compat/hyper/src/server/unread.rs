//! Tracks whether hyper holds bytes of a head that has not become a request yet.
//!
//! hyper does not expose that, but its calls show it. It reads for three purposes:
//!
//! 1. While a request is being answered: for its body, and to notice that the peer is gone. It does so only if its
//!    buffer is empty.
//! 2. For a head, the beginning of which may be in the buffer. Then it writes or flushes before it reads again.
//! 3. Once between the two, if its last read found something and all of it is used up, so the buffer is empty.
//!
//! So the buffer is empty if a read finds nothing (a) while a request is being answered, or (b) directly after another
//! read that found nothing, because that one was of the third kind. Bytes that arrive after the response, or in one
//! read with the end of a body, are in doubt until hyper has been polled once more: either (b) happens, or the bytes
//! belong to a head.
//!
//! hyper may be set up not to flush while it holds bytes (`pipeline_flush`), and then (b) is wrong. But (b) is used
//! only when there is doubt, and an error costs little: the limit for an idle connection applies instead of the one for
//! a head.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The bytes of an HTTP/1 connection that hyper has read and not used. All calls are from one task, so the orderings
/// are relaxed.
#[derive(Debug, Default)]
pub(super) struct Unread {
    some: AtomicBool,
    /// The previous call was a read that found nothing.
    found_nothing: AtomicBool,
    /// There was a request since it was last known what the bytes of `some` are.
    doubtful: AtomicBool,
    /// The last request had a body, which may arrive after the response.
    has_body: AtomicBool,
    /// hyper has been polled once more since bytes arrived.
    looked: AtomicBool,
}

impl Unread {
    /// Returns true if hyper holds bytes of a head.
    #[inline]
    pub(super) fn is_some(&self) -> bool {
        self.some.load(Relaxed)
    }

    /// Returns true if hyper may be reading the body of the last request still.
    pub(super) fn may_be_body(&self) -> bool {
        self.has_body.load(Relaxed)
    }

    /// Returns true if hyper has to be polled once more before `is_some` is right. Called once after each poll, while
    /// no request is being answered.
    #[inline]
    pub(super) fn settle_doubt(&self) -> bool {
        if !self.doubtful.load(Relaxed) {
            return false;
        }
        let unsure = self.some.load(Relaxed) && !self.looked.load(Relaxed);
        if unsure {
            self.looked.store(true, Relaxed);
        } else {
            self.doubtful.store(self.has_body.load(Relaxed), Relaxed);
        }
        unsure
    }

    /// Notes that bytes have arrived.
    #[inline]
    pub(super) fn note_bytes(&self) {
        self.some.store(true, Relaxed);
        self.found_nothing.store(false, Relaxed);
        self.looked.store(false, Relaxed);
    }

    /// Notes that a read has found nothing, while a request is being answered or not.
    #[inline]
    pub(super) fn note_nothing(&self, answering: bool) {
        let after_another = self.found_nothing.load(Relaxed) && self.doubtful.load(Relaxed);
        if answering || after_another {
            self.some.store(false, Relaxed);
        }
        self.found_nothing.store(true, Relaxed);
    }

    /// Notes that hyper writes or flushes.
    #[inline]
    pub(super) fn note_write(&self) {
        self.found_nothing.store(false, Relaxed);
    }

    /// Notes that a head has become a request. There may be more bytes after it.
    #[inline]
    pub(super) fn note_request(&self, has_body: bool) {
        self.doubtful.store(true, Relaxed);
        self.has_body.store(has_body, Relaxed);
    }
}
