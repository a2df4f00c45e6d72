//! A worker that waits for a stolen job: it helps with fork-join work, and sleeps if there is none.

use std::time::Instant;

use crossbeam_utils::CachePadded;

use super::job::JobRef;
use super::pending::{Crumbs, Offers};
use super::policy::{LOOK_AROUND, SPINS_PER_LOOK};
use crate::context;
use crate::hooks::Hooks;
use crate::primitives::{Arc, Ordering, fence, hint};
use crate::sched::{Pool, Slot, WaitKind, Worker};

/// Lets some time pass between two looks.
fn spin() {
    (0..SPINS_PER_LOOK).for_each(|_| hint::spin_loop());
}

impl Worker {
    /// Helps others until `done`. Runs no tasks, because a task could delay the waiting thread; except between two jobs
    /// of its own, as at a spawn.
    #[cold]
    pub(crate) fn wait_for(&self, done: impl Fn() -> bool) {
        // What the joiner has entered, and the values of its task, are not meant for others' jobs.
        let _aside = context::set_aside();
        self.computation.enter_wait();
        let unknown = self.computation.pace.is_unknown(Instant::now(), self.pending.count());
        let (mut idle_since, mut slept) = (None, false);
        while !done() {
            if let Some(job) = self.next_job_of_wait() {
                let own = job.is_from(self.index());
                if own {
                    self.attend_to_spawned();
                } else {
                    self.attend_to_stolen();
                }
                self.slot().run_for(self.index(), || job.run(self));
                if own && !done() {
                    self.attend_between_jobs();
                }
                (idle_since, slept) = (None, false);
            } else if self.may_look_around(&mut idle_since) {
                spin();
            } else {
                // A scope that waits may be inside of joins.
                self.leave_to_others();
                self.sleep_joining(WaitKind::Join, &done, None);
                (idle_since, slept) = (None, true);
            }
        }
        self.computation.leave_wait();
        self.computation.pace.waited(Instant::now());
        if unknown {
            // As before the wait, whatever the jobs of others were like.
            self.pending.set_count(self.computation.pace.probe_anew());
        }
        // There may be jobs of scopes that we are not in, and the threads that wait for them must not wait for us. And a
        // worker that was woken for a job must not keep that to itself.
        let keeps_call = slept && self.could_steal();
        let is_for_others = self.pool.posted.is_for_any() || self.pool.has_idle();
        if (keeps_call || self.pending.has_spawned()) && is_for_others {
            self.pool.wake_thief();
        }
    }

    /// Called before a stolen job is run in a wait.
    fn attend_to_stolen(&self) {
        self.show_progress_of_wait();
        self.attend_to_spawned();
        self.pending.set_count(self.computation.pace.begin(Instant::now()));
    }

    fn may_look_around(&self, since: &mut Option<Instant>) -> bool {
        let now = Instant::now();
        self.pool.config.awake_to_spin > 0 && now - *since.get_or_insert(now) < LOOK_AROUND
    }

    /// Looks for the next job for a moment, after one has ended. There often is one, so a thief need not search each
    /// time.
    pub(crate) fn another_job(&self) -> Option<JobRef> {
        let stole = self.computation.thief.take_note();
        if !self.may_compute() {
            None
        } else if self.leaves_tasks() {
            self.await_job()
        } else if stole {
            self.look_around(|| self.pool.has_shared_work() || self.pool.has_root())
        } else {
            None
        }
    }

    /// Looks for a job, for a moment, unless there is something else to do.
    pub(super) fn look_around(&self, is_wanted: impl Fn() -> bool) -> Option<JobRef> {
        let mut since = None;
        loop {
            if let Some(job) = self.steal_job() {
                return Some(job);
            }
            if !self.may_look_around(&mut since) || is_wanted() {
                return None;
            }
            spin();
        }
    }

    /// Takes a job of this worker's own, or the offer of another worker.
    pub(crate) fn next_job(&self) -> Option<JobRef> {
        let keeps_out = self.is_guest() || self.leaves_jobs();
        let other = || if keeps_out { None } else { self.steal_job() };
        self.pending.pop_spawned(self.index()).or_else(other)
    }

    /// As [`next_job`](Self::next_job), in a wait. Posted jobs come last, except now and then: they may take longer than
    /// what the worker waits for, while the jobs of others are likely to be a part of that.
    fn next_job_of_wait(&self) -> Option<JobRef> {
        if let Some(job) = self.pending.pop_spawned(self.index()) {
            return Some(job);
        }
        if self.is_guest() || self.leaves_jobs() {
            return None;
        }
        if self.computation.thief.is_turn_of_posted() {
            return self.steal_job();
        }
        let job = self.take_posted_here().or_else(|| self.steal_forked());
        match job {
            Some(job) => self.keep_stolen(job),
            None => self.take_posted().and_then(|job| self.keep_stolen(job)),
        }
    }

    /// Takes what was posted, or else forked by others.
    pub(crate) fn steal_job(&self) -> Option<JobRef> {
        let job = self.take_posted().or_else(|| self.steal_forked())?;
        self.keep_stolen(job)
    }

