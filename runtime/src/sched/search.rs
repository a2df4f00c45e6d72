//! A worker without work: where it looks, how it falls asleep and how it is woken.
//!
//! The handshake with the threads that push is explained, with its proof, in this folder's `README.md`.

use std::time::Instant;

use super::policy::TIMELESS;
use super::sleepers::SleepPlace;
use super::steal;
use super::worker::Worker;
use crate::fork::JobRef;
use crate::poller::Seat;
use crate::primitives::{Ordering, fence};
use crate::task::Runnable;

/// The result of a search.
pub(super) enum Search {
    Found(Runnable),
    Job(JobRef),
    Leave,
}

impl Worker {
    /// Looks for work elsewhere; sleeps when there is none.
    pub(super) fn search(&self) -> Search {
        let pool = &*self.pool;
        if !TIMELESS {
            let now = Instant::now();
            self.measure_polls(now);
            self.observer.note_search(now, self.slot().polls_begun());
        }
        let mut searching = pool.sleepers.start_search(pool.config.searchers);
        loop {
            if searching {
                let leaves_tasks = self.leaves_tasks();
                let found = if leaves_tasks { self.look_for_job() } else { self.look_everywhere() };
                if let Some(found) = found {
                    self.found(searching);
                    return found;
                }
            }
            if self.may_leave() {
                self.found(searching);
                return Search::Leave;
            }
            if let Some(runnable) = self.before_park() {
                self.found(searching);
                return Search::Found(runnable);
            }
            self.sleep(searching);
            pool.config.hooks.call_unpark();
            // The thread that woke us has made us a searcher.
            searching = true;
            self.woken.set(true);
        }
    }

    /// Ends the search. Partner of the fence in `Pool::after_push`: either the pusher sees that nobody
    /// searches, or we see what it pushed.
    fn found(&self, searching: bool) {
        let pool = &*self.pool;
        if searching && pool.sleepers.stop_search() {
            fence(Ordering::SeqCst);
            if pool.has_shared_work() || pool.has_root() || pool.posted.is_for_any() {
                pool.wake_somebody();
            } else if pool.has_offer() {
                // The thread that made the job has left it to us. The monitor wakes a worker if that lasts.
                pool.monitor.hurry();
            }
        }
        let now = Instant::now();
        self.note_contention(now);
        self.pacing.begin(now);
        // The search may have brought a lot. Until now this worker counted as a searcher, so no other was woken.
        self.consider_waking();
        self.observer.note_find(now);
    }

    /// Looks once, and waits awake for a while if that has been paying.
    fn look_everywhere(&self) -> Option<Search> {
        self.look_once().or_else(|| {
            if !self.may_spin() {
                return None;
            }
            let may_compute = self.may_compute();
            self.spin.wait_for(|| self.has_reason_to_look(may_compute))?;
            self.begin_round(Instant::now());
            self.look_once()
        })
    }

    /// Returns true if there is a reason to end a spin. A timer is no reason to stay awake, because it is known when it
    /// is due.
    fn has_reason_to_look(&self, may_compute: bool) -> bool {
        let pool = &*self.pool;
        let computation = || may_compute && (pool.has_root() || pool.has_offer());
        pool.has_shared_work() || computation() || self.poll_events() || pool.is_closing()
    }

    fn may_spin(&self) -> bool {
        self.spin.pays()
            && self.pool.choices.spins()
            && self.pool.awake() <= self.pool.config.awake_to_spin
            && !self.pool.cpu_share.is_contended()
    }

    /// Looks at all queues, but not at the OS, because a worker that finds nothing is about to sleep there.
    fn look_once(&self) -> Option<Search> {
        self.take_own()
            .or_else(|| self.take_shared())
            .or_else(|| self.take_root())
            .or_else(|| steal::task(self))
            .map(Search::Found)
            .or_else(|| if self.may_compute() { self.next_job().map(Search::Job) } else { None })
    }

    /// Looks for fork-join work alone.
    fn look_for_job(&self) -> Option<Search> {
        let root = || self.take_root().map(Search::Found);
        self.next_job().map(Search::Job).or_else(root)
    }

    /// Calls the hook for a worker that is about to sleep. If the hook has spawned a task, returns it.
    fn before_park(&self) -> Option<Runnable> {
        let hooks = &self.pool.config.hooks;
        if !hooks.has_park() {
            return None;
        }
        hooks.call_park();
        let found = self.take_own();
        if found.is_some() {
            hooks.call_unpark();
        }
        found
    }

