//! The things that a task may wait for, and those that may wake it, as its notes hold them.

use super::id::Id;

/// The kind of thread or event that woke a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WokenBy {
    Io = 0,
    Timer = 1,
    Task = 2,
    Outside = 3,
}

impl WokenBy {
    pub(crate) const ALL: [Self; 4] = [Self::Io, Self::Timer, Self::Task, Self::Outside];
}

/// The thing that a task waits for, as it is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    Nothing,
    Unknown,
    Read(u32),
    Write(u32),
    /// In nanoseconds since the epoch.
    Timer(u64),
    /// The lower half of the task's id.
    Join(u32),
    /// The same, for a closure of the blocking pool.
    JoinBlocking(u32),
    /// The next of this many tasks of a `JoinSet`.
    JoinSet(u32),
    Event,
    Latch,
    Cancellation,
}

/// Returns the lower half of an id, which a task notes when it joins another.
pub(super) fn half(id: Id) -> u32 {
    id.number() as u32
}

/// The time of a wake-up, in units of 2⁶ ns: it wraps around after 4.5 minutes.
const WAKE_SHIFT: u32 = 6;
/// The same, in units of 2²⁰ ns: it wraps around after 52 days.
const COARSE_SHIFT: u32 = 20;
/// From two minutes on, the coarse time counts.
const LONG: u64 = 1 << 37;
/// How far a reader's clock may be behind, in coarse units: 18 minutes.
const BEHIND: u32 = 1 << 20;

/// A wake-up that is a sample: what woke the task, and when, in nanoseconds that wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Woken {
    pub(crate) by: WokenBy,
    /// The share of the samples among all such wake-ups, below 4. The observer decides what it means.
    pub(crate) level: u8,
    at: WakeTime,
}

/// The time of a wake-up, as it is noted: in fine units, and in coarse ones for long waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WakeTime {
    pub(super) fine: u32,
    pub(super) coarse: u32,
}

impl WakeTime {
    /// Takes nanoseconds since the epoch.
    pub(super) fn new(now: u64) -> Self {
        Self { fine: (now >> WAKE_SHIFT) as u32, coarse: (now >> COARSE_SHIFT) as u32 }
    }

    /// Returns the nanoseconds that have passed since; 0 if the reader's clock is behind.
    pub(super) fn until(self, now: u64) -> u64 {
        let now = Self::new(now);
        let coarse = now.coarse.wrapping_sub(self.coarse);
        let fine = u64::from(now.fine.wrapping_sub(self.fine)) << WAKE_SHIFT;
        let about = u64::from(coarse) << COARSE_SHIFT;
        if coarse > u32::MAX - BEHIND {
            0
        } else if about >= LONG {
            about
        } else if fine < 3 * LONG / 2 {
            fine
        } else {
            // Behind by less than a coarse unit.
            0
        }
    }
}

impl Woken {
    /// Returns the origin and the level in the lowest four bits.
    pub(super) fn pack(by: WokenBy, level: u8) -> u8 {
        (level % 4) << 2 | by as u8
    }

    /// Unpacks those bits, with the time; the higher bits don't matter.
    pub(super) fn unpack(bits: u8, at: WakeTime) -> Self {
        Self { by: WokenBy::ALL[usize::from(bits % 4)], level: (bits >> 2) % 4, at }
    }

    /// Returns the nanoseconds that have passed since.
    pub(crate) fn until(self, now: u64) -> u64 {
        self.at.until(now)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;

    use super::super::notes::{Before, Notes, PollMark, PollTime};
    use super::super::site::SiteId;
    use super::super::state::Listing;
    use super::*;

    const MINUTE: u64 = 60_000_000_000;

    fn notes() -> Notes {
        Notes::new(SiteId::of(Location::caller(), None), Listing::AtSpawn)
    }

    #[test]
    fn a_sampled_wake_up_survives_until_the_poll_and_no_longer() {
        let notes = notes();
        notes.set_woken(WokenBy::Timer, 3, 5_000_000_000);
        let before = notes.begin_poll(PollTime::new(5_000_100_000), PollMark::Timed);
        let Before::Woken(woken) = before else { panic!("{before:?}") };
        assert_eq!((woken.by, woken.level), (WokenBy::Timer, 3));
        assert!(woken.until(5_000_100_000).abs_diff(100_000) <= 64);
        notes.set_waits(Waits::Event);
        assert!(notes.is_timed() && notes.take_timed());
        assert_eq!(notes.waits(0), Waits::Event);
        let before = notes.begin_poll(PollTime::new(5_000_200_000), PollMark::Plain);
        assert_eq!(before, Before::Listed);
        assert_eq!((notes.waits(0), notes.polls()), (Waits::Unknown, 2));
    }

    /// The time of a wake-up wraps around after 4.5 minutes: a wait of five counted as half a minute.
    #[test]
    fn a_wait_of_more_than_four_minutes_is_no_short_one() {
        for start in [0, 3 * MINUTE + 1_234_567, 60 * 24 * 60 * MINUTE] {
            for waited in
                [0, 64, 999_936, 2 * MINUTE, 3 * MINUTE, 5 * MINUTE, 9 * MINUTE, 3_000 * MINUTE]
            {
                let notes = notes();
                notes.set_woken(WokenBy::Io, 0, start);
                let Before::Woken(woken) =
                    notes.begin_poll(PollTime::new(start + waited), PollMark::Plain)
                else {
                    panic!("no wake-up")
                };
                let off = woken.until(start + waited).abs_diff(waited);
                assert!(
                    off <= if waited < 2 * MINUTE { 64 } else { 2 << 20 },
                    "{waited}: off by {off} ns"
                );
                notes.set_queued(start);
                let off = notes.take_queued(start + waited).map(|it| it.abs_diff(waited));
                assert!(off.is_some_and(|off| off <= 2 << 20), "a closure, {waited}: {off:?}");
            }
        }
    }

    #[test]
    fn a_reader_whose_clock_is_behind_sees_no_wait() {
        for behind in [1, 100, 1_000_000, 2 * MINUTE] {
            assert!(
                WakeTime::new(10 * MINUTE).until(10 * MINUTE - behind) == 0,
                "{behind} ns behind"
            );
        }
    }
}
