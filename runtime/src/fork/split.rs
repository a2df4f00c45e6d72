//! Split points: what a worker does in the middle of a computation besides computing.
//!
//! It offers the next job when the last was taken, wakes thieves for a computation that is worth
//! it, and polls tasks that wait.

use std::thread;
use std::time::{Duration, Instant};

use super::computation::{Doing, Kind};
use super::job::JobRef;
use super::policy::{IN_PLACE_POLLS_PER_CLOCK, JOINS_PER_SPLIT, LET_IN, OS_LOOK_EVERY, STRETCH};
use super::posted::NO_WORKER;
use crate::context;
use crate::coop;
use crate::primitives::{Ordering, fence};
use crate::sched::policy::TIMELESS;
use crate::sched::{Worker, steal};
use crate::task::{self, Runnable};

/// Counts as a split point in a loop that has nothing to join for long. Has to be called every few microseconds.
pub(super) fn split_here() {
    context::with_forker(|worker| {
        if let Some(worker) = worker {
            worker.note_computing();
            if worker.pending.count_down_by(JOINS_PER_SPLIT) {
                worker.attend();
            }
        }
    });
}

impl Worker {
    /// Called at a join or a spawn if the offer is empty or the count of joins has run out: offers the next job, wakes
    /// a thief if that is worth it, and looks after tasks.
    #[cold]
    #[inline(never)]
    pub(super) fn attend(&self) {
        if self.pending.offers_nothing() && self.pending.offer_oldest() {
            self.announce_offer();
        }
        if self.pending.count_is_out() {
            if let Some(count) = self.computation.pace.take_probe() {
                self.pending.set_count(count);
                self.share_joins();
            } else {
                self.split_point();
            }
        }
    }

    /// Shares all pending joins, because the next leaf may be long. If it is, the monitor wakes idle workers.
    fn share_joins(&self) {
        if self.pending.share_joins() {
            self.note_computing();
            // As in `announce_offer`.
            fence(Ordering::SeqCst);
            if self.pool.has_idle() {
                self.pool.monitor.hurry();
            } else {
                self.rely_on_monitor();
            }
        }
    }

    /// Lets others take all that is pending and wakes an idle worker, because this one is about to wait for something
    /// else and comes to no split point meanwhile.
    pub(crate) fn leave_to_others(&self) {
        self.share_joins();
        if !self.slot().offers.is_empty() {
            // As in `announce_offer`, for what was spawned without one.
            fence(Ordering::SeqCst);
            if self.pool.has_idle() {
                self.pool.wake_thief();
            }
        }
    }

    /// Called if no idle worker could take a job, or if there is no room for it. Switches the monitor on for a guest,
    /// which may block while it holds the job.
    fn rely_on_monitor(&self) {
        if self.is_guest() {
            self.pool.monitor.switch_on();
        }
    }

    /// Starts probing again, because the last joins were far apart. Joins come in bursts, on the way down to a leaf. If
    /// the next few are close together, that says nothing about the leaf after them.
    fn expect_long_leaves(&self) {
        self.pending.set_count(self.computation.slow_down());
        self.share_joins();
    }

    /// Notes that the current poll turned out to be a computation.
    pub(super) fn note_computing(&self) {
        match self.computation.doing() {
            Doing::Tasks => self.begin(Kind::OfTask),
            // The task that is polled in place computes too. The monitor must not wait for it as it does for the
            // computation around it.
            Doing::InPlace(_) => self.slot().activity.compute_anew(),
            Doing::Computing(Kind::OfTask) => self.slot().activity.compute(),
            Doing::Computing(_) => (),
        }
    }

    /// Called when a join that was in no other has ended. If it was a task's, what the task does next is not a leaf: it
    /// may block, and wait for a computation that another worker has to begin.
    pub(super) fn leave_joins(&self) {
        let pace = &self.computation.pace;
        match self.computation.doing() {
            // There was nothing to do, in a scope without jobs.
            Doing::Tasks => (),
            Doing::Computing(Kind::OfTask) if !self.computation.is_inside() => {
                self.run_spawned();
                // A task may be all small joins, one after the other, none of which comes to a split point.
                if pace.count_outer() {
                    self.split_point();
                }
                self.slot().activity.interrupt();
                // The next join is another computation.
                self.pending.set_count(pace.probe_anew());
            }
            // The next join may be another computation here as well. But there may also be many small ones in a row,
            // most of which must cost no more than their joins do.
            _ if pace.has_lasted() => {
                self.pending.set_count(pace.probe_again(self.pending.count()));
            }
            _ => (),
        }
    }

