//! A worker's current computation: what the worker is doing, when that began, and when tasks may interrupt it.
//!
//! ```text
//!            begin                interrupt
//!    Tasks --------> Computing <------------> InPlace
//!          <--------              resume
//!             end
//! ```
//!
//! A poll in place interrupts a computation, and remembers of which kind it was. The [`Pace`] measures how fast joins
//! follow each other; the [`Offering`] judges whether thieves are worth waking.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::offering::Offering;
use super::pace::Pace;
use super::policy::WORTH_A_THIEF;
use super::thief::Thief;
use crate::sched::policy::TIMELESS;

/// The kind of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A whole one: a root, or a job that was posted.
    Whole,
    /// A part that was stolen from the thread that computes the rest.
    Stolen,
    /// The computation of a task that has called a join or a scope, and may do something else after that.
    OfTask,
}

/// What a worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It polls tasks or looks for something to do. A task may turn out to compute.
    Tasks,
    Computing(Kind),
    /// It polls a task at a split point of such a computation.
    InPlace(Kind),
}

/// One worker's record of its current computation. Only the worker's thread uses it.
pub(crate) struct Computation {
    doing: Cell<Doing>,
    /// When the current computation, or the last one, began.
    began: Cell<Instant>,
    /// When the last one ended.
    ended: Cell<Option<Instant>>,
    /// The number of scopes that it is inside of.
    scopes: Cell<usize>,
    /// The number of waits that it is inside of, in which it runs jobs of others.
    waits: Cell<usize>,
    /// The time before which no tasks are polled in place again. `None` in a manual loop and in a guest's slot, which
    /// poll no tasks of their own accord.
    next_poll: Cell<Option<Instant>>,
    /// True if the OS was asked for short time slices, or must not be asked.
    has_asked_for_short_slices: Cell<bool>,
    pub(super) pace: Pace,
    pub(super) offering: Offering,
    pub(super) thief: Thief,
}

