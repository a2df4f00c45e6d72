//! A task's notes about itself, in its header: its site, its age, its polls, and what it waits for.
//!
//! 24 bytes, written by the thread that has the task's `Runnable` or runs it, and read by any thread with a reference.
//! Nothing else is published with them, so they order nothing, and a reader may see an old value beside a new one.
//!
//! Times are kept in coarse units, so that they fit: see the constants. `what` is read together with `kind`. It is the
//! descriptor, the deadline or the id of what the task waits for. Once the task has been woken, it is the time of the
//! wake-up, if that is a sample.

use super::site::SiteId;
use super::state::Listing;
use super::waits::{Waits, WakeTime, Woken, WokenBy};
use super::watch_polls::WatchPolls;
use crate::primitives::plain::{AtomicU8, AtomicU32, Ordering};

/// The time of birth is in units of 2¹⁶ ns, with 40 bits: it wraps around after two years.
const BIRTH_SHIFT: u32 = 16;
/// The start of the last poll, in units of 2²⁰ ns: it wraps around after 52 days.
const POLL_SHIFT: u32 = 20;
/// The time in polls, in units of 2¹⁰ ns: it stops at 73 minutes.
const BUSY_SHIFT: u32 = 10;
/// A deadline, in units of 2¹⁶ ns: up to three days from the start of the last poll.
const DEADLINE_SHIFT: u32 = 16;
/// The most by which a reader's clock may be behind, after it was set back along with the machine, in ns: 18 minutes.
const BEHIND: u64 = 1 << 40;

/// Set from the beginning of a poll that is timed until its end.
const TIMED: u8 = 1 << 7;
/// Set for good in a closure of the blocking pool.
const BLOCKING: u8 = 1 << 6;
/// Set from a wake-up that is a sample until the next poll. The remaining bits are then its origin and level.
const WOKEN: u8 = 1 << 5;
/// What is left is the kind of wait, or of wake-up.
const KIND: u8 = WOKEN - 1;
/// The same as `NOTHING`, in a task that is not listed before it waits. A separate bit, so that one check covers it and
/// `WOKEN`.
const NOTHING_UNLISTED: u8 = 1 << 4;

const NOTHING: u8 = 0;
const UNKNOWN: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;
const TIMER: u8 = 4;
const JOIN: u8 = 5;
const JOIN_BLOCKING: u8 = 6;
const EVENT: u8 = 7;
const LATCH: u8 = 8;
const CANCELLATION: u8 = 9;
const JOIN_SET: u8 = 10;

/// The notes of a task before a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// It is in no list yet, and this is its first poll.
    Unlisted,
    Listed,
    /// It is listed, and the wake-up that has led to the poll is a sample.
    Woken(Woken),
}

/// The time at which a poll begins, as precisely as a task notes it.
#[derive(Clone, Copy)]
pub(crate) struct PollTime(u32);

impl PollTime {
    /// Takes nanoseconds since the epoch.
    pub(crate) fn new(now: u64) -> Self {
        Self((now >> POLL_SHIFT) as u32)
    }
}

/// The mark that a poll gets when it begins.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PollMark {
    Plain = UNKNOWN,
    /// The poll's end has to be reported to the scheduler.
    Timed = UNKNOWN | TIMED,
}

/// The notes of one task; see the head of this file.
pub(crate) struct Notes {
    site: SiteId,
    kind: AtomicU8,
    birth_high: AtomicU8,
    birth: AtomicU32,
    last_poll: AtomicU32,
    polls: AtomicU32,
    busy: AtomicU32,
    what: AtomicU32,
}

impl Notes {
    #[inline]
    pub(crate) fn new(site: SiteId, listing: Listing) -> Self {
        let kind = if listing == Listing::Late { NOTHING_UNLISTED } else { NOTHING };
        Self {
            site,
            kind: AtomicU8::new(kind),
            birth_high: AtomicU8::new(0),
            birth: AtomicU32::new(0),
            last_poll: AtomicU32::new(0),
            polls: AtomicU32::new(0),
            busy: AtomicU32::new(0),
            what: AtomicU32::new(0),
        }
    }

    #[inline]
    pub(crate) fn site(&self) -> SiteId {
        self.site
    }