    /// Called when others may take a job: wakes an idle worker if the computation is worth it, or else leaves that to
    /// the monitor, which does so later.
    pub(super) fn announce_offer(&self) {
        self.note_computing();
        // Partner of the fences in `Worker::sleep` and `sleep_joining`: either we see the sleeper, or it sees the job.
        // A worker that searches looks for jobs before it stops.
        fence(Ordering::SeqCst);
        // In a computation with long leaves, the next offer is far away.
        let look = self.computation.offering.count_offer() || !self.computation.pace.is_fine();
        if !self.pool.has_idle() {
            return self.rely_on_monitor();
        }
        let now = Instant::now();
        if self.computation.pace.has_slowed_down(now, self.pending.count()) {
            // The count of a fine-grained computation would come to a look at the clock after many more long leaves.
            self.expect_long_leaves();
        }
        let is_worth_it = || self.pool.forecast.is_long() || self.computation.is_worth_a_thief(now);
        if look && !self.computation.offering.brings_crumbs() && is_worth_it() {
            self.pool.wake_thief();
        } else {
            self.pool.monitor.hurry();
        }
    }

    pub(super) fn split_point(&self) {
        let now = Instant::now();
        self.pending.set_count(self.computation.next_count(now));
        self.show_progress();
        if self.computation.pace.is_coarse() {
            self.expect_long_leaves();
        }
        if !self.pending.offers_nothing()
            && self.pool.has_idle()
            && self.computation.is_worth_a_thief(now)
            && !self.computation.offering.brings_crumbs()
        {
            self.pool.wake_thief();
        }
        if self.computation.may_be_interrupted(now) && self.comes_to_tasks() {
            self.consider_polling(now);
        }
    }

    /// Shows the monitor that the computation makes progress, unless it does not come to tasks: then a spare must come
    /// for them.
    pub(super) fn show_progress(&self) {
        if self.comes_to_tasks() {
            self.slot().counters.splits.bump();
        } else if !self.is_in_place() {
            self.slot().activity.judge(false);
        }
    }

    /// As [`show_progress`](Self::show_progress), in a wait in which the worker runs jobs of others. Unless these have
    /// split points, it comes neither to tasks nor to the OS.
    pub(super) fn show_progress_of_wait(&self) {
        let tasks_wait = self.pool.has_shared_work() || self.pool.has_kept_work();
        if tasks_wait || !self.pool.sleepers.is_seat_taken() {
            self.slot().activity.judge(false);
        } else {
            self.show_progress();
        }
    }

    /// Returns false in a task that is polled in place, in `block_in_place`, where the thread is not a worker, and
    /// while the thread unwinds. The second closure of a join runs then if the first one has panicked, and a task that
    /// is polled in the middle of it would think that it panics itself.
    fn comes_to_tasks(&self) -> bool {
        !self.is_in_place() && !self.slot().activity.is_blocked() && !thread::panicking()
    }

    /// Polls tasks in place if some wait.
    fn consider_polling(&self, now: Instant) {
        let own = self.has_own();
        let fine = self.computation.pace.is_fine();
        self.slot().activity.judge(fine);
        if fine {
            // There are no long leaves, or none any more, so this worker comes to tasks by itself.
            self.dismiss_own_spare();
        } else if self.slot().status.read().spare().is_some() {
            // There is a spare for the tasks, which may wait for this very CPU.
            if own {
                self.hand_over();
            }
            thread::yield_now();
            self.computation.let_tasks_wait(Instant::now() + LET_IN);
            return;
        }
        let poller = self.pool.poller();
        // All of the others would be a part of the computation's time that grows with their number.
        let glance = self.pacing.next_glance();
        // Models that compute arm no timers, and looking for them would be most of what they explore.
        let is_due = || cfg!(not(loom)) && poller.timers().is_due_near(self.index(), glance);
        let look = self.pacing.is_look_due(now, OS_LOOK_EVERY)
            && (poller.has_events_to_take() || is_due());
        if own || look || self.pool.has_shared_work() || self.pool.has_kept_work_near(glance) {
            let count = self.computation.pace.keep_count(|| self.poll_in_place(now, look));
            self.pending.set_count(count);
        }
    }