impl Computation {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            doing: Cell::new(Doing::Tasks),
            began: Cell::new(now),
            ended: Cell::new(None),
            scopes: Cell::new(0),
            waits: Cell::new(0),
            next_poll: Cell::new(None),
            has_asked_for_short_slices: Cell::new(false),
            pace: Pace::new(now),
            offering: Offering::default(),
            thief: Thief::default(),
        }
    }

    pub(super) fn doing(&self) -> Doing {
        self.doing.get()
    }

    /// Returns true from the beginning of a computation to its end, even in a poll in place.
    #[inline]
    pub(super) fn is_computing(&self) -> bool {
        self.doing.get() != Doing::Tasks
    }

    /// Returns true while a poll in place is under way.
    #[inline]
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self.doing.get(), Doing::InPlace(_))
    }

    /// Notes that a computation begins: Tasks → Computing. Returns the count of joins to the first look at the clock.
    pub(super) fn begin(&self, kind: Kind, now: Instant) -> u32 {
        debug_assert_eq!(self.doing.get(), Doing::Tasks, "a worker computes one thing at a time");
        self.doing.set(Doing::Computing(kind));
        self.began.set(now);
        self.offering.begin();
        self.pace.begin(now)
    }

    /// Notes that the computation has ended: Computing → Tasks. Returns how long it took, if it was a whole one.
    pub(super) fn end(&self, now: Instant) -> Option<Duration> {
        let whole = self.lasted_whole(now);
        self.doing.set(Doing::Tasks);
        self.ended.set(Some(now));
        whole
    }

    /// Notes that a poll in place interrupts the computation: Computing → InPlace. Returns false if there is none to
    /// interrupt.
    #[must_use]
    pub(super) fn interrupt(&self) -> bool {
        let Doing::Computing(kind) = self.doing.get() else { return false };
        self.doing.set(Doing::InPlace(kind));
        true
    }

    /// Notes that the computation goes on: InPlace → Computing. Tasks may interrupt it again after `rest`.
    pub(super) fn resume(&self, now: Instant, rest: Duration) {
        if let Doing::InPlace(kind) = self.doing.get() {
            self.doing.set(Doing::Computing(kind));
        }
        self.pace.restart(now);
        self.let_tasks_wait(now + rest);
    }

    /// Allows this worker to poll tasks of its own accord, from now on.
    pub(crate) fn allow_polls(&self) {
        self.next_poll.set(Some(self.began.get()));
    }

    /// Lets no task interrupt the computation before `until`.
    pub(super) fn let_tasks_wait(&self, until: Instant) {
        if self.next_poll.get().is_some() {
            self.next_poll.set(Some(until));
        }
    }

    /// Returns true if tasks may interrupt the computation, because it has had its share of time.
    pub(super) fn may_be_interrupted(&self, now: Instant) -> bool {
        self.next_poll.get().is_some_and(|next| now >= next)
    }

    pub(super) fn enter_scope(&self) {
        self.scopes.set(self.scopes.get() + 1);
    }

    pub(super) fn leave_scope(&self) {
        self.scopes.set(self.scopes.get() - 1);
    }

    pub(super) fn enter_wait(&self) {
        self.waits.set(self.waits.get() + 1);
    }

    pub(super) fn leave_wait(&self) {
        self.waits.set(self.waits.get() - 1);
    }

    /// Returns true inside of a scope, or of a wait in which jobs of others are run.
    pub(super) fn is_inside(&self) -> bool {
        self.scopes.get() + self.waits.get() > 0
    }

    /// Returns true the first time, unless the thread has to keep the slices that it has.
    pub(super) fn is_to_ask_for_short_slices(&self) -> bool {
        !self.has_asked_for_short_slices.replace(true)
    }

    /// Leaves the thread the time slices that it has, because it is not one of ours.
    pub(super) fn keep_slices(&self) {
        self.has_asked_for_short_slices.set(true);
    }

    /// Starts probing again, because the computation has slowed down. Returns the count of joins to the next split
    /// point.
    pub(super) fn slow_down(&self) -> u32 {
        self.offering.slow_down();
        self.pace.probe_anew()
    }

    /// Returns the next count of joins, when the last has run out.
    pub(super) fn next_count(&self, now: Instant) -> u32 {
        self.offering.judge();
        self.pace.next_count(now)
    }

    /// Returns the time at which the current computation began, unless there is none, or a poll in place interrupts it.
    pub(crate) fn began(&self) -> Option<Instant> {
        matches!(self.doing.get(), Doing::Computing(_)).then(|| self.began.get())
    }

    /// Returns how long the computation has lasted.
    pub(super) fn lasted(&self, now: Instant) -> Duration {
        if TIMELESS { Duration::ZERO } else { now.saturating_duration_since(self.began.get()) }
    }

    /// Returns how long the computation has lasted, if there is one and it is a whole one. A task that computes does
    /// so from its first join on.
    pub(super) fn lasted_whole(&self, now: Instant) -> Option<Duration> {
        let is_whole = matches!(self.doing.get(), Doing::Computing(Kind::Whole | Kind::OfTask));
        is_whole.then(|| self.lasted(now))
    }

    pub(super) fn is_worth_a_thief(&self, now: Instant) -> bool {
        TIMELESS || self.lasted(now) >= WORTH_A_THIEF
    }

    /// Returns true if a computation has ended within the last `time`.
    pub(super) fn ended_within(&self, time: Duration) -> bool {
        self.ended.get().is_some_and(|ended| TIMELESS || ended.elapsed() < time)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::sched::{Pool, Worker};
    use crate::task::Origin;
    use crate::{shutdown, timer};

    #[test]
    fn what_is_interrupted_goes_on_as_what_it_was() {
        let now = Instant::now();
        let computation = Computation::new(now);
        assert!(!computation.interrupt(), "there is nothing to interrupt");
        for kind in [Kind::Whole, Kind::Stolen, Kind::OfTask] {
            computation.begin(kind, now);
            assert!(computation.interrupt() && !computation.interrupt(), "once at a time");
            assert!(computation.is_computing() && computation.is_in_place());
            assert_eq!(computation.began(), None, "what is polled is not what computes");
            computation.resume(now, Duration::ZERO);
            assert_eq!(computation.doing(), Doing::Computing(kind));
            let lasted = computation.end(now + WORTH_A_THIEF);
            assert_eq!(lasted, (kind != Kind::Stolen).then_some(WORTH_A_THIEF));
            assert!(!computation.is_computing());
        }
    }

    #[test]
    fn tasks_interrupt_the_computations_of_those_that_may_poll() {
        let now = Instant::now();
        let rest = Duration::from_micros(1);
        let computation = Computation::new(now);
        computation.let_tasks_wait(now);
        assert!(!computation.may_be_interrupted(now + rest), "a guest's");
        computation.allow_polls();
        assert!(computation.may_be_interrupted(now));
        computation.let_tasks_wait(now + rest);
        assert!(!computation.may_be_interrupted(now) && computation.may_be_interrupted(now + rest));
    }

    /// A worker that computed looked at the timers with the OS, and at neither where no descriptor was registered.
    #[test]
    fn timers_that_are_due_fire_at_split_points_if_there_are_no_sources() {
        let pool = Pool::for_tests(1);
        let origin = || Origin::new(Location::caller(), None);
        let fired = Arc::new(AtomicBool::new(false));
        let fires = fired.clone();
        drop(pool.spawn(
            async move {
                timer::sleep(Duration::from_millis(1)).await;
                fires.store(true, Ordering::Relaxed);
            },
            origin(),
        ));
        let (seen, closing) = (Arc::new(AtomicBool::new(false)), pool.clone());
        let sees = seen.clone();
        let computing = async move {
            let start = Instant::now();
            while !fired.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(10) {
                crate::join(|| (), || ());
            }
            sees.store(fired.load(Ordering::Relaxed), Ordering::Relaxed);
            shutdown::begin(&closing);
        };
        drop(pool.spawn(computing, origin()));
        // There is no monitor to step in.
        Worker::new(pool.clone(), 0).unwrap().run();
        assert!(pool.is_over() && seen.load(Ordering::Relaxed));
    }
}
