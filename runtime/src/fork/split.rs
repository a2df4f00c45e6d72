//! Split points: what a worker does in the middle of a computation besides computing.
//!
//! It offers the next job when the last was taken, wakes thieves for a computation that is worth
//! it, and polls tasks that wait.

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use super::job::{Job, JobRef};
use super::policy::{IN_PLACE_POLLS_PER_CLOCK, JOINS_PER_SPLIT, LET_IN, OS_LOOK_EVERY, STRETCH};
use super::posted::NOWHERE;
use crate::context;
use crate::coop;
use crate::primitives::{Ordering, fence};
use crate::sched::{Worker, steal};
use crate::task::{self, Runnable};

/// Returns true while a panic passes through the current thread.
fn unwinds() -> bool {
    std::thread::panicking()
}

/// A split point of a loop that has nothing to join for long, to be called every few microseconds.
pub(super) fn split_here() {
    context::with_forker(|worker| {
        if let Some(worker) = worker {
            worker.computes();
            if worker.pending.counts_down_by(JOINS_PER_SPLIT) {
                worker.attend();
            }
        }
    });
}

impl Worker {
    /// At a join or a spawn: the offer is empty, or the count of joins ran out.
    #[cold]
    #[inline(never)]
    pub(super) fn attend(&self) {
        if self.pending.offers_nothing() && self.pending.offer_oldest() {
            self.announce_offer();
        }
        if self.pending.count_is_out() {
            if let Some(count) = self.computation.probes() {
                self.pending.set_count(count);
                self.share_joins();
            } else {
                self.split_point();
            }
        }
    }

    /// Keeps no join back: what comes next may be a long leaf. Idle workers are woken by time.
    fn share_joins(&self) {
        if self.pending.share_joins() {
            self.computes();
            // As in `announce_offer`.
            fence(Ordering::SeqCst);
            if self.pool.has_idle() {
                self.pool.monitor.hurry();
            } else {
                self.lacks_thief();
            }
        }
    }

    /// No worker is idle that could take a job, or there is no room for it. A guest may block with the job in its hands,
    /// and it is the monitor that notices.
    fn lacks_thief(&self) {
        if self.is_guest() {
            self.pool.monitor.switch_on();
        }
    }

    /// The last joins were far apart. They come in bursts, on the way down to a leaf: that the next few are close
    /// together says nothing about the leaf after them.
    fn expect_long_leaves(&self) {
        self.pending.set_count(self.computation.probe_leaves());
        self.share_joins();
    }

    /// Before a job is run that may have no split points.
    pub(super) fn attend_to_spawned(&self) {
        if self.pending.offers_nothing() && self.pending.offer_oldest() {
            self.announce_offer();
        }
        if self.pool.has_idle() || !self.computation.is_fine() {
            self.pending.share();
            self.call_for_shared();
        }
    }

    /// Whatever is polled turns out to be a computation.
    fn computes(&self) {
        if !self.computation.computing.get() {
            self.begin_computing();
            self.computation.of_task.set(true);
        } else if self.computation.in_place.get() {
            // So does the task that is polled in place. The monitor is not to wait for it as for what is around it.
            self.slot().activity.compute_anew();
        } else if self.computation.of_task.get() {
            self.slot().activity.compute();
        }
    }

    /// A join has ended that was in no other. If it was a task's, what the task does next is no leaf: it may block,
    /// and wait for a computation that another worker has to begin.
    pub(super) fn leave_joins(&self) {
        let inside = self.computation.scopes.get() + self.computation.waits.get() > 0;
        if self.computation.of_task.get() && !inside && !self.computation.in_place.get() {
            self.run_spawned();
            // A task may be all small joins, one after the other, none of which comes to a split point.
            if self.computation.counts_outer() {
                self.split_point();
            }
            self.slot().activity.interrupt();
            // The next join is another computation.
            self.pending.set_count(self.computation.probe_anew());
        } else if self.computation.has_lasted() {
            // So it may be here; but there may be many small ones in a row as well, of which most are to cost no more
            // than their joins do.
            self.pending.set_count(self.computation.probe_again(self.pending.count()));
        }
    }

    /// Runs what is left of jobs. With no scope around, other threads wait for them.
    fn run_spawned(&self) {
        let mut aside = None;
        while let Some(job) = self.pending.pop_spawned(self.index()) {
            aside.get_or_insert_with(context::set_aside);
            self.attend_to_spawned();
            job.run(self);
        }
    }

