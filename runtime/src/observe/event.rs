//! The events of the flight recorder.

use super::ring::Words;
use crate::task::{SiteId, WokenBy};

/// Something that a worker did, and when: in nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// When it was over.
    pub(super) at: u64,
    /// How long it took; 0 for an event without a length.
    pub(super) lasted: u64,
    pub(super) what: What,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It polled a task.
    Poll { site: SiteId, task: u64 },
    /// It polled this many tasks, none of them for long.
    Polls(u32),
    /// It looked for work, and slept in the meantime unless it found some before. The time of the sleep is recorded if
    /// each poll is.
    Idle(Parked),
    /// It took tasks from the worker with this index, or a job.
    Steal(u32),
    /// It took events from the OS and fired timers between polls.
    Os,
    /// It handed out this many events and timers.
    Dispatch(u32),
    /// It fired timers.
    Timers,
    /// It computed.
    Compute,
    /// It woke a task. `waker` is the id of the task in whose poll it did so, of which 40 bits are known, or 0 if it
    /// was in none.
    Wake { by: WokenBy, task: u64, waker: u64 },
    /// Its thread moved in: as a worker, or as a spare for one that is stuck.
    Start,
    /// Its thread left.
    End,
}

/// The time that a worker slept within a search: the nanoseconds from the beginning of the search until it slept, and
/// from when it last woke up to the end. They stop at four seconds. `NONE` if it did not sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parked {
    pub(super) after: u32,
    pub(super) before: u32,
}

impl Parked {
    pub(super) const NONE: Self = Self { after: u32::MAX, before: u32::MAX };
}

const TIME_BITS: u32 = 56;
const LASTED_BITS: u32 = 40;

impl Event {
    pub(super) fn pack(self) -> Words {
        let (kind, small, large) = match self.what {
            What::Poll { site, task } => (0, site.index() as u64, task),
            What::Polls(polls) => (1, 0, polls.into()),
            What::Idle(Parked { after, before }) => {
                (2, 0, (u64::from(after) << 32) | u64::from(before))
            }
            What::Steal(victim) => (3, 0, victim.into()),
            What::Os => (4, 0, 0),
            What::Dispatch(events) => (5, 0, events.into()),
            What::Timers => (6, 0, 0),
            What::Compute => (7, 0, 0),
            What::Wake { by, task, .. } => (8, by as u64, task),
            What::Start => (9, 0, 0),
            What::End => (10, 0, 0),
        };
        let lasted = match self.what {
            // It has no length, so there is room for something else.
            What::Wake { waker, .. } => waker % (1 << LASTED_BITS),
            _ => self.lasted.min((1 << LASTED_BITS) - 1),
        };
        [(self.at % (1 << TIME_BITS)) | (kind << TIME_BITS), lasted | (small << LASTED_BITS), large]
    }

    pub(super) fn unpack([first, second, large]: Words) -> Self {
        let small = (second >> LASTED_BITS) as usize;
        let what = match first >> TIME_BITS {
            0 => What::Poll { site: SiteId::from_index(small), task: large },
            1 => What::Polls(large as u32),
            2 => What::Idle(Parked { after: (large >> 32) as u32, before: large as u32 }),
            3 => What::Steal(large as u32),
            4 => What::Os,
            5 => What::Dispatch(large as u32),
            6 => What::Timers,
            7 => What::Compute,
            8 => {
                let by = WokenBy::ALL[small % WokenBy::ALL.len()];
                What::Wake { by, task: large, waker: second % (1 << LASTED_BITS) }
            }
            9 => What::Start,
            _ => What::End,
        };
        let lasted = match what {
            What::Wake { .. } => 0,
            _ => second % (1 << LASTED_BITS),
        };
        Self { at: first % (1 << TIME_BITS), lasted, what }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let site = SiteId::of(std::panic::Location::caller(), None);
        let all = [
            What::Poll { site, task: u64::MAX },
            What::Polls(u32::MAX),
            What::Idle(Parked::NONE),
            What::Idle(Parked { after: 5, before: 700 }),
            What::Steal(1_023),
            What::Os,
            What::Dispatch(7),
            What::Timers,
            What::Compute,
            What::Wake { by: WokenBy::Outside, task: 3, waker: 0 },
            What::Wake { by: WokenBy::Task, task: u64::MAX, waker: (1 << 40) - 1 },
            What::Start,
            What::End,
        ];
        for what in all {
            let lasted = if matches!(what, What::Wake { .. }) { 0 } else { 987_654_321 };
            let event = Event { at: 123_456_789_012_345, lasted, what };
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