    fn keep_stolen(&self, job: JobRef) -> Option<JobRef> {
        let job = self.keep_unless_reserved(job)?;
        self.slot().counters.steals.bump();
        Some(job)
    }

    /// Takes what another worker has spawned, or else offers: a join whose half is stolen makes a thread wait.
    fn steal_forked(&self) -> Option<JobRef> {
        if !self.computation.is_computing() && !self.pool.has_room() {
            return None;
        }
        let slots = self.pool.slots.len() + self.pool.guests.in_use().len();
        let start = self.steal_order.start(slots);
        let from_any = |steal: &dyn Fn(&Offers, usize) -> Option<JobRef>| {
            (start..slots)
                .chain(0..start)
                .filter(|&index| index != self.index())
                .find_map(|index| Some((steal(&self.pool.fork_slot(index).offers, index)?, index)))
        };
        // Watching one owner takes long enough: the next look begins with another.
        let thief = &self.computation.thief;
        let steal = |offers: &Offers, from| {
            let age = self.pool.config.offer_age;
            let stolen = if thief.has_left_crumbs() { Ok(None) } else { offers.steal(from, age) };
            stolen.unwrap_or_else(|Crumbs| {
                thief.leave_crumbs();
                None
            })
        };
        thief.begin_look();
        let spawned = from_any(&Offers::steal_spawned);
        let (job, victim) = spawned.or_else(|| from_any(&steal))?;
        self.observer.note_job_steal(victim);
        Some(job)
    }

    /// Called before a job is run, which may take long. If more jobs are shared than are being run, another worker is
    /// wanted: the worker that was woken for the first of them wakes the next. A single offer is left to the monitor.
    pub(super) fn wake_for_shared(&self) {
        if self.pool.posted.is_for_any() {
            return self.pool.wake_thief();
        }
        if !self.pool.has_idle() {
            return;
        }
        if self.pool.fork_slots().any(|slot| slot.offers.has_shared()) {
            self.pool.wake_thief();
        } else if self.pool.has_offer() {
            self.pool.monitor.hurry();
        }
    }

    /// Announces that it sleeps, looks once more, and sleeps until another thread wakes it or the time is up.
    pub(super) fn sleep_joining(
        &self,
        wait: WaitKind,
        done: &impl Fn() -> bool,
        deadline: Option<Instant>,
    ) {
        let slot = self.slot();
        let hooks = if self.is_guest() { &Hooks::default() } else { &self.pool.config.hooks };
        hooks.call_park();
        // Counted first: the thread that takes the announcement back counts it out again, and no other thread may miss
        // it meanwhile.
        if !self.is_guest() {
            self.pool.joiners.fetch_add(1, Ordering::Relaxed);
        }
        slot.status.announce(wait);
        // Partner of the fences of all threads that wake joiners: `latch_was_set` and `Pool::wake_thief` for what they
        // wait for, those in `Pool::push_root`, `Pool::close`, `Pool::left` and `dismiss_spare` for the rest.
        fence(Ordering::SeqCst);
        if (done() || self.could_steal()) && self.stop_joining() {
            hooks.call_unpark();
            return;
        }
        slot.counters.parks.bump();
        if !self.parker.park_until(deadline) && !self.stop_joining() {
            self.parker.park();
        }
        slot.counters.wakeups.bump();
        hooks.call_unpark();
    }

    /// Returns true if another worker offers a job, and this one would take it.
    fn could_steal(&self) -> bool {
        let posted = || self.pool.posted.is_for(self.index());
        !self.is_guest() && !self.leaves_jobs() && (self.look_for_offer() || posted())
    }

    /// Returns true if there is a job that this worker, about to sleep, would take. Crumbs do not count, because it
    /// would stay awake beside them. What follows them may be a long job whose owner has not seen us sleep, so the
    /// monitor looks soon.
    pub(crate) fn look_for_offer(&self) -> bool {
        if !self.computation.thief.has_left_crumbs() {
            return self.pool.has_offer_besides(self.index());
        }
        self.pool.monitor.hurry();
        self.pool.posted.is_for_any()
    }

    /// Takes the announcement back. Returns false if another thread was faster, and its token is on the way.
    fn stop_joining(&self) -> bool {
        let stops = self.slot().status.stop_waiting();
        if stops && !self.is_guest() {
            self.pool.joiners.fetch_sub(1, Ordering::Relaxed);
        }
        stops
    }

    /// Wakes the owner of a stolen job, worker `from`, when the job or the last one of its scope is done. The job's own
    /// memory may be gone by now.
    pub(super) fn latch_was_set(&self, from: usize) {
        // Partner of the fence in `sleep_joining`: either we see that it sleeps, or it sees the latch.
        fence(Ordering::SeqCst);
        self.pool.wake_joiner(from);
    }
}

impl Pool {
    /// Wakes a worker that sleeps in a join. Returns false if it does not sleep there.
    pub(crate) fn wake_joiner(&self, index: usize) -> bool {
        self.wake_waiter(index, WaitKind::Join)
    }