    /// Queues a job on the heap. If nobody waits for it, it is run at the end of the poll or job at the latest.
    pub(super) fn push_job(&self, job: NonNull<Job>, is_detached: bool) {
        let is_short = self.computation.is_fine() && !self.computation.is_probing();
        if self.pending.push_spawned(job, is_short) || !is_short {
            self.announce_offer();
        } else if is_detached {
            self.computes();
        }
        if self.pending.counts_down() {
            self.attend();
        }
    }

    /// Runs one job, if there is one; with `local`, one of this worker's own: spawned here, the second half of a join
    /// that this worker is inside of, or posted to it.
    #[cfg(not(loom))]
    pub(super) fn help(&self, local: bool) -> bool {
        let index = self.index();
        let job = self.pending.pop_spawned(index);
        let job = job.or_else(|| self.pending.take_oldest_join(index));
        let job = job.or_else(|| self.take_posted_here());
        let job = if local { job } else { job.or_else(|| self.steal_job()) };
        let Some(job) = job else { return false };
        let _aside = context::set_aside();
        self.attend_to_spawned();
        job.run(self);
        true
    }

    /// Others may take a job from now on: wakes one that is idle if the computation is worth it, or else has the monitor
    /// do so by and by.
    pub(super) fn announce_offer(&self) {
        self.computes();
        // Partner of the fences in `Worker::sleep` and `sleep_joining`: either we see the sleeper, or it sees the job.
        // A worker that searches looks for jobs before it stops.
        fence(Ordering::SeqCst);
        // In a computation with long leaves, the next offer is far away.
        let look = self.computation.counts_offer() || !self.computation.is_fine();
        if !self.pool.has_idle() {
            return self.lacks_thief();
        }
        let now = Instant::now();
        if self.computation.has_slowed_down(now, self.pending.count()) {
            // The count of a fine-grained computation would come to a look at the clock after many more long leaves.
            self.expect_long_leaves();
        }
        let is_worth_it = || self.pool.forecast.is_long() || self.computation.is_worth_a_thief(now);
        if look && !self.computation.brings_crumbs() && is_worth_it() {
            self.pool.wake_thief();
        } else {
            self.pool.monitor.hurry();
        }
    }

    pub(super) fn split_point(&self) {
        let now = Instant::now();
        self.pending.set_count(self.computation.next_count(now));
        self.shows_progress();
        if self.computation.is_coarse() {
            self.expect_long_leaves();
        }
        if !self.pending.offers_nothing()
            && self.pool.has_idle()
            && self.computation.is_worth_a_thief(now)
            && !self.computation.brings_crumbs()
        {
            self.pool.wake_thief();
        }
        if self.computation.may_poll.get()
            && now >= self.computation.next_poll.get()
            && self.comes_to_tasks()
        {
            self.consider_polling(now);
        }
    }

    /// Has the monitor see that the computation makes progress, unless it comes to no tasks: then a spare must come for
    /// them.
    pub(super) fn shows_progress(&self) {
        if self.comes_to_tasks() {
            self.slot().counters.splits.bump();
        } else if unwinds() {
            self.slot().activity.judge(false);
        }
    }

    /// Returns false in a task that is polled in place, and while the thread unwinds: the second closure of a join
    /// whose first one has panicked runs then. A task in its middle would take itself for one that panics.
    fn comes_to_tasks(&self) -> bool {
        !self.computation.in_place.get() && !unwinds()
    }

    /// Polls tasks in place if some wait.
    fn consider_polling(&self, now: Instant) {
        let own = self.has_own();
        let fine = self.computation.is_fine();
        self.slot().activity.judge(fine);
        if fine {
            // No leaves, or none any more: this worker comes to tasks by itself.
            self.send_spare_home();
        } else if self.slot().status.read().spare().is_some() {
            // A spare is there for them, and may wait for this very CPU.
            if own {
                self.hand_over();
            }
            std::thread::yield_now();
            self.computation.next_poll.set(Instant::now() + LET_IN);
            return;
        }
        let look_out = self.pool.poller().has_events_to_take()
            && self.pacing.looks_out_after(now, OS_LOOK_EVERY);
        if own || look_out || self.pool.has_shared_work() || self.pool.has_kept_work() {
            let count = self.computation.keep_count(|| self.poll_in_place(now, look_out));
            self.pending.set_count(count);
        }
    }

