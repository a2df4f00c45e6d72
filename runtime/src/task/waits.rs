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
