//! The word through which a slot's thread, its wakers and the monitor communicate.
//!
//! Every transition is one read-modify-write, so that nothing that another thread says at the same moment is lost. Each
//! is a method that returns what the caller must do next; no caller ever looks at a bit.
//!
//! ```text
//!    63..4 spare + 1 | 3 AWAITING | 2 JOINING | 1 FOR_TASKS | 0 RETIRE
//! ```
//!
//! Three protocols share the word:
//!
//! - *The slot of a spare*: the monitor claims it (`claim`), if no thread is there and the last one has been told to
//!   leave, and starts a thread there. That thread is told to leave (`dismiss`) once for each `claim`. The slots of
//!   workers begin without RETIRE, so that no spare gets one.
//! - *Relief*: the monitor notes in the status of a worker which spare stands in for it (`note_spare`). The thread that
//!   takes the note out (`take_spare`) owes the spare one `dismiss`.
//! - *Waiting beside the sleepers' stack*, in a join or for the next job: the thread announces it (`announce`), and
//!   exactly one thread withdraws the announcement (`take_waiter` or `stop_waiting`). It owes the waiting thread a token,
//!   unless it is that thread.
//!
//! `README.md` in this folder and in `fork/` prove that no thread waits for ever. What only the worker itself writes,
//! and writes all the time, is in `activity.rs`: a read-modify-write for each join would cost more than the join.

use crate::primitives::{AtomicUsize, Ordering};

/// Set when the spare here has been told to hand over its queue and leave. Cleared by the monitor when it claims the
/// slot for the next. Never set in the slot of a worker.
const RETIRE: usize = 1 << 0;
/// Set while the spare here stands in for a worker that computes, and is there for tasks alone. Written by the monitor
/// only.
const FOR_TASKS: usize = 1 << 1;
/// Set while the thread sleeps in a join, or between two jobs, to be woken by the thread that has what it waits for.
const JOINING: usize = 1 << 2;
/// Set while the thread sleeps between two jobs, and takes roots too. Can't be set without JOINING.
const AWAITING: usize = 1 << 3;
/// Index of the spare that stands in for the worker here, plus one, in units of this.
const SPARE: usize = 1 << 4;
/// The bits of that index.
const SPARE_MASK: usize = !(SPARE - 1);

/// The duty of a spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// All that a worker does.
    Everything,
    /// Tasks, while the worker that it stands in for computes.
    Tasks,
}

/// The kind of a wait beside the sleepers' stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitKind {
    /// The end of what was stolen from it; it takes jobs meanwhile.
    Join,
    /// Its next job, or a root.
    Job,
}

/// A reading of the word. It orders nothing.
#[derive(Clone, Copy)]
pub(crate) struct StatusSnapshot(usize);

impl StatusSnapshot {
    pub(crate) fn must_retire(self) -> bool {
        self.0 & RETIRE != 0
    }

    pub(crate) fn is_for_tasks(self) -> bool {
        self.0 & FOR_TASKS != 0
    }

    /// Returns the spare that stands in for the worker, if one does.
    pub(crate) fn spare(self) -> Option<usize> {
        (self.0 / SPARE).checked_sub(1)
    }

    fn waits(self, wait: WaitKind) -> bool {
        self.0 & wait.least() != 0
    }
}

impl WaitKind {
    /// Returns the flags of a thread that waits for this.
    fn flags(self) -> usize {
        match self {
            Self::Join => JOINING,
            Self::Job => JOINING | AWAITING,
        }
    }

    /// Returns the flag that a thread must show to be woken for this. A thread that waits for a job can be woken for
    /// a join as well.
    fn least(self) -> usize {
        match self {
            Self::Join => JOINING,
            Self::Job => AWAITING,
        }
    }
}

/// The word itself.
pub(crate) struct Status(AtomicUsize);

impl Status {
    /// Creates the status of a new slot, which may be claimed if it is for a spare.
    pub(crate) fn new(for_spare: bool) -> Self {
        Self(AtomicUsize::new(if for_spare { RETIRE } else { 0 }))
    }

    /// Reads the word.
    #[inline]
    pub(crate) fn read(&self) -> StatusSnapshot {
        StatusSnapshot(self.0.load(Ordering::Relaxed))
    }

    /// Like [`read`](Self::read), but for the thread in the slot: if it finds that it must retire, it sees all that
    /// came before.
    #[inline]
    pub(crate) fn read_own(&self) -> StatusSnapshot {
        // Acquire pairs with the Release in `dismiss`.
        StatusSnapshot(self.0.load(Ordering::Acquire))
    }

    /// Claims the slot for a spare that is about to be started: RETIRE → claimed. Returns false if the last one has
    /// not been told to leave yet. Called by the monitor only, which has seen that no thread is there.
    #[must_use]
    pub(crate) fn claim(&self, duty: Duty) -> bool {
        let flag = if duty == Duty::Tasks { FOR_TASKS } else { 0 };
        // What was said to the spare that was here before does not concern the next. Relaxed: the lock around what the
        // thread takes along orders this one after that one.
        self.change(Ordering::Relaxed, |now| {
            now.must_retire().then_some(now.0 & !(RETIRE | FOR_TASKS) | flag)
        })
    }