    fn poll_in_place(&self, start: Instant, look_out: bool) {
        // What the computation has entered, and the values of its task, are meant neither for the tasks nor for the
        // wakers that are called here.
        let _aside = context::set_aside();
        self.computation.in_place.set(true);
        self.pacing.restart(start);
        self.observer.interrupts(start, self.computation.began());
        let mut now = start;
        let (mut polls, mut polls_before) = (0_u32, 0);
        if look_out {
            self.pacing.looked_out(start);
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
        // Time for which the OS has kept us from running does not count for more.
        let spent = now.saturating_duration_since(start).min(STRETCH);
        if polls > 0 || look_out {
            // The thread that is to send us something, or waits for what these tasks have sent, may have been put
            // behind us by the OS, for as long as we compute.
            std::thread::yield_now();
            now = Instant::now();
        }
        let share = self.pool.config.compute_share;
        // Models must not go by how fast the machine is: there it took no time.
        let rest = if cfg!(loom) { Duration::ZERO } else { spent * share / (100 - share) };
        self.computation.next_poll.set(now + rest);
        self.computation.restart(now);
        self.computation.in_place.set(false);
    }

    /// Polls a task on top of the poll that this worker is in.
    fn run_in_place(&self, runnable: Runnable) {
        let hop = self.hop.replace(false);
        // If the task blocks, that is no leaf of the computation.
        self.slot().activity.interrupt();
        self.slot().polls_in_place(runnable, |runnable| {
            coop::budgeted(|| self.run_or_cancel(runnable));
        });
        self.slot().activity.compute();
        self.hop.set(hop);
        // Moves on, and stays odd: the poll around this one goes on.
        self.slot().counters.tick.add(2);
    }

    /// Returns true while a poll in place is under way.
    pub(crate) fn is_in_place(&self) -> bool {
        self.computation.in_place.get()
    }

    /// Runs a stolen job, and what it has spawned.
    pub(crate) fn run_job(&self, job: JobRef) {
        let tick = &self.slot().counters.tick;
        tick.bump();
        // What was polled here before is not to be named if the job gets stuck.
        self.slot().polls(None);
        self.begin_computing();
        self.computation.is_whole.set(job.is_from(NOWHERE));
        self.call_for_shared();
        self.slot().runs_for(job.from(), || job.run(self));
        self.end_computing();
        tick.bump();
        self.computation.stole.set(true);
    }

    /// From now on this worker computes.
    pub(crate) fn begin_computing(&self) {
        self.pending.set_count(self.computation.begin(Instant::now()));
        self.computation.computing.set(true);
        self.computation.of_task.set(false);
        self.computation.is_whole.set(true);
        self.called.set(false);
        if !self.computation.takes_short_slices.replace(true) && context::is_thread_of(&self.pool) {
            // A thread that has something for the tasks must not wait long behind us. A manual loop runs on a thread of
            // the program, which has other things to do afterwards.
            crate::poller::take_short_slices();
        }
        self.slot().activity.compute();
        task::time_poll();
    }

    /// The poll or the job is over in which this worker has computed, if it has.
    #[inline]
    pub(crate) fn end_computing(&self) {
        if self.computation.computing.get() {
            self.ended_computing();
        }
    }

    #[cold]
    fn ended_computing(&self) {
        self.run_spawned();
        self.computation.computing.set(false);
        self.slot().activity.end();
        let now = Instant::now();
        self.computation.ended.set(Some(now));
        self.observer.computed(now, self.computation.lasted(now));
        self.forecast(now);
        self.pacing.computed(now);
    }

    /// Tells what to expect of the next computation, now that one has ended.
    pub(super) fn forecast(&self, now: Instant) {
        // Models must not go by how fast the machine is: no computation takes long there.
        if cfg!(not(loom)) && self.computation.is_whole.get() {
            self.pool.forecast.took(self.computation.lasted(now));
        }
    }

    /// Returns true if this worker has computed within the last `time`.
    pub(crate) fn computed_within(&self, time: Duration) -> bool {
        let ended = self.computation.ended.get();
        // Models must not go by how fast the machine is: there it was just now.
        ended.is_some_and(|ended| cfg!(loom) || ended.elapsed() < time)
    }
}
