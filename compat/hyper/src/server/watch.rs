//! Decides when a connection's time is up.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use windlass_runtime::timer::{self, Sleep, sleep_until};

use super::activity::Activity;
use super::exchanges::Snapshot;
use super::told::Told;
use super::version::Version;
use crate::policy::{BODY_LOOKS, CLOSING, KEPT_ARMED, PROGRESS};

/// The time limits of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Without the rest of a head that has begun or, except with HTTP/2, without a first request.
    pub(super) header: Option<Duration>,
    /// Without a request, between two requests.
    pub(super) idle: Option<Duration>,
    /// Without a request, once the connection should end.
    pub(super) linger: Duration,
    /// Without progress of a write.
    pub(super) write: Option<Duration>,
}

/// What a connection has waited for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// The rest of a head that has begun.
    Head,
    /// A request that has not begun.
    Request,
}

/// A time in which no answer has gone on.
#[derive(Clone, Copy, Debug)]
struct Stall {
    since: Instant,
    exchanges: Snapshot,
    moved: usize,
}

/// Watches over a connection.
pub(super) struct Watch {
    limits: Limits,
    activity: Arc<Activity>,
    version: Option<Version>,
    drain: Told,
    told_at: Option<Instant>,
    head_since: Option<Instant>,
    /// When it was told to close.
    closing_since: Option<Instant>,
    /// The bytes that were written and had arrived by the last look since then.
    moved: usize,
    /// The bytes that had arrived when there last was something under way, or enough to be a body.
    received: usize,
    /// When they were enough.
    received_at: Instant,
    /// Since when all answers wait for the client.
    stall: Option<Stall>,
    sleep: Sleep,
    /// When the timer fires, if it is armed.
    fires_at: Option<Instant>,
    /// True if the timer wakes the task that checked `drain` last.
    is_timer_asked: bool,
    /// When the last response was over, as of the last look.
    idle_since: Instant,
}

impl Watch {
    pub(super) fn new(limits: Limits, activity: Arc<Activity>, drain: Told) -> Self {
        let sleep = sleep_until(activity.started());
        Self {
            limits,
            version: None,
            drain,
            told_at: None,
            head_since: None,
            closing_since: None,
            moved: 0,
            received: 0,
            received_at: activity.started(),
            stall: None,
            sleep,
            fires_at: None,
            is_timer_asked: false,
            idle_since: activity.started(),
            activity,
        }
    }

    pub(super) fn set_version(&mut self, version: Version) {
        self.version = Some(version);
    }

    /// Returns true once the connection should end. Until then, the connection is woken when that happens.
    pub(super) fn check_end(&mut self, cx: &mut Context<'_>) -> bool {
        if self.told_at.is_some() {
            return true;
        }
        let told = self.drain.check(cx);
        if told {
            self.told_at = Some(timer::now());
        }
        told
    }

    /// Returns true if the connection has to be polled once more before `poll_overdue` knows what it waits for. Called
    /// once after each poll.
    pub(super) fn settle_doubt(&self) -> bool {
        self.version == Some(Version::Http1) && self.activity.settle_doubt()
    }

    /// Ready when the connection has waited for something for too long. Poll this after the connection, which may have
    /// found what it waits for.
    pub(super) fn poll_overdue(&mut self, cx: &mut Context<'_>) -> Poll<Overdue> {
        self.is_timer_asked &= self.drain.is_asked_by(cx.waker());
        self.check_end(cx);
        if self.is_just_idle() {
            return Poll::Pending;
        }
        loop {
            // Read before `next`, so that a body that ends meanwhile is not missed.
            let exchanges = self.activity.exchanges();
            let Some((deadline, overdue)) = self.next() else {
                // Whatever ends this state wakes the connection, or else the timer, which is still armed, does.
                return self.keep_armed(exchanges, cx);
            };
            if self.fires_at.is_none_or(|fires_at| deadline < fires_at) {
                self.sleep.reset(deadline);
                self.fires_at = Some(deadline);
            }
            if Pin::new(&mut self.sleep).poll(cx).is_pending() {
                self.is_timer_asked = true;
                return Poll::Pending;
            }
            self.fires_at = None;
            if deadline <= timer::now() {
                return Poll::Ready(overdue);
            }
        }
    }

    /// Returns true if an HTTP/1 response was over since the last look and the timer need not be checked: it was not
    /// due then, fires in time for the next request, and wakes the task that asks. Most polls end this way.
    fn is_just_idle(&mut self) -> bool {
        let is_busy = self.activity.is_busy();
        let since = self.activity.idle_since();
        // The clock was read for `since` in this very poll; an earlier reading is not used. After the end of a body, which
        // may be read elsewhere, the timer is not asked.
        if mem::replace(&mut self.idle_since, since) == since
            || !self.is_timer_asked
            || self.told_at.is_some()
            || self.version != Some(Version::Http1)
            || is_busy
            || self.activity.is_head_under_way()
        {
            return false;
        }
        let deadline = self.limits.idle.and_then(|limit| since.checked_add(limit));
        let is_in_time = match (self.fires_at, deadline) {
            (Some(fires_at), Some(deadline)) => since < fires_at && fires_at <= deadline,
            _ => false,
        };
        if is_in_time {
            self.head_since = None;
            self.received = self.activity.received();
        }
        is_in_time
    }