    /// Announces, looks once more, and sleeps, in the seat or parked.
    fn sleep(&self, searching: bool) {
        let pool = &*self.pool;
        let seat = pool.poller().take_seat();
        let place = if seat.is_some() { SleepPlace::Seat } else { SleepPlace::Parker };
        pool.sleepers.announce(self.index, place, searching);
        // Partner of the fence in `Pool::after_push`, and of many others: see `README.md`.
        fence(Ordering::SeqCst);
        self.look_once_more(place);
        self.slot().counters.parks.bump();
        let slept_from = self.observer.sleep_start();
        self.spin.measure_sleep(|| match seat {
            Some(seat) => self.sleep_in_seat(seat),
            None => {
                self.parker.park();
                self.woke_up();
                true
            }
        });
        if let Some(from) = slept_from {
            self.observer.slept(from);
        }
    }

    /// Notes that the worker is awake. It calls no waker before this, because a waker may block.
    fn woke_up(&self) {
        self.slot().counters.wakeups.bump();
        self.pool.monitor.switch_on();
    }

    /// Looks once more, after the announcement: whatever came before it is seen here, or its pusher sees us.
    fn look_once_more(&self, place: SleepPlace) {
        let pool = &*self.pool;
        let status = self.slot().status.read_own();
        if status.spare().is_some() {
            // A spare that was sent for us at the last moment is not needed. Partner of the fence in
            // `Monitor::relieve`.
            self.end_relief();
        }
        let may_compute = self.may_compute();
        if status.must_retire() || pool.is_over() || pool.posted.is_for(self.index) {
            // Another worker may be popped in our place, so all are woken: each sees it, and leaves.
            pool.wake_all();
        } else if pool.has_shared_work()
            || (may_compute && (pool.has_root() || self.look_for_offer()))
        {
            pool.wake_somebody();
        } else if !may_compute && pool.sleepers.sleeping() > 1 && pool.wants_thief() {
            // This spare may have been woken for what is not for it. Others lie below it on the stack.
            pool.wake_all();
        }
        if place == SleepPlace::Parker {
            if pool.nobody_looks() {
                // The thread that had the seat's lock has released it, and has not seen us sleep.
                pool.wake_one();
            }
            pool.poller().reclaim_seat();
            pool.poller().entrust_timers();
        }
    }

