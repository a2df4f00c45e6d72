//! The state that the parts of a connection share.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use windlass_runtime::timer;
use windlass_sync::CancellationToken;

use super::unread::Unread;
use super::upgrade::Upgrade;

/// The state of a connection.
///
/// Most orderings are relaxed: with HTTP/1 one task does everything, and with HTTP/2 only time-outs depend on the
/// values, which are checked again when they expire. But a thread that finds no request in flight must also see since
/// when.
#[derive(Debug)]
pub(super) struct Activity {
    started: Instant,
    drain: CancellationToken,
    in_flight: AtomicUsize,
    /// Set while a write waits for the client. hyper takes a body that is in memory at once, so an answer may no longer
    /// count as in flight although a part of it is still to be sent.
    is_writing: AtomicBool,
    /// The number of bytes that the client, or the buffers on the way to it, have taken.
    written: AtomicUsize,
    unread: Unread,
    has_served: AtomicBool,
    /// Set when an HTTP/2 stream was handed over, for instance to a WebSocket.
    handed_over: AtomicBool,
    /// Set when an HTTP/1 connection was handed over as a whole.
    upgrade: OnceLock<Upgrade>,
    /// When the last response, or the last wait of a write, was over, in nanoseconds after the start.
    idle_since: AtomicU64,
}

impl Activity {
    pub(super) fn new(drain: CancellationToken) -> Self {
        Self {
            started: timer::now(),
            drain,
            in_flight: AtomicUsize::new(0),
            is_writing: AtomicBool::new(false),
            written: AtomicUsize::new(0),
            unread: Unread::default(),
            has_served: AtomicBool::new(false),
            handed_over: AtomicBool::new(false),
            upgrade: OnceLock::new(),
            idle_since: AtomicU64::new(0),
        }
    }

    /// Returns when the connection was made.
    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// Returns true once the connection should end.
    #[inline]
    pub(super) fn is_draining(&self) -> bool {
        self.drain.is_cancelled()
    }

    /// Returns true while a request is being answered. Once a stream of an HTTP/2 connection was handed over, the
    /// connection counts as answering for good, because nothing tells when that stream ends.
    #[inline]
    pub(super) fn is_answering(&self) -> bool {
        // Acquire pairs with the Release in the drop of the `Exchange`: the `idle_since` seen after it is at least as
        // new.
        self.in_flight.load(Acquire) > 0 || self.handed_over.load(Relaxed)
    }

    /// Returns true while a request is being answered, or an answer waits to be sent.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.is_answering() || self.is_writing.load(Relaxed)
    }

    /// Returns true if there has been a request.
    pub(super) fn has_served(&self) -> bool {
        self.has_served.load(Relaxed)
    }

    /// Returns when the last response was over, and was sent as far as the client allowed.
    #[inline]
    pub(super) fn idle_since(&self) -> Instant {
        self.started + Duration::from_nanos(self.idle_since.load(Relaxed))
    }

    /// Returns the ties between an upgraded HTTP/1 connection and its server.
    #[inline]
    pub(super) fn upgrade(&self) -> Option<&Upgrade> {
        self.upgrade.get()
    }

    /// Returns true if bytes have arrived that are not a complete head yet.
    #[inline]
    pub(super) fn is_head_under_way(&self) -> bool {
        self.unread.is_some()
    }

    /// Returns true if the connection has to be polled once more before `is_head_under_way` is right.
    pub(super) fn settle_doubt(&self) -> bool {
        !self.is_answering() && self.unread.settle_doubt()
    }

    /// Notes that bytes have arrived.
    #[inline]
    pub(super) fn note_bytes(&self) {
        self.unread.note_bytes();
    }

    /// Notes that a read has found nothing.
    #[inline]
    pub(super) fn note_nothing(&self) {
        self.unread.note_nothing(self.in_flight.load(Relaxed) > 0);
    }

    /// Notes that hyper writes or flushes.
    #[inline]
    pub(super) fn note_write(&self) {
        self.unread.note_write();
    }

    /// Notes that this many bytes were written.
    #[inline]
    pub(super) fn note_written(&self, bytes: usize) {
        // Only the connection's own task writes this.
        self.written.store(self.written.load(Relaxed).wrapping_add(bytes), Relaxed);
    }

    /// Notes whether the write, or the flush, waits for the client.
    #[inline]
    pub(super) fn note_waiting(&self, is_waiting: bool) {
        if self.is_writing.load(Relaxed) != is_waiting {
            // The time counts from the end of the wait. Only the connection's own task gets here.
            self.note_idle();
            self.is_writing.store(is_waiting, Relaxed);
        }
    }

    /// Returns the number of bytes written so far.
    pub(super) fn written(&self) -> usize {
        self.written.load(Relaxed)
    }

    fn note_idle(&self) {
        let nanos = timer::now().saturating_duration_since(self.started).as_nanos();
        self.idle_since.store(nanos.try_into().unwrap_or(u64::MAX), Relaxed);
    }
}

/// A request that is being answered, until it is dropped.
#[derive(Debug)]
pub(super) struct Exchange(Arc<Activity>);

impl Exchange {
    #[inline]
    pub(super) fn begin(activity: &Arc<Activity>, has_body: bool) -> Self {
        activity.in_flight.fetch_add(1, Relaxed);
        activity.unread.note_request(has_body);
        activity.has_served.store(true, Relaxed);
        Self(activity.clone())
    }

    #[inline]
    pub(super) fn is_draining(&self) -> bool {
        self.0.is_draining()
    }

    /// Notes that this request's stream was handed over.
    pub(super) fn hand_over_stream(&self) {
        self.0.handed_over.store(true, Relaxed);
    }

    /// Notes that the connection is handed over once the response is sent.
    pub(super) fn hand_over_connection(&self, is_websocket: bool) {
        self.0.upgrade.get_or_init(|| Upgrade::new(is_websocket));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.0.note_idle();
        // Release pairs with the Acquire in `is_answering`.
        self.0.in_flight.fetch_sub(1, Release);
    }
}
