//! The events of the flight recorder.

use super::ring::Words;
use crate::task::{SiteId, WokenBy};

/// Something that a worker did, and when: in nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// When it was over.
    pub(super) at: u64,
    /// How long it took; 0 for what has no length.
    pub(super) lasted: u64,
    pub(super) what: What,
}

/// What a worker did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It polled a task.
    Poll { site: SiteId, task: u64 },
    /// It polled this many tasks, none of them for long.
    Polls(u32),
    /// It slept and looked for work.
    Idle,
    /// It took tasks from another worker.
    Steal,
    /// It took events from the OS and fired timers between polls.
    Os,
    /// It handed out this many events and timers.
    Dispatch(u32),
    /// It fired timers.
    Timers,
    /// It computed.
    Compute,
    /// It woke a task.
    Wake { by: WokenBy, task: u64 },
    /// Its thread moved in: as a worker, or as a spare for one that is stuck.
    Start,
    /// Its thread left.
    End,
}

const TIME_BITS: u32 = 56;
const LASTED_BITS: u32 = 40;

impl Event {
    pub(super) fn pack(self) -> Words {
        let (kind, small, large) = match self.what {
            What::Poll { site, task } => (0, site.index() as u64, task),
            What::Polls(polls) => (1, 0, polls.into()),
            What::Idle => (2, 0, 0),
            What::Steal => (3, 0, 0),
            What::Os => (4, 0, 0),
            What::Dispatch(events) => (5, 0, events.into()),
            What::Timers => (6, 0, 0),
            What::Compute => (7, 0, 0),
            What::Wake { by, task } => (8, by as u64, task),
            What::Start => (9, 0, 0),
            What::End => (10, 0, 0),
        };
        let lasted = self.lasted.min((1 << LASTED_BITS) - 1);
        [(self.at % (1 << TIME_BITS)) | (kind << TIME_BITS), lasted | (small << LASTED_BITS), large]
    }

    pub(super) fn unpack([first, second, large]: Words) -> Self {
        let small = (second >> LASTED_BITS) as usize;
        let what = match first >> TIME_BITS {
            0 => What::Poll { site: SiteId::from_index(small), task: large },
            1 => What::Polls(large as u32),
            2 => What::Idle,
            3 => What::Steal,
            4 => What::Os,
            5 => What::Dispatch(large as u32),
            6 => What::Timers,
            7 => What::Compute,
            8 => What::Wake { by: WokenBy::ALL[small % WokenBy::ALL.len()], task: large },
            9 => What::Start,
            _ => What::End,
        };
        let (at, lasted) = (first % (1 << TIME_BITS), second % (1 << LASTED_BITS));
        Self { at, lasted, what }
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
            What::Idle,
            What::Steal,
            What::Os,
            What::Dispatch(7),
            What::Timers,
            What::Compute,
            What::Wake { by: WokenBy::Foreign, task: 3 },
            What::Start,
            What::End,
        ];
        for what in all {
            let event = Event { at: 123_456_789_012_345, lasted: 987_654_321, what };
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