    /// Sleeps in the seat, until there are events or a timer is due, or until another thread wakes us. Returns false if
    /// the sleep was over only for timers.
    fn sleep_in_seat(&self, mut seat: Seat<'_>) -> bool {
        let mut popped = self.parker.take_token();
        while !popped && !seat.wait(None) {
            // A kick comes with a token, or because the next deadline has changed.
            popped = self.parker.take_token();
        }
        if !popped && !self.pool.sleepers.leave_seat(self.index) {
            // We are being popped at this very moment.
            self.parker.park();
            popped = true;
        }
        self.woke_up();
        let for_events = popped || seat.has_events();
        let events = seat.leave();
        self.observer.dispatched(events);
        self.begin_round(Instant::now());
        for_events
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::context;
    use crate::sched::pool::Pool;
    use crate::shutdown;
    use crate::task::Origin;

    /// A worker that spun saw neither computations nor jobs, and the thread that made them woke nobody, because
    /// somebody was awake and searching: they waited for the end of the spin.
    #[test]
    fn a_worker_that_spins_sees_computations_and_jobs() {
        let pool = Pool::for_tests(2);
        let (spinning, other) =
            (Worker::new(pool.clone(), 0).unwrap(), Worker::new(pool.clone(), 1).unwrap());
        let sees = |may_compute| spinning.has_reason_to_look(may_compute);
        assert!(!sees(true), "there is nothing");

        context::enter_worker(&other, || {
            crate::scope_in_place(|s| {
                s.spawn(|_| ());
                assert!(sees(true) && !sees(false), "a job that it could steal");
            });
        });
        assert!(!sees(true), "its owner has run it");

        drop(pool.spawn_root(async {}, Origin::new(Location::caller(), None)));
        assert!(sees(true) && !sees(false), "a computation");
        context::enter_worker(&spinning, || spinning.run_task(spinning.take_root().unwrap()));
        assert!(!sees(true), "it was taken");

        drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
        assert!(sees(true) && sees(false), "a task");

        shutdown::begin(&pool);
        assert!(sees(true) && sees(false), "the end");
        spinning.run();
        assert!(pool.is_over());
    }

    /// A worker that woke up in the seat with a crowd of events counted as one that searches, which is why no other was
    /// woken; and none was afterwards, until it next read the clock.
    #[test]
    fn a_worker_that_finds_a_long_backlog_wakes_a_second_one() {
        let pool = Pool::for_tests(2);
        for _ in 0..8 {
            drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
        }
        let worker = Worker::new(pool.clone(), 0).unwrap();
        let crowd = worker.take_ready();
        // As if events had brought it: together 80 µs, which is more than it costs to wake a worker.
        worker.slot().counters.poll_time.set(10_000);
        pool.sleepers.announce(1, SleepPlace::Parker, false);
        assert!(pool.sleepers.start_search(1));
        crowd.into_iter().for_each(|runnable| worker.push(runnable));
        assert_eq!(pool.sleepers.sleeping(), 1, "somebody searches");

        worker.found(true);
        assert_eq!(pool.sleepers.sleeping(), 0);
        assert!(pool.sleepers.stop_search(), "the second worker, as a searcher");

        shutdown::begin(&pool);
        worker.run();
        assert!(pool.is_over());
    }

    /// The thread that posted it saw a worker that searched, and woke none. The worker found a task,
    /// and had the monitor look, which did not see posted jobs. If the task blocked, the job waited for
    /// it beside a worker that slept.
    #[test]
    fn a_worker_that_finds_something_else_calls_another_for_a_posted_job() {
        let pool = Pool::for_tests(2);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        pool.sleepers.announce(1, SleepPlace::Seat, false);
        assert!(pool.sleepers.start_search(1));
        Pool::post_static(&pool, || ());
        assert_eq!(pool.sleepers.sleeping(), 1, "somebody searches");

        worker.found(true);
        assert_eq!(pool.sleepers.sleeping(), 0);
        assert!(pool.sleepers.stop_search(), "the other worker, as a searcher");

        shutdown::begin(&pool);
        worker.run();
        assert!(pool.is_over());
    }

    /// As above, of a second job, which waited for the first to end.
    #[test]
    fn a_worker_that_runs_a_posted_job_calls_another_for_the_next() {
        let pool = Pool::for_tests(2);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        pool.sleepers.announce(1, SleepPlace::Seat, false);
        assert!(pool.sleepers.start_search(1));
        let asleep = std::sync::Arc::new(std::sync::Mutex::new(None));
        for _ in 0..2 {
            let (asleep, sleepers) = (asleep.clone(), pool.clone());
            let note =
                move || _ = asleep.lock().unwrap().get_or_insert(sleepers.sleepers.sleeping());
            Pool::post_static(&pool, note);
        }
        assert!(pool.sleepers.stop_search());
        assert_eq!(pool.sleepers.sleeping(), 1, "somebody searched");

        context::enter_worker(&worker, || worker.run_job(worker.take_posted().unwrap()));
        assert_eq!(*asleep.lock().unwrap(), Some(0), "while the first was run");
        assert!(pool.sleepers.stop_search(), "the other worker, as a searcher");

        shutdown::begin(&pool);
        worker.run();
        assert!(pool.is_over());
    }

    /// A worker that was woken by a crowd of timers had a backlog at once. It was counted from before the sleep, and
    /// so it woke a second worker every time.
    #[test]
    fn a_backlog_is_counted_from_the_end_of_the_search_and_not_from_before_the_sleep() {
        /// Enough for the worker to consider waking another.
        const PUSHES: usize = 64;
        let pool = Pool::for_tests(2);
        for _ in 0..PUSHES {
            drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
        }
        let worker = Worker::new(pool.clone(), 0).unwrap();
        // Together 6 µs: less than it costs to wake a worker, but not next to nothing.
        worker.slot().counters.poll_time.set(100);
        let take_crowd = || {
            pool.sleepers.announce(1, SleepPlace::Parker, false);
            worker.pacing.pretend_long_backlog();
            worker.take_ready().into_iter()
        };

        take_crowd().for_each(|runnable| worker.push(runnable));
        assert_eq!(pool.sleepers.sleeping(), 0, "a backlog that lasts wakes a second worker");
        assert!(pool.sleepers.stop_search(), "as a searcher");

        let crowd = take_crowd();
        assert!(pool.sleepers.start_search(1));
        worker.found(true);
        crowd.for_each(|runnable| worker.push(runnable));
        assert_eq!(worker.queue.len(), PUSHES);
        assert_eq!(pool.sleepers.sleeping(), 1, "there was no backlog while it slept");

        shutdown::begin(&pool);
        worker.run();
        assert!(pool.is_over());
    }
}
