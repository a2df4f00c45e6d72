//! When a connection's time is up.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use windlass_runtime::timer::{self, Sleep, sleep_until};

use super::activity::Activity;
use super::told::Told;
use super::version::Version;

/// How long a connection that was told to close may take to write out what it has, and to answer what has begun meanwhile.
const CLOSING: Duration = Duration::from_secs(5);

/// How long a connection may be without what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Without the rest of a head that has begun, or, unless it is of HTTP/2, without a first request.
    pub(super) header: Option<Duration>,
    /// Without a request between two of them.
    pub(super) idle: Option<Duration>,
    /// Without a request once it is to end.
    pub(super) linger: Duration,
}

/// What a connection has waited for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// A head that is on its way.
    Head,
    /// A request that nobody has begun to send.
    Request,
}

/// Watches over a connection.
pub(super) struct Watch {
    limits: Limits,
    activity: Arc<Activity>,
    version: Option<Version>,
    drain: Told,
    told_at: Option<Instant>,
    head_since: Option<Instant>,
    /// When it was told to close because it was idle.
    closing_since: Option<Instant>,
    sleep: Sleep,
    /// When the timer fires, if it is armed.
    fires_at: Option<Instant>,
}

impl Watch {
    pub(super) fn new(limits: Limits, activity: Arc<Activity>, drain: Told) -> Self {
        let sleep = sleep_until(activity.started());
        Self {
            limits,
            activity,
            version: None,
            drain,
            told_at: None,
            head_since: None,
            closing_since: None,
            sleep,
            fires_at: None,
        }
    }

    pub(super) fn set_version(&mut self, version: Version) {
        self.version = Some(version);
    }

    /// True once the connection is to end. Until then it is woken when that happens.
    pub(super) fn is_told(&mut self, cx: &mut Context<'_>) -> bool {
        if self.told_at.is_some() {
            return true;
        }
        let told = self.drain.is_told(cx);
        if told {
            self.told_at = Some(timer::now());
        }
        told
    }

    /// True if the connection has to be polled once more before `poll_overdue` knows what it waits for.
    pub(super) fn is_unsure(&self) -> bool {
        self.version == Some(Version::Http1) && self.activity.is_unsure()
    }

    /// Ready when the connection has waited for something too long. To be polled after the connection, which
    /// may have found what it waits for.
    pub(super) fn poll_overdue(&mut self, cx: &mut Context<'_>) -> Poll<Overdue> {
        self.is_told(cx);
        loop {
            let Some((deadline, overdue)) = self.next() else {
                // Whatever ends this wakes the connection, or the timer that is still armed does.
                return self.keep_armed(cx);
            };
            if self.fires_at.is_none_or(|fires_at| deadline < fires_at) {
                self.sleep.reset(deadline);
                self.fires_at = Some(deadline);
            }
            if Pin::new(&mut self.sleep).poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.fires_at = None;
            if deadline <= timer::now() {
                return Poll::Ready(overdue);
            }
        }
    }

    /// Notes that the connection was told to close because it was idle.
    pub(super) fn close(&mut self) {
        self.closing_since = Some(timer::now());
        self.fires_at = None;
    }

    /// Ready when the connection takes too long to close. With HTTP/2, a request may have crossed the message that
    /// closes the connection. It is answered, and the time counts from its end.
    pub(super) fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let now = timer::now();
            let since = match self.activity.is_busy() {
                true => now,
                false => self.closing_since.max(Some(self.activity.idle_since())).unwrap_or(now),
            };
            let deadline = since + CLOSING;
            if deadline <= now {
                return Poll::Ready(());
            }
            // The deadline only moves to later times, so when the timer fires it is early at worst.
            if self.fires_at.is_none() {
                self.sleep.reset(deadline);
                self.fires_at = Some(deadline);
            }
            if Pin::new(&mut self.sleep).poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.fires_at = None;
        }
    }

    /// With HTTP/2, the last response may be over without the connection being polled. So the timer goes on.
    fn keep_armed(&mut self, cx: &mut Context<'_>) -> Poll<Overdue> {
        if self.version == Some(Version::Http2) {
            let period = self.limits.idle.unwrap_or(Duration::MAX).min(Duration::from_secs(3600));
            while self.fires_at.is_none() || Pin::new(&mut self.sleep).poll(cx).is_ready() {
                let next = timer::now() + period;
                self.sleep.reset(next);
                self.fires_at = Some(next);
            }
        }
        Poll::Pending
    }

    /// What the connection waits for, and until when it may. `None` if it is for the service or the peer to
    /// go on, or if there is no limit.
    fn next(&mut self) -> Option<(Instant, Overdue)> {
        let activity = &self.activity;
        if activity.is_busy() {
            self.head_since = None;
            return None;
        }
        // An idle connection of HTTP/2 gets frames that are no requests. It has shown what it is by its first frames, so
        // before the first request it is idle, as it is after it.
        let is_2 = self.version == Some(Version::Http2);
        let head_begun = activity.is_head_under_way() && !is_2;
        if head_begun || !(activity.has_served() || is_2) {
            let since = match activity.has_served() {
                true => *self.head_since.get_or_insert_with(timer::now),
                false => activity.started(),
            };
            let head = self.limits.header.and_then(|limit| since.checked_add(limit));
            let told = self.told_at.filter(|_| !head_begun);
            let linger = told.and_then(|told| told.checked_add(self.limits.linger));
            let head = head.map(|deadline| (deadline, Overdue::Head));
            let linger = linger.map(|deadline| (deadline, Overdue::Request));
            return head.into_iter().chain(linger).min_by_key(|(deadline, _)| *deadline);
        }
        self.head_since = None;
        let deadline = match self.told_at {
            Some(told) => activity.idle_since().max(told).checked_add(self.limits.linger),
            None => activity.idle_since().checked_add(self.limits.idle?),
        };
        deadline.map(|deadline| (deadline, Overdue::Request))
    }
}