    fn poll_in_place(&self, start: Instant, look: bool) {
        // What the computation has entered, and the values of its task, are meant neither for the tasks nor for the
        // wakers that are called here.
        let _aside = context::set_aside();
        let began = self.computation.began();
        if !self.computation.interrupt() {
            return;
        }
        self.pacing.restart(start);
        self.observer.note_interruption(start, began);
        let mut now = start;
        let (mut polls, mut polls_before) = (0_u32, 0);
        if look {
            self.pacing.looked(start);
            self.poll_os();
        }
        loop {
            let Some(runnable) = self.next().or_else(|| steal::task(self)) else {
                // The tasks just polled may have brought each other something to do.
                if polls > polls_before && self.poll_os() {
                    polls_before = polls;
                    continue;
                }
                break;
            };
            self.run_in_place(runnable);
            polls += 1;
            if polls % IN_PLACE_POLLS_PER_CLOCK == 0 {
                now = Instant::now();
                if now.saturating_duration_since(start) >= STRETCH {
                    break;
                }
            }
        }
        if polls > 0 {
            now = Instant::now();
        }
        // Time for which the OS has kept us from running counts for no more than that.
        let spent = now.saturating_duration_since(start).min(STRETCH);
        if polls > 0 || look {
            // The OS may have put a thread that would send us something, or that waits for what these tasks have sent,
            // behind us for as long as we compute.
            thread::yield_now();
            now = Instant::now();
        }
        let share = self.pool.config.compute_share;
        let rest = if TIMELESS { Duration::ZERO } else { spent * share / (100 - share) };
        self.computation.resume(now, rest);
    }

    /// Polls a task on top of the poll that this worker is in.
    fn run_in_place(&self, runnable: Runnable) {
        let hop = self.hop.replace(false);
        // If the task blocks, that is not a leaf of the computation.
        self.slot().activity.interrupt();
        self.slot().note_poll_in_place(runnable, |runnable| {
            coop::budgeted(|| self.run_or_cancel(runnable));
        });
        self.slot().activity.compute();
        self.hop.set(hop);
        // Moves on, and stays odd: the poll around this one goes on.
        self.slot().counters.tick.add(2);
    }

    /// Returns true while a poll in place is under way.
    pub(crate) fn is_in_place(&self) -> bool {
        self.computation.is_in_place()
    }

    /// Runs a stolen job, and what it has spawned.
    pub(crate) fn run_job(&self, job: JobRef) {
        let tick = &self.slot().counters.tick;
        tick.bump();
        // What was polled here before must not be named if the job gets stuck.
        self.slot().note_poll(None);
        self.begin(if job.is_from(NO_WORKER) { Kind::Whole } else { Kind::Stolen });
        self.wake_for_shared();
        self.slot().run_for(job.from(), || job.run(self));
        self.end_computing();
        tick.bump();
        self.computation.thief.note_job();
    }

    /// Notes that this worker computes from now on, and nothing else until the end of the poll or job.
    pub(crate) fn begin_computing(&self) {
        self.begin(Kind::Whole);
    }

    fn begin(&self, kind: Kind) {
        self.pending.set_count(self.computation.begin(kind, Instant::now()));
        self.woken.set(false);
        if self.computation.is_to_ask_for_short_slices() && context::is_thread_of(&self.pool) {
            // A thread that has something for the tasks must not wait long behind us. A manual loop runs on a thread of
            // the program, which has other things to do afterwards.
            crate::poller::take_short_slices();
        }
        self.slot().activity.compute();
        task::time_poll();
    }

    /// Called when a poll or a job is over: if this worker has computed in it, notes that the computation has ended.
    #[inline]
    pub(crate) fn end_computing(&self) {
        if self.computation.is_computing() {
            self.ended_computing();
        }
    }

    #[cold]
    fn ended_computing(&self) {
        self.run_spawned();
        let now = Instant::now();
        let is_of_task = self.computation.doing() == Doing::Computing(Kind::OfTask);
        let whole = self.computation.end(now);
        self.slot().activity.end();
        self.observer.computed(now, self.computation.lasted(now));
        if let Some(lasted) = whole {
            self.pool.forecast.took(lasted);
        }
        self.pacing.computed(now, is_of_task);
    }

    /// Returns true if this worker has computed within the last `time`.
    pub(crate) fn computed_within(&self, time: Duration) -> bool {
        self.computation.ended_within(time)
    }
}
