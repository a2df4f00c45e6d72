//! Who fires: one thread at a time for each shard, so that what a shard fires is woken in its order.
//!
//! What is due is taken out under the shard's lock, in portions, and woken after it. If two threads did that at
//! once, a later portion could be woken before an earlier one. So a thread takes the *turn* together with its
//! first portion, and gives it back under the lock when all that it took out has been woken. Who finds it
//! taken leaves.
//!
//! Nothing is forgotten. While the turn is taken, the shard publishes no deadline but a time to look again, so
//! that nobody looks in vain all the time; what is armed meanwhile is published as ever. Who gives the turn back
//! looks at the wheel under that same lock, publishes what it finds, and rings like one who arms a timer if
//! nobody has promised to look in time (`timekeeper.rs`).
//!
//! A waker that is not of our own tasks may block, so it is the last of its portion: all others are still in the wheel. A
//! thread that looks more than [`PATIENCE`] later takes the turn over; that time is a real one also where the
//! timers' is virtual. When the first comes back, it sees by its number that the turn is not its own any more. The
//! price: if the OS keeps it from running for that long, what it has in its hands is woken after what comes behind
//! it. What this does not help against is a waker that blocks the poller's own thread while all workers are parked:
//! then nobody looks.

// Models see it.
#![cfg_attr(not(loom), allow(unreachable_pub))]

/// How long a portion may take to be woken before another thread goes on without it, in nanoseconds.
pub const PATIENCE: u64 = 100_000_000;
/// When to look again at a shard whose turn is taken, in nanoseconds from then.
pub(crate) const AGAIN: u64 = 1_000_000;

/// A shard's turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// How often it was taken: its number, for whoever has it.
    number: u64,
    /// From then on it may be taken over; `None` if nobody has it.
    until: Option<u64>,
}

impl Turn {
    /// Takes the turn; gives its number, or `None` if another thread has it.
    pub(crate) fn take(&mut self, now: u64) -> Option<u64> {
        if self.until.is_some_and(|until| now < until) {
            return None;
        }
        self.number += 1;
        self.extend(now);
        Some(self.number)
    }

    /// True if it is still the turn of that number.
    pub(crate) fn is(&self, number: u64) -> bool {
        self.is_taken() && self.number == number
    }

    /// True if a thread has it.
    pub(crate) fn is_taken(&self) -> bool {
        self.until.is_some()
    }

    /// Another portion was taken out.
    pub(crate) fn extend(&mut self, now: u64) {
        self.until = Some(now.saturating_add(PATIENCE));
    }

    pub(crate) fn give_back(&mut self) {
        self.until = None;
    }
}