    /// Notes that the task is being spawned at this time.
    #[inline]
    pub(crate) fn spawned(&self, now: u64) {
        let birth = now >> BIRTH_SHIFT;
        self.birth.store(birth as u32, Ordering::Relaxed);
        self.birth_high.store((birth >> 32) as u8, Ordering::Relaxed);
    }

    /// Notes that the task is listed before its first poll. Its age counts from now.
    pub(crate) fn listed(&self, now: u64) {
        self.kind.store(NOTHING, Ordering::Relaxed);
        self.spawned(now);
    }

    /// Notes that the task is a closure of the blocking pool.
    pub(crate) fn set_blocking(&self) {
        self.kind.store(BLOCKING, Ordering::Relaxed);
    }

    /// Returns true for a closure of the blocking pool.
    pub(crate) fn is_blocking(&self) -> bool {
        self.kind.load(Ordering::Relaxed) & BLOCKING != 0
    }

    /// Notes that a poll begins at about this time. Returns the notes from before it.
    pub(crate) fn begin_poll(&self, now: PollTime, mark: PollMark) -> Before {
        let before = self.kind.load(Ordering::Relaxed);
        let woken = (before & WOKEN != 0).then(|| Woken::unpack(before, self.wake_time()));
        self.begin(now, mark);
        if let Some(woken) = woken {
            return Before::Woken(woken);
        }
        if before == NOTHING_UNLISTED { Before::Unlisted } else { Before::Listed }
    }

    /// Does the same as [`begin_poll`](Self::begin_poll) for a poll that is not marked. Returns whether the task is
    /// listed. If the wake-up that has led to the poll is a sample, notes nothing and returns `None`.
    #[inline(always)]
    pub(crate) fn begin_plain_poll(&self, now: PollTime) -> Option<bool> {
        let before = self.kind.load(Ordering::Relaxed);
        // One check for most polls. The stores are in both branches, so that the compiler does not make two checks of
        // it.
        if before & (WOKEN | NOTHING_UNLISTED) == 0 {
            self.begin(now, PollMark::Plain);
            return Some(true);
        }
        if before & WOKEN != 0 {
            return None;
        }
        self.begin(now, PollMark::Plain);
        Some(false)
    }

    #[inline(always)]
    fn begin(&self, now: PollTime, mark: PollMark) {
        self.last_poll.store(now.0, Ordering::Relaxed);
        self.polls.store(self.polls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.kind.store(mark as u8, Ordering::Relaxed);
    }

    /// Returns true if the end of this poll has to be reported to the scheduler.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.kind.load(Ordering::Relaxed) & TIMED != 0 || WatchPolls::is_on()
    }

    /// Notes that the poll that is under way is to be timed.
    pub(crate) fn set_timed(&self) {
        self.kind.store(self.kind.load(Ordering::Relaxed) | TIMED, Ordering::Relaxed);
    }

    /// Notes that the poll is over. Returns true if it was to be timed.
    pub(crate) fn take_timed(&self) -> bool {
        let kind = self.kind.load(Ordering::Relaxed);
        self.kind.store(kind & !TIMED, Ordering::Relaxed);
        kind & TIMED != 0
    }

    /// Adds nanoseconds to the time in polls.
    pub(crate) fn add_busy(&self, time: u64) {
        let units = u32::try_from(time >> BUSY_SHIFT).unwrap_or(u32::MAX);
        let busy = self.busy.load(Ordering::Relaxed).saturating_add(units);
        self.busy.store(busy, Ordering::Relaxed);
    }

    /// Notes that the task was woken, as a sample of this level. Called by the thread that owns its `Runnable` since.
    pub(crate) fn set_woken(&self, by: WokenBy, level: u8, now: u64) {
        self.set_wake_time(WakeTime::new(now));
        self.kind.store(WOKEN | Woken::pack(by, level), Ordering::Relaxed);
    }

    /// Notes when a closure of the blocking pool was queued.
    pub(crate) fn set_queued(&self, now: u64) {
        self.set_wake_time(WakeTime::new(now));
        self.kind.store(BLOCKING | WOKEN, Ordering::Relaxed);
    }

