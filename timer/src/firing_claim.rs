//! The firing order: one thread at a time fires a shard, so that the shard's timers are woken in order.
//!
//! Due timers are taken out under the shard's lock, in batches, and woken after the lock is released. If two threads
//! did that at once, a later batch could be woken before an earlier one. So a thread *claims* the shard when it takes
//! out its first batch, and releases the claim, under the lock, when everything that it took out has been woken. A
//! thread that finds the shard claimed goes away.
//!
//! No timer is forgotten. While the shard is claimed, it publishes a time to look again instead of a deadline, so that
//! other threads don't look in vain all the time; timers that are armed meanwhile publish their deadlines as usual. The
//! thread that releases the claim looks at the wheel under the same lock and publishes the next deadline. If nobody has
//! promised to look in time, it wakes the timekeeper, like a thread that arms a timer (`timekeeper.rs`).
//!
//! A waker that does not belong to a task of this process's runtimes may block, so it ends its batch: all timers behind
//! it are still in the wheel. A thread that looks more than [`CLAIM_EXPIRY`] later takes over the claim. That time is
//! real even if the timers' time is virtual. When the first thread comes back, it sees by the claim's number that the
//! claim is no longer its own. The price is that if the OS keeps a thread from running for that long, its batch is
//! woken after the timers behind it. A thread that the runtime depends on fires only the timers of tasks, and has
//! another thread fire the others ([`Timers::fire_own`](crate::Timers::fire_own)).

use crate::nanos::in_nanos;
use crate::policy::CLAIM_EXPIRY;

/// A shard's claim.
#[derive(Debug, Default)]
pub(crate) struct FiringClaim {
    /// How often the shard was claimed. This is the number of the current claim.
    number: u64,
    /// The time from which on the claim may be taken over, or `None` if the shard is not claimed.
    expires: Option<u64>,
}

impl FiringClaim {
    /// Claims the shard and returns the claim's number, or `None` if another thread has claimed it.
    pub(crate) fn acquire(&mut self, now: u64) -> Option<u64> {
        if self.expires.is_some_and(|expires| now < expires) {
            return None;
        }
        self.number += 1;
        self.renew(now);
        Some(self.number)
    }

    /// Returns true if the claim with this number is still the current one.
    pub(crate) fn is_current(&self, number: u64) -> bool {
        self.is_claimed() && self.number == number
    }

    /// Returns true if a thread has claimed the shard.
    pub(crate) fn is_claimed(&self) -> bool {
        self.expires.is_some()
    }

    /// Restarts the time until the claim expires, because its thread has taken out another batch.
    pub(crate) fn renew(&mut self, now: u64) {
        self.expires = Some(now.saturating_add(in_nanos(CLAIM_EXPIRY)));
    }

    pub(crate) fn release(&mut self) {
        self.expires = None;
    }
}