    /// Notes that the connection was told to close.
    pub(super) fn close(&mut self) {
        self.closing_since = Some(timer::now());
        self.fires_at = None;
    }

    /// Ready when the connection takes too long to close. With HTTP/2, a request may have crossed the message that
    /// closes the connection. It is answered, and the time counts from its end. An answer of HTTP/2 that waits for the
    /// client's window is neither in flight nor being written, and nor is a body that goes on after its response, so the
    /// time also counts anew if enough bytes have gone out or have arrived since the last look.
    pub(super) fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.fires_at.is_none() {
            // The first call. What was written so far is what tells the client.
            self.moved = self.moved();
        }
        loop {
            let now = timer::now();
            let is_stalled = self.stall_over().is_some_and(|over| over <= now);
            let since = match self.activity.is_busy() && !is_stalled {
                true => now,
                false => self.closing_since.max(Some(self.activity.idle_since())).unwrap_or(now),
            };
            let deadline = since + CLOSING;
            if deadline <= now {
                let moved = self.moved();
                if moved.wrapping_sub(mem::replace(&mut self.moved, moved)) >= PROGRESS {
                    self.closing_since = Some(now);
                    continue;
                }
                return Poll::Ready(());
            }
            // The deadline only moves to later times, so at worst the timer fires early.
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

    /// Returns the bytes that were written and that have arrived, together.
    fn moved(&self) -> usize {
        self.activity.written().wrapping_add(self.activity.received())
    }

    /// With HTTP/2, the last response may be over without the connection being polled, and so may a body that goes on
    /// after its response. So the timer goes on.
    fn keep_armed(&mut self, exchanges: Snapshot, cx: &mut Context<'_>) -> Poll<Overdue> {
        if self.version != Some(Version::Http2) && !exchanges.are_bodies() {
            return Poll::Pending;
        }
        // The end of a body changes `idle_since`, and may not poll the connection. So `is_just_idle` must not rely on it.
        self.is_timer_asked = false;
        let limits = [self.limits.idle, self.limits.write, self.told_at.map(|_| BODY_LOOKS)];
        let period = limits.into_iter().flatten().min().unwrap_or(Duration::MAX);
        let period = period.clamp(KEPT_ARMED.0, KEPT_ARMED.1);
        if self.told_at.is_some() {
            let next = timer::now() + period;
            self.fires_at = self.fires_at.filter(|fires_at| *fires_at <= next);
        }
        while self.fires_at.is_none() || Pin::new(&mut self.sleep).poll(cx).is_ready() {
            let next = timer::now() + period;
            self.sleep.reset(next);
            self.fires_at = Some(next);
        }
        Poll::Pending
    }

    /// Returns when the client will have taken nothing for too long, if every answer waits for that. With HTTP/2 alone:
    /// without a window, no write waits.
    fn stall_over(&mut self) -> Option<Instant> {
        let exchanges = self.activity.exchanges();
        if !exchanges.are_waiting() || self.activity.is_writing() {
            self.stall = None;
            return None;
        }
        let moved = self.moved();
        // What the client takes of other streams may be all in hyper's buffers, and it may still be sending a body. Pings
        // are less.
        let lasts = |stall: &Stall| {
            stall.exchanges == exchanges && moved.wrapping_sub(stall.moved) < PROGRESS
        };
        let begun = || Stall { since: timer::now(), exchanges, moved };
        let stall = *self.stall.insert(self.stall.filter(lasts).unwrap_or_else(begun));
        stall.since.checked_add(self.limits.write?)
    }

    /// Notes when so many bytes arrive between two requests that they may be a body that goes on after its response.
    fn look_for_body(&mut self) {
        let received = self.activity.received();
        if received.wrapping_sub(self.received) < PROGRESS {
            return;
        }
        self.received = received;
        self.received_at = timer::now();
        if self.activity.may_be_body() {
            self.head_since = None;
        }
    }

    /// Returns what the connection waits for, and the deadline. `None` if it is for the service or the peer to
    /// go on, or if there is no limit.
    fn next(&mut self) -> Option<(Instant, Overdue)> {
        if self.activity.is_busy() {
            self.head_since = None;
            self.received = self.activity.received();
            return self.stall_over().map(|over| (over, Overdue::Request));
        }
        self.look_for_body();
        let activity = &self.activity;
        // An idle connection of HTTP/2 gets frames that are no requests. It has shown what it is by its first
        // frames, so before the first request it is idle, as it is after it.
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
        let since = activity.idle_since().max(self.received_at);
        let deadline = match self.told_at {
            Some(told) => since.max(told).checked_add(self.limits.linger),
            None => since.checked_add(self.limits.idle?),
        };
        deadline.map(|deadline| (deadline, Overdue::Request))
    }
}