    /// Tells the spare here to leave. Called by the thread that has taken it out of the status of the worker that it
    /// stood in for. That thread then passes a fence and wakes all.
    pub(crate) fn dismiss(&self) {
        // Release pairs with the Acquire in `read_own`.
        self.0.fetch_or(RETIRE, Ordering::Release);
    }

    /// Has the spare here stand in for its worker in everything from now on. Called by the monitor only.
    pub(crate) fn widen_duty(&self) {
        // Relaxed: a spare that sees it late computes late.
        self.0.fetch_and(!FOR_TASKS, Ordering::Relaxed);
    }

    /// Notes the spare that stands in for the worker here, which has none. Called by the monitor only.
    pub(crate) fn note_spare(&self, spare: usize) {
        // Release pairs with the Acquire in `take_spare`: what is said to the spare comes after its slot was claimed.
        let before = self.0.fetch_add((spare + 1) * SPARE, Ordering::Release);
        debug_assert_eq!(before & SPARE_MASK, 0, "a worker has one spare at a time");
    }

    /// Takes out the note of the spare that stands in for the worker here. A caller that gets it owes the spare a
    /// `dismiss`.
    #[must_use]
    pub(crate) fn take_spare(&self) -> Option<usize> {
        // A look first, because most have none. Acquire pairs with the Release in `note_spare`.
        self.read().spare()?;
        StatusSnapshot(self.0.fetch_and(!SPARE_MASK, Ordering::Acquire)).spare()
    }

    /// Announces that the thread here is about to sleep beside the sleepers' stack. It passes a fence, and looks once
    /// more.
    pub(crate) fn announce(&self, wait: WaitKind) {
        // Release pairs with the Acquire in `take_waiter`: the thread that takes it back has seen what came before, the count
        // of joiners for example.
        let before = self.0.fetch_or(wait.flags(), Ordering::Release);
        debug_assert_eq!(before & (JOINING | AWAITING), 0, "a thread sleeps once at a time");
    }

    /// Takes back the announcement of a thread that waits for this. Returns true if it was there: the caller owes the
    /// thread a token. A caller that must not miss one has passed a fence, the partner of the thread's.
    #[must_use]
    pub(crate) fn take_waiter(&self, wait: WaitKind) -> bool {
        // Acquire pairs with the Release in `announce`; Release with the Acquire in `stop_waiting`, which finds it
        // taken.
        self.change(Ordering::AcqRel, |now| {
            now.waits(wait).then_some(now.0 & !(JOINING | AWAITING))
        })
    }

    /// Takes the thread's own announcement back. Returns false if another thread was faster, whose token is on the way.
    #[must_use]
    pub(crate) fn stop_waiting(&self) -> bool {
        // Acquire and Release pair with those of `take_waiter`: of all threads that try to take it back, one finds it.
        let before = self.0.fetch_and(!(JOINING | AWAITING), Ordering::AcqRel);
        before & JOINING != 0
    }

    /// Makes a transition, if there is one from where the word stands.
    fn change(&self, success: Ordering, next: impl Fn(StatusSnapshot) -> Option<usize>) -> bool {
        let mut now = self.read();
        while let Some(next) = next(now) {
            match self.0.compare_exchange_weak(now.0, next, success, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(changed) => now = StatusSnapshot(changed),
            }
        }
        false
    }
}

#[cfg(loom)]
impl Status {
    /// Makes the spare here one for tasks, in a model that does not go through the monitor.
    pub(crate) fn narrow_duty(&self) {
        self.0.fetch_or(FOR_TASKS, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_slot_of_a_spare_is_used_again() {
        let status = Status::new(true);
        assert!(status.claim(Duty::Tasks));
        assert!(!status.claim(Duty::Everything), "it is claimed");
        assert!(status.read().is_for_tasks() && !status.read().must_retire());
        status.widen_duty();
        assert!(!status.read().is_for_tasks());
        status.dismiss();
        assert!(status.read_own().must_retire());
        assert!(status.claim(Duty::Everything) && !status.read().is_for_tasks());
    }

    #[test]
    fn no_spare_gets_the_slot_of_a_worker() {
        let status = Status::new(false);
        assert!(!status.claim(Duty::Everything));
    }

    #[test]
    fn a_note_is_taken_once_and_leaves_the_rest_alone() {
        let status = Status::new(false);
        status.note_spare(0);
        status.announce(WaitKind::Join);
        assert_eq!(status.read().spare(), Some(0));
        assert_eq!((status.take_spare(), status.take_spare()), (Some(0), None));
        assert!(status.stop_waiting());
    }

    #[test]
    fn a_thread_that_waits_for_a_join_is_not_woken_for_a_root() {
        let status = Status::new(false);
        assert!(!status.take_waiter(WaitKind::Join), "it does not sleep");
        status.announce(WaitKind::Join);
        assert!(!status.take_waiter(WaitKind::Job));
        assert!(status.take_waiter(WaitKind::Join) && !status.take_waiter(WaitKind::Join), "once");
        assert!(!status.stop_waiting(), "a token is on the way");
        status.announce(WaitKind::Job);
        assert!(status.take_waiter(WaitKind::Job) && !status.stop_waiting());
        status.announce(WaitKind::Job);
        assert!(status.take_waiter(WaitKind::Join), "it takes jobs");
    }
}
