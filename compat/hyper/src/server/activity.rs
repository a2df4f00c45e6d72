//! The state that the parts of a connection share.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use windlass_runtime::timer;
use windlass_sync::CancellationToken;

use super::exchanges::{Exchanges, Share, Snapshot};
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
    exchanges: Exchanges,
    /// Set while a write waits for the client. hyper takes a body that is in memory at once, so what is still to be
    /// sent of an answer may be no longer in flight.
    is_writing: AtomicBool,
    /// The number of bytes that the client, or the buffers on the way to it, have taken.
    written: AtomicUsize,
    /// The bytes that have come from the client.
    received: AtomicUsize,
    unread: Unread,
    has_served: AtomicBool,
    /// Set when a connection of HTTP/1 was handed over as a whole.
    upgrade: OnceLock<Upgrade>,
    /// When the last response, or the last wait of a write, was over, in nanoseconds after the start.
    idle_since: AtomicU64,
}

impl Activity {
    pub(super) fn new(drain: CancellationToken) -> Self {
        Self {
            started: timer::now(),
            drain,
            exchanges: Exchanges::default(),
            is_writing: AtomicBool::new(false),
            written: AtomicUsize::new(0),
            received: AtomicUsize::new(0),
            unread: Unread::default(),
            has_served: AtomicBool::new(false),
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

    /// Returns the exchanges that are under way. If there are none, `idle_since` is as new as the end of the last.
    #[inline]
    pub(super) fn exchanges(&self) -> Snapshot {
        self.exchanges.look()
    }

    /// Returns true while a request is being answered, a stream is in other hands, or somebody holds on to a body.
    #[inline]
    pub(super) fn is_answering(&self) -> bool {
        self.exchanges().any()
    }

    /// Returns true while a write waits for the client.
    pub(super) fn is_writing(&self) -> bool {
        self.is_writing.load(Relaxed)
    }

    /// Returns true while a request is being answered, or an answer waits to be sent.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.is_answering() || self.is_writing()
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

    /// Returns true if what has arrived may belong to the body of the last request.
    pub(super) fn may_be_body(&self) -> bool {
        self.unread.may_be_body()
    }

    /// Notes that this many bytes have arrived.
    #[inline]
    pub(super) fn note_bytes(&self, bytes: usize) {
        // By the connection's own task alone.
        self.received.store(self.received.load(Relaxed).wrapping_add(bytes), Relaxed);
        self.unread.note_bytes();
    }

    /// Notes that a read has found nothing.
    #[inline]
    pub(super) fn note_nothing(&self) {
        self.unread.note_nothing(self.is_answering());
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

    /// Returns the number of bytes that have arrived so far.
    #[inline]
    pub(super) fn received(&self) -> usize {
        self.received.load(Relaxed)
    }

    fn note_idle(&self) {
        let nanos = timer::now().saturating_duration_since(self.started).as_nanos();
        self.idle_since.store(nanos.try_into().unwrap_or(u64::MAX), Relaxed);
    }
}

/// An exchange that is under way, until this is dropped.
#[derive(Debug)]
pub(super) struct Exchange {
    activity: Arc<Activity>,
    share: Share,
}

impl Exchange {
    #[inline]
    pub(super) fn begin(activity: &Arc<Activity>, has_body: bool) -> Self {
        let share = activity.exchanges.begin();
        activity.unread.note_request(has_body);
        activity.has_served.store(true, Relaxed);
        Self { activity: activity.clone(), share }
    }

    /// Begins another, for the body of the same request.
    pub(super) fn begin_body(&self) -> Self {
        Self { share: self.activity.exchanges.begin_body(), activity: self.activity.clone() }
    }

    /// Notes that the client has to take something before it goes on.
    #[inline]
    pub(super) fn wait(&mut self) {
        self.activity.exchanges.wait(&mut self.share);
    }

    /// Notes that it goes on, if it has waited.
    #[inline]
    pub(super) fn go_on(&mut self) {
        self.activity.exchanges.go_on(&mut self.share);
    }

    #[inline]
    pub(super) fn is_draining(&self) -> bool {
        self.activity.is_draining()
    }

    /// Notes that the connection is handed over once the response is sent.
    pub(super) fn hand_over_connection(&self, is_websocket: bool) {
        self.activity.upgrade.get_or_init(|| Upgrade::new(is_websocket));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.activity.note_idle();
        self.activity.exchanges.end(&self.share);
    }
}
