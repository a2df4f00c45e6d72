//! What the parts of a connection know of each other.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use windlass_runtime::timer;
use windlass_sync::CancellationToken;

use super::unread::Unread;
use super::upgrade::Upgrade;

/// What a connection is doing.
///
/// The orderings are relaxed: with HTTP/1 all is done by one task, and with HTTP/2 it is about time-outs that are looked
/// at again when they are over.
#[derive(Debug)]
pub(super) struct Activity {
    started: Instant,
    drain: CancellationToken,
    in_flight: AtomicUsize,
    unread: Unread,
    has_served: AtomicBool,
    /// Set when a stream of HTTP/2 was handed over, to a WebSocket for instance.
    handed_over: AtomicBool,
    /// Set when a connection of HTTP/1 was handed over as a whole.
    upgrade: OnceLock<Upgrade>,
    /// When the last response was over, in nanoseconds after the start.
    idle_since: AtomicU64,
}

impl Activity {
    pub(super) fn new(drain: CancellationToken) -> Self {
        Self {
            started: timer::now(),
            drain,
            in_flight: AtomicUsize::new(0),
            unread: Unread::default(),
            has_served: AtomicBool::new(false),
            handed_over: AtomicBool::new(false),
            upgrade: OnceLock::new(),
            idle_since: AtomicU64::new(0),
        }
    }

    /// When the connection was made.
    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// True once the connection is to end.
    pub(super) fn is_draining(&self) -> bool {
        self.drain.is_cancelled()
    }

    /// True while a request is being answered. A connection of HTTP/2 of which a stream was handed over stays busy for good,
    /// because nothing tells when that stream ends.
    pub(super) fn is_busy(&self) -> bool {
        self.in_flight.load(Relaxed) > 0 || self.handed_over.load(Relaxed)
    }

    /// True if there has been a request.
    pub(super) fn has_served(&self) -> bool {
        self.has_served.load(Relaxed)
    }

    /// When the last response was over, if none is under way.
    pub(super) fn idle_since(&self) -> Instant {
        self.started + Duration::from_nanos(self.idle_since.load(Relaxed))
    }

    /// What ties an upgraded connection of HTTP/1 to its server.
    pub(super) fn upgrade(&self) -> Option<&Upgrade> {
        self.upgrade.get()
    }

    /// True if bytes have arrived that are no request yet.
    pub(super) fn is_head_under_way(&self) -> bool {
        self.unread.is_some()
    }

    /// True if the connection has to be polled once more before `is_head_under_way` is right.
    pub(super) fn is_unsure(&self) -> bool {
        !self.is_busy() && self.unread.is_unsure()
    }

    /// Notes that bytes have arrived.
    pub(super) fn note_bytes(&self) {
        self.unread.note_bytes();
    }

    /// Notes that a read has found nothing.
    pub(super) fn note_nothing(&self) {
        self.unread.note_nothing(self.in_flight.load(Relaxed) > 0);
    }

    /// Notes that something is written or flushed.
    pub(super) fn note_write(&self) {
        self.unread.note_write();
    }
}

/// A request that is being answered, until it is dropped.
#[derive(Debug)]
pub(super) struct Exchange(Arc<Activity>);

impl Exchange {
    pub(super) fn begin(activity: &Arc<Activity>, has_body: bool) -> Self {
        activity.in_flight.fetch_add(1, Relaxed);
        activity.unread.note_request(has_body);
        activity.has_served.store(true, Relaxed);
        Self(activity.clone())
    }

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
        let nanos = timer::now().saturating_duration_since(self.0.started).as_nanos();
        self.0.idle_since.store(nanos.try_into().unwrap_or(u64::MAX), Relaxed);
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}
