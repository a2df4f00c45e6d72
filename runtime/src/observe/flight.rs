//! What a worker puts into its flight record.
//!
//! Short polls are recorded together, when one is timed anyway and a millisecond has passed, or the worker runs out of
//! work. Recording adds no readings of the clock, unless each poll and wake-up is to be recorded.

use std::cell::Cell;

use windlass_timer::in_nanos;

use super::event::{Event, What};
use super::ring::Ring;
use super::watch::Watch;

use super::policy::{RECORDED_POLL, RECORDED_TOGETHER};

/// The writer's half of a flight record.
pub(super) struct Flight {
    /// Each poll and each wake-up is recorded.
    pub(super) each_poll: bool,
    /// What was recorded last ended at this time, after this many polls.
    until: Cell<u64>,
    polls: Cell<u64>,
    /// Events and steals that are recorded when the time is known.
    dispatched: Cell<usize>,
    stole: Cell<bool>,
}

impl Flight {
    pub(super) fn new(each_poll: bool, now: u64) -> Self {
        Self {
            each_poll,
            until: Cell::new(now),
            polls: Cell::new(0),
            dispatched: Cell::new(0),
            stole: Cell::new(false),
        }
    }

    fn write(&self, watch: &Watch, event: Event) {
        watch.ring.get_or_init(|| Ring::new(self.each_poll)).write(event.pack());
    }

    /// Something happened at this time.
    pub(super) fn note(&self, watch: &Watch, at: u64, what: What) {
        self.write(watch, Event { at, lasted: 0, what });
    }

    /// Something has lasted until now.
    pub(super) fn lasted(&self, watch: &Watch, at: u64, lasted: u64, what: What) {
        self.write(watch, Event { at, lasted, what });
    }

    /// The worker has handed out this many events.
    pub(super) fn dispatched(&self, events: usize) {
        self.dispatched.set(self.dispatched.get() + events);
    }

    /// The worker has taken tasks from another.
    pub(super) fn stole(&self) {
        self.stole.set(true);
    }

    /// A poll was timed, the last of this many.
    pub(super) fn timed(&self, watch: &Watch, now: u64, time: u64, poll: What, polls: u64) {
        if self.each_poll || time >= in_nanos(RECORDED_POLL) {
            self.polled(watch, now.saturating_sub(time), polls.saturating_sub(1));
            self.lasted(watch, now, time, poll);
            self.until.set(now);
            self.polls.set(polls);
        } else if now.saturating_sub(self.until.get()) >= in_nanos(RECORDED_TOGETHER) {
            self.polled(watch, now, polls);
        }
    }

    /// This many polls have ended by now.
    pub(super) fn polled(&self, watch: &Watch, now: u64, polls: u64) {
        let done = polls.saturating_sub(self.polls.replace(polls));
        let lasted = now.saturating_sub(self.until.replace(now));
        if done > 0 && lasted > 0 && !self.each_poll {
            let what = What::Polls(done.try_into().unwrap_or(u32::MAX));
            self.lasted(watch, now, lasted, what);
        }
    }

    /// The worker has found work after a search, and perhaps a sleep.
    pub(super) fn idled(&self, watch: &Watch, now: u64) {
        let lasted = now.saturating_sub(self.until.replace(now));
        self.lasted(watch, now, lasted, What::Idle);
        self.note_found(watch, now);
    }

    /// The worker has looked at the OS between polls.
    pub(super) fn looked_at_os(&self, watch: &Watch, before: u64, after: u64) {
        self.lasted(watch, after, after.saturating_sub(before), What::Os);
        self.note_found(watch, after);
    }

    fn note_found(&self, watch: &Watch, now: u64) {
        let dispatched = self.dispatched.take();
        if dispatched > 0 {
            let what = What::Dispatch(dispatched.try_into().unwrap_or(u32::MAX));
            self.note(watch, now, what);
        }
        if self.stole.take() {
            self.note(watch, now, What::Steal);
        }
    }
}
