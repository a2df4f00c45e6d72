//! The state word of a task: seven flags and the reference count in one atomic.
//!
//! Every transition is one method that returns what the caller must do next, so that no caller ever looks at a bit. A
//! wake-up is one read-modify-write, the end of a poll another; the start of a poll is only a load, unless the task was
//! woken again while it was queued.
//!
//! ```text
//!               notify              start             complete
//!      idle --------------> SCHEDULED ......> (polled) ---------> COMPLETE
//!        ^                   ^   in a queue      |  |
//!        |                   +---- end_poll -----+  |   (NOTIFIED while it was polled)
//!        +------------------------ end_poll --------+   (not NOTIFIED)
//! ```
//!
//! # Who keeps the task alive
//!
//! The count has one reference for the owner, given up after COMPLETE, one for the `JoinHandle`, and
//! one for each waker and `AbortHandle`. A ready queue holds none: the holder of the one
//! [`Runnable`](super::Runnable) of a task knows that the task is not COMPLETE, and until COMPLETE
//! the owner's reference stands.
//!
//! Besides its own reference, the owner holds [`LENDABLE`] more. The runner lends them to the wakers that a poll clones
//! from the task's own, so that such a clone counts nothing. The end of the poll, which has to write the word anyway,
//! accounts for what was lent.
//!
//! # Who knows the task
//!
//! An idle task is known to its owner's list, because nothing else can be relied on to know it. A SCHEDULED task is
//! known to its queue or its runner, so it need not be in the list before it is idle for the first time: UNLISTED means
//! that it is not. Many tasks end in their first poll and are never listed.

use crate::primitives::{AtomicUsize, Ordering};

/// Set from the wake-up of an idle task until a poll of it ends without a further one: the task's one
/// `Runnable` is in a queue or with its runner. The thread that sets it owns the `Runnable` and must put it
/// into a queue. Can't be set together with COMPLETE.
const SCHEDULED: usize = 1 << 0;
/// Set when the output (or the error) is stored and the future is gone. Never cleared.
const COMPLETE: usize = 1 << 1;
/// Set by a wake-up that finds SCHEDULED set: the next poll to *begin* covers it. Cleared only by the runner, before
/// that poll. Means nothing once COMPLETE is set.
const NOTIFIED: usize = 1 << 2;
/// Set by `abort` and by shutdown: the next start drops the future instead of polling it.
const CANCELLED: usize = 1 << 3;
/// Set while the `JoinHandle` lives. Cleared by its drop, before COMPLETE; if it is still set
/// at COMPLETE, the output belongs to the handle.
const JOIN_INTEREST: usize = 1 << 4;
/// Set while the joiner's waker in the header belongs to the task: at COMPLETE the runner takes
/// it and wakes it. While it is clear, the waker's place belongs to the `JoinHandle`. Can't be
/// set or cleared any more once COMPLETE is set.
const JOIN_WAKER: usize = 1 << 5;
/// Set from the spawn of a task that is not bound to its owner's list yet, until it is listed while in a queue, or
/// until the end of its first poll. Cleared only by the holder of the `Runnable` or the runner; can't be set while the
/// task is idle.
const UNLISTED: usize = 1 << 6;
/// One reference.
const REFERENCE: usize = 1 << 7;

/// References that a runner has at its disposal when a poll begins.
pub(crate) const LENDABLE: usize = 2;

/// The moment at which a task is bound to its owner's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// Before it is queued; the spawner sees to it.
    AtSpawn,
    /// When its first poll returns `Pending`; the runner sees to it.
    Late,
}

/// The duty of a thread that has taken a task from a queue.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Poll its future.
    Poll,
    /// Poll its future, and bind it to its owner's list before that poll ends with `Pending`.
    PollUnlisted,
    /// Drop its future: the task was cancelled.
    Cancel,
}

/// The duty of a runner after a poll that returned `Pending`.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EndPoll {
    /// Do nothing, and don't touch the task any more: the next waker owns its `Runnable`.
    Idle,
    /// The task was notified while it ran: queue its `Runnable` again.
    Requeue,
}

/// The duty of a runner after its task has completed, besides giving up the owner's reference.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Complete {
    /// The handle is gone: drop the output.
    DropOutput,
    /// Take the joiner's waker and wake it.
    WakeJoiner,
    /// The handle will find the output when it looks.
    Nothing,
}

/// The duty of a thread that has notified or cancelled a task.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Notify {
    /// The caller now owns the `Runnable`: queue it.
    Schedule,
    /// The task is queued already, or its runner will queue it, or it is complete.
    Nothing,
    /// As `Nothing`, and the reference given up was the last: free the task.
    Free,
}

/// The permission of a `JoinHandle` to touch the waker's place or the output.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum JoinStep {
    /// The transition was made.
    Done,
    /// Too late: the task is complete and its output belongs to the handle.
    Complete,
}

/// A reading of the word, for what needs no transition.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot(usize);

impl Snapshot {
    /// Returns true if the task is not in its owner's list. Only the runner changes that, so for the runner it is
    /// certain.
    pub(crate) fn is_unlisted(self) -> bool {
        self.0 & UNLISTED != 0
    }

