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
/// Most orderings are relaxed: with HTTP/1 all is done by one task, and with HTTP/2 it is about
/// time-outs that are looked at again when they are over. A thread that finds nothing under way
/// also has to see since when.
#[derive(Debug)]
pub(super) struct Activity {
    started: Instant,
    drain: CancellationToken,
    in_flight: AtomicUsize,
    /// Set while a write waits for the client. hyper takes a body that is in memory at once, so what is still to be
    /// sent of an answer may be no longer in flight.
    is_writing: AtomicBool,
    /// The bytes that the client, or the buffers on the way to it, have taken.
    written: AtomicUsize,
    unread: Unread,
    has_served: AtomicBool,
    /// Set when a stream of HTTP/2 was handed over, to a WebSocket for instance.
    handed_over: AtomicBool,
    /// Set when a connection of HTTP/1 was handed over as a whole.
    upgrade: OnceLock<Upgrade>,
    /// When the last response was over, or the last wait of a write, in nanoseconds after the start.
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

    /// Returns true once the connection is to end.
    #[inline]
    pub(super) fn is_draining(&self) -> bool {
        self.drain.is_cancelled()
    }

    /// Returns true while a request is being answered. A connection of HTTP/2 of which a stream was handed over
    /// counts as answering for good, because nothing tells when that stream ends.
    #[inline]
    pub(super) fn is_answering(&self) -> bool {
        // Acquire pairs with the Release of the `Exchange` that goes: `idle_since` is at least as new.
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

    /// Returns when the last response was over, and sent as far as the client has let it.
    #[inline]
    pub(super) fn idle_since(&self) -> Instant {
        self.started + Duration::from_nanos(self.idle_since.load(Relaxed))
    }

    /// Returns what ties an upgraded connection of HTTP/1 to its server.
    #[inline]
    pub(super) fn upgrade(&self) -> Option<&Upgrade> {
        self.upgrade.get()
    }

    /// Returns true if bytes have arrived that are no request yet.
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

    /// Notes that something is written or flushed.
    #[inline]
    pub(super) fn note_write(&self) {
        self.unread.note_write();
    }

    /// Notes that this many bytes were written.
    #[inline]
    pub(super) fn note_written(&self, bytes: usize) {
        // By the connection's own task alone.
        self.written.store(self.written.load(Relaxed).wrapping_add(bytes), Relaxed);
    }

    /// Notes whether the write, or the flush, waits for the client.
    #[inline]
    pub(super) fn note_waiting(&self, is_waiting: bool) {
        if self.is_writing.load(Relaxed) != is_waiting {
            // The time counts from the end of the wait. All of this is the connection's own task.
            self.note_idle();
            self.is_writing.store(is_waiting, Relaxed);
        }
    }

    /// Returns the number of bytes that were written so far.
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

    /// Notes that the stream of this request goes on in other hands.
    pub(super) fn hand_over_stream(&self) {
        self.0.handed_over.store(true, Relaxed);
    }

    /// Notes that the connection goes on in other hands, once the response is sent.
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
