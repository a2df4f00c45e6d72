//! Writes a worker's flight record.
//!
//! Short polls are recorded together, when one is timed anyway and a millisecond has passed, or the worker runs out of
//! work. Recording adds no readings of the clock, unless each poll and wake-up is to be recorded.

use std::cell::Cell;
use std::sync::Arc;

use windlass_timer::in_nanos;

use super::event::{Event, Parked, What};
use super::observed::Observed;
use super::ring::Ring;
use crate::primitives::plain::{AtomicBool, Ordering};

use super::policy::{RECORDED_POLL, RECORDED_TOGETHER};

/// The writer's half of a flight record.
pub(super) struct Flight {
    /// Each poll and each wake-up is recorded.
    each_poll: Cell<bool>,
    /// Whether they are to be recorded from now on; `None` if nothing is.
    switch: Option<Arc<AtomicBool>>,
    /// What was recorded last ended at this time, after this many polls.
    until: Cell<u64>,
    polls: Cell<u64>,
    /// Events and steals that are recorded when the time is known.
    dispatched: Cell<usize>,
    /// The worker that was stolen from.
    stole: Cell<Option<u32>>,
    /// When the worker first fell asleep in this search, and when it last woke up.
    slept: Cell<Option<(u64, u64)>>,
}

impl Flight {
    /// Creates a record. `switch` says whether each poll is recorded; it is `None` if nothing is observed.
    pub(super) fn new(switch: Option<Arc<AtomicBool>>, now: u64) -> Self {
        let flight = Self {
            each_poll: Cell::new(false),
            switch,
            until: Cell::new(now),
            polls: Cell::new(0),
            dispatched: Cell::new(0),
            stole: Cell::new(None),
            slept: Cell::new(None),
        };
        flight.look_at_switch();
        flight
    }

    /// Reads from the switch whether each poll is to be recorded. Returns true if so.
    pub(super) fn look_at_switch(&self) -> bool {
        let switch = self.switch.as_ref();
        let is_on = switch.is_some_and(|switch| switch.load(Ordering::Relaxed));
        self.each_poll.set(is_on);
        is_on
    }

    /// Returns true if each poll and each wake-up is recorded.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.each_poll.get()
    }

    fn write(&self, observed: &Observed, event: Event) {
        let is_full = self.is_full();
        let ring = if is_full { &observed.full_ring } else { &observed.ring };
        ring.get_or_init(|| Ring::new(is_full)).write(event.pack());
    }

    /// Records that something happened at this time.
    pub(super) fn note(&self, observed: &Observed, at: u64, what: What) {
        self.write(observed, Event { at, lasted: 0, what });
    }

    /// Records something that has lasted until now.
    pub(super) fn lasted(&self, observed: &Observed, at: u64, lasted: u64, what: What) {
        self.write(observed, Event { at, lasted, what });
    }

    /// Notes how many events the worker has handed out.
    pub(super) fn dispatched(&self, events: usize) {
        self.dispatched.set(self.dispatched.get() + events);
    }

    /// Notes that the worker has taken tasks from another.
    pub(super) fn stole(&self, victim: usize) {
        self.stole.set(Some(victim as u32));
    }

    /// Notes that the worker has slept, between these times, while it looked for work.
    pub(super) fn slept(&self, from: u64, to: u64) {
        let (first, _) = self.slept.get().unwrap_or((from, to));
        self.slept.set(Some((first, to)));
    }

    /// Records a poll that was timed, the last of this many.
    pub(super) fn timed(&self, observed: &Observed, now: u64, time: u64, poll: What, polls: u64) {
        if self.is_full() || time >= in_nanos(RECORDED_POLL) {
            self.polled(observed, now.saturating_sub(time), polls.saturating_sub(1));
            self.lasted(observed, now, time, poll);
            self.until.set(now);
            self.polls.set(polls);
        } else if now.saturating_sub(self.until.get()) >= in_nanos(RECORDED_TOGETHER) {
            self.polled(observed, now, polls);
        }
    }

    /// Records, together, the polls that have ended since the last record. `polls` counts all that have ended by now.
    pub(super) fn polled(&self, observed: &Observed, now: u64, polls: u64) {
        let done = polls.saturating_sub(self.polls.replace(polls));
        let lasted = now.saturating_sub(self.until.replace(now));
        if done > 0 && lasted > 0 && !self.is_full() {
            let what = What::Polls(done.try_into().unwrap_or(u32::MAX));
            self.lasted(observed, now, lasted, what);
        }
    }

    /// Records that the worker has found work after a search, and perhaps a sleep.
    pub(super) fn idled(&self, observed: &Observed, now: u64) {
        let since = self.until.replace(now);
        let parked = if self.is_full() { self.parked(since, now) } else { Parked::NONE };
        self.lasted(observed, now, now.saturating_sub(since), What::Idle(parked));
        self.note_found(observed, now);
    }

    /// Returns when the worker slept in a search of this time.
    #[cold]
    fn parked(&self, since: u64, now: u64) -> Parked {
        let near = |time: u64| u32::try_from(time).unwrap_or(u32::MAX - 1);
        self.slept.take().map_or(Parked::NONE, |(from, to)| Parked {
            after: near(from.saturating_sub(since)),
            before: near(now.saturating_sub(to)),
        })
    }

    /// Records that the worker has looked at the OS between polls.
    pub(super) fn looked_at_os(&self, observed: &Observed, before: u64, after: u64) {
        self.lasted(observed, after, after.saturating_sub(before), What::Os);
        self.note_found(observed, after);
    }

    fn note_found(&self, observed: &Observed, now: u64) {
        let dispatched = self.dispatched.take();
        if dispatched > 0 {
            let what = What::Dispatch(dispatched.try_into().unwrap_or(u32::MAX));
            self.note(observed, now, what);
        }
        if let Some(victim) = self.stole.take() {
            self.note(observed, now, What::Steal(victim));
        }
    }
}