    /// Returns true if the task is queued or being polled.
    pub(crate) fn is_scheduled(self) -> bool {
        self.0 & SCHEDULED != 0
    }

    pub(crate) fn is_complete(self) -> bool {
        self.0 & COMPLETE != 0
    }

    /// Returns true if there is a `JoinHandle`. Once false, it stays false.
    pub(crate) fn has_join_interest(self) -> bool {
        self.0 & JOIN_INTEREST != 0
    }

    pub(crate) fn has_join_waker(self) -> bool {
        self.0 & JOIN_WAKER != 0
    }
}

/// The word itself.
pub(crate) struct State(AtomicUsize);

impl State {
    /// Creates the state of a new task: scheduled (its first `Runnable` exists), joined, owned.
    #[inline]
    pub(crate) fn new(listing: Listing) -> Self {
        let unlisted = if listing == Listing::Late { UNLISTED } else { 0 };
        let references = (2 + LENDABLE) * REFERENCE;
        Self(AtomicUsize::new(SCHEDULED | JOIN_INTEREST | unlisted | references))
    }

    /// Loads the word. Acquire pairs with the Release in `complete`, so that a reader that sees COMPLETE may read the
    /// output.
    #[inline]
    pub(crate) fn load(&self) -> Snapshot {
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// Begins a poll. Called by the holder of the `Runnable`.
    ///
    /// By way of the queue, the caller sees the word as the pusher left it, or newer. A wake-up that is newer than what
    /// is read here has set NOTIFIED, and the end of this poll can't miss that.
    #[inline]
    pub(crate) fn start(&self) -> Start {
        // Acquire, here and below, pairs with the Release of every wake-up, even one that found SCHEDULED set, so that
        // the poll sees what the wakers did before. It also pairs with the Release of the last `end_poll`, because the
        // future is handed from thread to thread.
        let mut now = self.0.load(Ordering::Acquire);
        if now & NOTIFIED != 0 {
            now = self.0.fetch_sub(NOTIFIED, Ordering::Acquire);
        }
        debug_assert_eq!(now & (SCHEDULED | COMPLETE), SCHEDULED, "started without a `Runnable`");
        match now & (CANCELLED | UNLISTED) {
            0 => Start::Poll,
            UNLISTED => Start::PollUnlisted,
            _ => Start::Cancel,
        }
    }

    /// Notes that the task is bound to its owner's list before its first poll. Called by the holder of the `Runnable`.
    pub(crate) fn listed(&self) {
        // Relaxed: the next thread to ask is the one that the `Runnable` is handed on to.
        let before = self.0.fetch_and(!UNLISTED, Ordering::Relaxed);
        debug_assert_eq!(before & (SCHEDULED | COMPLETE | UNLISTED), SCHEDULED | UNLISTED);
    }

    /// Ends a poll: SCHEDULED → idle, or back into the queue if a wake-up came since the poll began. Of the lendable
    /// references, `left` are left.
    #[inline]
    pub(crate) fn end_poll(&self, left: usize) -> EndPoll {
        self.stop(0, left)
    }

    /// Does the same as `end_poll` for a task that was unlisted when the poll began and is bound now.
    #[inline]
    pub(crate) fn end_poll_listed(&self, left: usize) -> EndPoll {
        self.stop(UNLISTED, left)
    }

    #[inline]
    fn stop(&self, listed: usize, left: usize) -> EndPoll {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            debug_assert_eq!(now & (SCHEDULED | COMPLETE | UNLISTED), SCHEDULED | listed);
            let (done, step) = match now & NOTIFIED {
                0 => (SCHEDULED, EndPoll::Idle),
                _ => (NOTIFIED, EndPoll::Requeue),
            };
            // What was lent is counted from now on. More may be left than there was, if wakers were dropped in the
            // poll.
            let next = now - done - listed + LENDABLE * REFERENCE - left * REFERENCE;
            // Release pairs with the Acquire in the next `start`. Like every read-modify-write, it also passes on what
            // was released before it: the wake-ups that it takes back.
            match self.0.compare_exchange_weak(now, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return step,
                Err(changed) => now = changed,
            }
        }
    }

    /// Completes the task, after the output was stored: SCHEDULED → COMPLETE.
    #[inline]
    pub(crate) fn complete(&self) -> Complete {
        // Release pairs with the Acquire in `load` and in the join transitions (the output).
        // Acquire pairs with the Release in `set_join_waker` (the waker's place).
        let before = self.0.fetch_add(COMPLETE - SCHEDULED, Ordering::AcqRel);
        debug_assert_eq!(before & (SCHEDULED | COMPLETE), SCHEDULED);
        if before & JOIN_INTEREST == 0 {
            Complete::DropOutput
        } else if before & JOIN_WAKER != 0 {
            Complete::WakeJoiner
        } else {
            Complete::Nothing
        }
    }