    /// Stores the time of a wake-up in the place of the last poll's start, which nobody reads until the poll that
    /// follows.
    fn set_wake_time(&self, WakeTime { fine, coarse }: WakeTime) {
        self.what.store(fine, Ordering::Relaxed);
        self.last_poll.store(coarse, Ordering::Relaxed);
    }

    fn wake_time(&self) -> WakeTime {
        let [fine, coarse] = [&self.what, &self.last_poll].map(|it| it.load(Ordering::Relaxed));
        WakeTime { fine, coarse }
    }

    /// Returns how long a closure of the blocking pool has waited, if that was noted.
    pub(crate) fn take_queued(&self, now: u64) -> Option<u64> {
        let before = self.kind.load(Ordering::Relaxed);
        self.kind.store(BLOCKING, Ordering::Relaxed);
        (before & WOKEN != 0).then(|| self.wake_time().until(now))
    }

    /// Notes what the task waits for, in a poll of it.
    #[inline]
    pub(crate) fn set_waits(&self, waits: Waits) {
        let (kind, what) = match waits {
            Waits::Nothing => (NOTHING, 0),
            Waits::Unknown => (UNKNOWN, 0),
            Waits::Read(descriptor) => (READ, descriptor),
            Waits::Write(descriptor) => (WRITE, descriptor),
            Waits::Timer(deadline) => (TIMER, self.pack_deadline(deadline)),
            Waits::Join(id) => (JOIN, id),
            Waits::JoinBlocking(id) => (JOIN_BLOCKING, id),
            Waits::JoinSet(tasks) => (JOIN_SET, tasks),
            Waits::Event => (EVENT, 0),
            Waits::Latch => (LATCH, 0),
            Waits::Cancellation => (CANCELLATION, 0),
        };
        let before = self.kind.load(Ordering::Relaxed);
        // A time-out or a cancellation is named only if the task waits for nothing else.
        if matches!(kind, TIMER | CANCELLATION) && before & KIND != UNKNOWN {
            return;
        }
        self.what.store(what, Ordering::Relaxed);
        self.kind.store(before & (TIMED | BLOCKING) | kind, Ordering::Relaxed);
    }

    /// Notes that a closure of the blocking pool begins at about this time.
    pub(crate) fn begin_closure(&self, now: PollTime) {
        self.last_poll.store(now.0, Ordering::Relaxed);
        self.polls.store(1, Ordering::Relaxed);
    }

    /// Packs a deadline as a time after the start of the poll, which the reader knows.
    fn pack_deadline(&self, deadline: u64) -> u32 {
        let start = u64::from(self.last_poll.load(Ordering::Relaxed));
        let now = start << (POLL_SHIFT - DEADLINE_SHIFT);
        // The start of the poll has lost its highest bits, so the difference is taken without them. It is right if the
        // deadline is near.
        let all = 1 << (32 + POLL_SHIFT - DEADLINE_SHIFT);
        let ahead = ((deadline >> DEADLINE_SHIFT) % all + all - now) % all;
        if deadline == u64::MAX { u32::MAX } else { u32::try_from(ahead).unwrap_or(u32::MAX) }
    }

    /// Returns what the task waits for. Meaningful for an idle task.
    pub(crate) fn waits(&self, now: u64) -> Waits {
        let what = self.what.load(Ordering::Relaxed);
        match self.kind.load(Ordering::Relaxed) & (WOKEN | KIND) {
            READ => Waits::Read(what),
            WRITE => Waits::Write(what),
            TIMER => {
                let start = now.saturating_sub(self.since_poll(now)) >> POLL_SHIFT << POLL_SHIFT;
                Waits::Timer(start.saturating_add(u64::from(what) << DEADLINE_SHIFT))
            }
            JOIN => Waits::Join(what),
            JOIN_BLOCKING => Waits::JoinBlocking(what),
            JOIN_SET => Waits::JoinSet(what),
            EVENT => Waits::Event,
            LATCH => Waits::Latch,
            CANCELLATION => Waits::Cancellation,
            UNKNOWN => Waits::Unknown,
            _ => Waits::Nothing,
        }
    }

