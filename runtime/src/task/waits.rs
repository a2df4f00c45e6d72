//! What a task may wait for, and what may wake it: the words of its notes.

/// The kind of thread or event that woke a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WokenBy {
    Io = 0,
    Timer = 1,
    Task = 2,
    Foreign = 3,
}

impl WokenBy {
    pub(crate) const ALL: [Self; 4] = [Self::Io, Self::Timer, Self::Task, Self::Foreign];
}

/// What a task waits for, as it is noted.
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
    /// The same, of a closure of the blocking pool.
    JoinBlocking(u32),
    Event,
    Latch,
    Cancellation,
}

/// The time of a wake-up, in units of 2⁶ ns: it comes around after 4.5 minutes.
pub(super) const WAKE_SHIFT: u32 = 6;

/// A wake-up that is a sample: what woke the task, and when, in nanoseconds that come around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Woken {
    pub(crate) by: WokenBy,
    pub(super) at: u32,
}

impl Woken {
    /// Returns the nanoseconds that have passed since.
    pub(crate) fn until(self, now: u64) -> u64 {
        u64::from(((now >> WAKE_SHIFT) as u32).wrapping_sub(self.at)) << WAKE_SHIFT
    }
}