    /// Wakes a worker that waits for this beside the sleepers' stack. Returns false if it does not wait there.
    pub(super) fn wake_waiter(&self, index: usize, wait: WaitKind) -> bool {
        let slot = self.fork_slot(index);
        let waits = slot.status.take_waiter(wait);
        if waits {
            // Guests are not counted, because they are woken only for the end of what they wait for.
            if index < self.slots.len() {
                self.joiners.fetch_sub(1, Ordering::Relaxed);
            }
            slot.unparker.unpark();
        }
        waits
    }

    /// Returns false if no thread sleeps in a join, or between two jobs. A caller that must not miss one has passed a
    /// fence.
    pub(crate) fn has_joiners(&self) -> bool {
        self.joiners.load(Ordering::Relaxed) > 0
    }

    /// Returns true if a worker that could take an offer sleeps.
    pub(crate) fn has_idle(&self) -> bool {
        let sleeps = || self.sleepers.would_wake() && self.has_thief();
        (self.has_joiners() || sleeps()) && self.has_room()
    }

    /// Returns true if there is something to compute, and a worker for it.
    pub(crate) fn wants_thief(&self) -> bool {
        (self.has_root() || self.has_offer()) && self.has_thief()
    }

    /// Returns true if a worker that may compute is between two polls, or asleep.
    pub(crate) fn has_thief(&self) -> bool {
        self.computing_slots().iter().any(|slot| {
            slot.activity.is_present() && !slot.is_polling() && !slot.status.read().is_for_tasks()
        })
    }

    /// Wakes a thread to take a job: preferably a joiner, which can't do anything else, or else a worker. A joiner that
    /// has forked all there is to take is left asleep, because it would find nothing.
    pub(crate) fn wake_thief(&self) {
        // Partner of the fences in `sleep_joining` and `Worker::sleep`.
        fence(Ordering::SeqCst);
        if self.has_joiners() {
            let owner = self.owner_of_all();
            let slots = 0..self.computing_slots().len();
            if slots.filter(|&index| Some(index) != owner).any(|index| self.wake_joiner(index)) {
                return;
            }
        }
        self.wake_one();
    }

    /// Returns the worker that has forked all the jobs that can be taken at this moment, if it is a single one.
    fn owner_of_all(&self) -> Option<usize> {
        if self.posted.is_for_any() {
            return None;
        }
        let mut owners = self.fork_slots().enumerate().filter(|(_, slot)| !slot.offers.is_empty());
        let (owner, _) = owners.next()?;
        owners.next().is_none().then_some(owner)
    }

    /// Returns true if a worker offers a job, and there is room for a thread to run it.
    pub(crate) fn has_offer(&self) -> bool {
        let offers = || self.fork_slots().any(|slot| !slot.offers.is_empty());
        self.posted.is_for_any() || (offers() && self.has_room())
    }

    /// Like [`has_offer`](Self::has_offer), but for a job that worker `own` could steal. Its own offer is the join that
    /// it is inside of.
    pub(crate) fn has_offer_besides(&self, own: usize) -> bool {
        let offers = |(index, slot): (usize, &Arc<CachePadded<Slot>>)| {
            index != own && !slot.offers.is_empty()
        };
        self.posted.is_for_any() || (self.fork_slots().enumerate().any(offers) && self.has_room())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;

    use super::super::posted::NO_WORKER;
    use super::*;
    use crate::primitives::plain::{AtomicBool, Ordering as Plain};
    use crate::task::Origin;
    use crate::{scope_in_place, shutdown};

    /// A call of another thread was begun first, and the wait lasted for as long as that took.
    #[test]
    fn a_worker_that_waits_takes_what_was_forked_before_what_was_posted() {
        let pool = Pool::for_tests(2);
        let [owner, waiting] = [0, 1].map(|index| Worker::new(pool.clone(), index).unwrap());
        Pool::post_static(&pool, || ());
        context::enter_worker(&owner, || {
            scope_in_place(|s| {
                s.spawn(|_| ());
                let jobs = [(); 3].map(|()| waiting.next_job_of_wait());
                let from = jobs.each_ref().map(|job| job.as_ref().map(|job| job.from()));
                jobs.into_iter().flatten().for_each(|job| job.run(&waiting));
                assert_eq!(from, [Some(0), Some(NO_WORKER), None]);
            });
        });
        shutdown::begin(&pool);
        owner.run();
        assert!(pool.is_over());
    }

    /// Each job counted as progress, so the monitor took the worker to come to the task by itself.
    #[test]
    fn jobs_that_are_run_in_a_wait_are_no_progress_while_tasks_wait() {
        let pool = Pool::for_tests(2);
        let [owner, waiting] = [0, 1].map(|index| Worker::new(pool.clone(), index).unwrap());
        drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
        context::enter_worker(&owner, || {
            let done = AtomicBool::new(false);
            scope_in_place(|s| {
                s.spawn(|_| done.store(true, Plain::Relaxed));
                let before = waiting.slot().progress();
                context::enter_worker(&waiting, || waiting.wait_for(|| done.load(Plain::Relaxed)));
                assert_eq!(waiting.slot().progress(), before);
            });
        });
        shutdown::begin(&pool);
        owner.run();
        assert!(pool.is_over());
    }
}