    /// Returns the nanoseconds since the task was spawned.
    pub(crate) fn age(&self, now: u64) -> u64 {
        let high = u64::from(self.birth_high.load(Ordering::Relaxed));
        let birth = high << 32 | u64::from(self.birth.load(Ordering::Relaxed));
        let age = (now >> BIRTH_SHIFT).wrapping_sub(birth) % (1 << 40);
        if age > (1 << 40) - (BEHIND >> BIRTH_SHIFT) { 0 } else { age << BIRTH_SHIFT }
    }

    /// Returns the nanoseconds since the last poll began.
    pub(crate) fn since_poll(&self, now: u64) -> u64 {
        let since =
            ((now >> POLL_SHIFT) as u32).wrapping_sub(self.last_poll.load(Ordering::Relaxed));
        if since > u32::MAX - (BEHIND >> POLL_SHIFT) as u32 {
            0
        } else {
            u64::from(since) << POLL_SHIFT
        }
    }

    /// Returns the number of times that the task was polled.
    pub(crate) fn polls(&self) -> u32 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Returns the nanoseconds spent in its polls.
    pub(crate) fn busy(&self) -> u64 {
        u64::from(self.busy.load(Ordering::Relaxed)) << BUSY_SHIFT
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;

    use super::*;

    const MINUTE: u64 = 60_000_000_000;

    fn notes() -> Notes {
        Notes::new(SiteId::of(Location::caller(), None), Listing::AtSpawn)
    }

    #[test]
    fn notes_are_three_words() {
        assert_eq!(size_of::<Notes>(), 24);
    }

    /// Without the notes, a task would still have the place where it was spawned, which a shutdown's report needs.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn what_is_noted_takes_16_bytes_more_than_a_task_would_without() {
        let without = size_of::<&'static Location<'static>>();
        assert!(size_of::<Notes>() - without <= 16, "{} bytes more", size_of::<Notes>() - without);
        let words = size_of::<super::super::header::Header>() / size_of::<usize>();
        // State, functions, id; the notes; the joiner's waker; the neighbours in the list.
        assert_eq!(words, 3 + 3 + 2 + 2, "nothing else came along");
    }

    #[test]
    fn a_deadline_is_known_within_a_tenth_of_a_millisecond_and_far_ones_are_far() {
        let notes = notes();
        for start in [0u64, 5 * MINUTE + 3, 70 * 24 * 60 * MINUTE + 12_345] {
            for ahead in [0, 1_000_000, MINUTE, 70 * 60 * MINUTE] {
                let _ = notes.begin_poll(PollTime::new(start), PollMark::Plain);
                notes.set_waits(Waits::Timer(start + ahead));
                let Waits::Timer(deadline) = notes.waits(start + 7_000_000) else { panic!() };
                let off = deadline.abs_diff(start + ahead);
                assert!(off < 100_000, "{start} + {ahead}: off by {off} ns");
            }
            let _ = notes.begin_poll(PollTime::new(start), PollMark::Plain);
            notes.set_waits(Waits::Timer(u64::MAX));
            let Waits::Timer(deadline) = notes.waits(start) else { panic!() };
            assert!(deadline > start + 70 * 60 * MINUTE);
        }
    }

    /// A task was two years old.
    #[test]
    fn a_reader_whose_clock_is_behind_sees_nothing_that_is_old() {
        let notes = notes();
        notes.spawned(10 * MINUTE);
        let _ = notes.begin_poll(PollTime::new(10 * MINUTE), PollMark::Plain);
        notes.set_waits(Waits::Timer(11 * MINUTE));
        for behind in [1, 1_000_000, MINUTE] {
            let now = 10 * MINUTE - behind;
            assert_eq!(notes.age(now), 0, "{behind} ns behind");
            assert_eq!(notes.since_poll(now), 0, "{behind} ns behind");
            assert!(matches!(notes.waits(now), Waits::Timer(_)));
        }
    }

    #[test]
    fn ages_and_busy_times_do_not_wrap_in_a_year() {
        let notes = notes();
        notes.spawned(1_000 * MINUTE);
        let year = 365 * 24 * 60 * MINUTE;
        assert!(notes.age(1_000 * MINUTE + year).abs_diff(year) < 100_000);
        notes.add_busy(u64::MAX);
        notes.add_busy(MINUTE);
        assert!(notes.busy() > 73 * MINUTE, "it stops");
    }
}