    /// Completes a task that nobody joins, SCHEDULED → COMPLETE, and gives up the owner's reference and what is left of
    /// the lendable ones in the same step. Returns true if those were the last.
    #[must_use]
    #[inline]
    pub(crate) fn complete_and_release(&self, left: usize) -> bool {
        let owners = (1 + left) * REFERENCE;
        // AcqRel as in `release`.
        let before = self.0.fetch_sub(owners + SCHEDULED - COMPLETE, Ordering::AcqRel);
        debug_assert_eq!(before & (SCHEDULED | COMPLETE | JOIN_INTEREST), SCHEDULED);
        before & !(REFERENCE - 1) == owners
    }

    /// Wakes the task and keeps the waker's reference.
    pub(crate) fn notify(&self) -> Notify {
        self.wake_up(0, 0)
    }

    /// Wakes the task and gives up the waker's reference.
    pub(crate) fn notify_and_release(&self) -> Notify {
        self.wake_up(0, REFERENCE)
    }

    /// Asks for cancellation; the runner of the task carries it out.
    pub(crate) fn cancel(&self) -> Notify {
        self.wake_up(CANCELLED, 0)
    }

    /// Wakes the task, sets a flag and gives up a reference, or either.
    ///
    /// The word is written even if NOTIFIED was set before: the write is what orders the caller's earlier work before
    /// the poll that the earlier notification led to. With only a load, that poll could miss it, and nobody would wake
    /// the task again.
    #[inline]
    fn wake_up(&self, flag: usize, reference: usize) -> Notify {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            if now & COMPLETE != 0 {
                let last = reference != 0 && self.release(0);
                return if last { Notify::Free } else { Notify::Nothing };
            }
            let (woken, step) = match now & SCHEDULED {
                0 => (SCHEDULED, Notify::Schedule),
                _ => (NOTIFIED, Notify::Nothing),
            };
            // The owner's reference stands until COMPLETE, so this one is not the last.
            let next = (now | woken | flag) - reference;
            // Release pairs with the Acquire in `start`.
            match self.0.compare_exchange_weak(now, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return step,
                Err(changed) => now = changed,
            }
        }
    }

    /// Hands the joiner's waker, just written, to the task.
    pub(crate) fn set_join_waker(&self) -> JoinStep {
        self.join_transition(|now| {
            debug_assert_eq!(now & (JOIN_INTEREST | JOIN_WAKER), JOIN_INTEREST);
            now | JOIN_WAKER
        })
    }

    /// Takes the place of the joiner's waker back from the task.
    pub(crate) fn unset_join_waker(&self) -> JoinStep {
        self.join_transition(|now| now & !JOIN_WAKER)
    }

    /// Gives up the output, and takes the waker's place back, for a `JoinHandle` that is dropped.
    pub(crate) fn drop_join_interest(&self) -> JoinStep {
        self.join_transition(|now| now & !(JOIN_INTEREST | JOIN_WAKER))
    }

    /// Gives up the output and the reference of a `JoinHandle` in one step, if it has not registered a waker. Returns
    /// false if the handle has to go the long way.
    #[must_use]
    #[inline]
    pub(crate) fn detach(&self) -> bool {
        let now = self.0.load(Ordering::Relaxed);
        // The owner's reference stands until COMPLETE, so the handle's is not the last.
        // Release: the handle's accesses come before the free.
        now & (COMPLETE | JOIN_WAKER) == 0
            && self
                .0
                .compare_exchange(
                    now,
                    (now & !JOIN_INTEREST) - REFERENCE,
                    Ordering::Release,
                    Ordering::Relaxed,
                )
                .is_ok()
    }

    fn join_transition(&self, next: impl Fn(usize) -> usize) -> JoinStep {
        let mut now = self.0.load(Ordering::Acquire);
        loop {
            if now & COMPLETE != 0 {
                return JoinStep::Complete;
            }
            // Release pairs with the Acquire in `complete` (the waker's place), Acquire on
            // failure with the Release there (the output).
            match self.0.compare_exchange_weak(now, next(now), Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return JoinStep::Done,
                Err(changed) => now = changed,
            }
        }
    }

    /// A task whose wakers have leaked until the next reference is one too many.
    #[cfg(all(test, not(loom)))]
    pub(super) fn with_too_many_references() -> Self {
        Self(AtomicUsize::new(isize::MAX as usize + 1))
    }

    /// Adds a reference; the caller holds one already.
    #[inline]
    pub(crate) fn retain(&self) {
        // Relaxed: the caller's own reference keeps the task alive, nothing is published.
        let before = self.0.fetch_add(REFERENCE, Ordering::Relaxed);
        if before > isize::MAX as usize {
            // As `Arc` does: wakers were leaked by the billion, and a wrapped count would free
            // a task in use.
            std::process::abort();
        }
    }

    /// Gives up a reference and `more` others. Returns true if they were the last, and the caller must free the task.
    #[must_use]
    #[inline]
    pub(crate) fn release(&self, more: usize) -> bool {
        let references = (1 + more) * REFERENCE;
        // AcqRel: every holder's accesses come before the free.
        let before = self.0.fetch_sub(references, Ordering::AcqRel);
        debug_assert!(before >= references, "reference count underflow");
        before & !(REFERENCE - 1) == references
    }
}
