//! A worker without work: where it looks, how it falls asleep and how it is called back.
//!
//! The handshake with those who push is explained, with its proof, in this folder's `README.md`.

use std::time::Instant;

use super::slot::{LONG_POLL, Slot};
use super::worker::Worker;
use crate::fork::JobRef;
use crate::poller::Seat;
use crate::primitives::{Ordering, fence, hint};
use crate::task::Runnable;

/// Turns of a spin, some microseconds, that a thief gives the owner of what it is after.
const PATIENCE: u32 = if cfg!(loom) { 0 } else { 128 };

/// A backlog of less, in nanoseconds, is left to its owner.
const LITTLE: u64 = 5_000;

/// What a search came to.
pub(super) enum Search {
    Found(Runnable),
    Job(JobRef),
    Leave,
}

impl Worker {
    /// Looks for work elsewhere; sleeps when there is none.
    pub(super) fn search(&self) -> Search {
        let pool = &*self.pool;
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
            pool.config.hooks.unparks();
            // Whoever woke us has made us a searcher.
            searching = true;
            self.called.set(true);
        }
    }

    /// Ends the search. Partner of the fence in `Pool::after_push`: either the pusher sees that nobody
    /// searches, or we see what it pushed.
    fn found(&self, searching: bool) {
        let pool = &*self.pool;
        if searching && pool.sleepers.stop_search() {
            fence(Ordering::SeqCst);
            if pool.has_shared_work() || pool.has_root() {
                pool.call_somebody();
            } else if pool.has_offer() {
                // Whoever made the job has left it to us. The watch wakes somebody if that lasts.
                pool.watch_over_kept();
            }
        }
        self.watch_over_kept();
        // What was found may take long: from here on the clock counts afresh.
        let now = Instant::now();
        self.clock.set(now);
        self.last_look_out.set(now);
        // And there was no backlog until now.
        self.busy_since.set(now);
        self.until_clock.set(self.polls_per_clock.get());
    }

    /// Looks once and, if nobody else is awake who would look, keeps its eyes open for a while.
    fn look_everywhere(&self) -> Option<Search> {
        let neglected = self.pool.poller().is_neglected();
        let alone = neglected || !self.pool.get_on(1);
        // Who is to look for the others does not leave it to its sleep.
        let looks = neglected || (alone && self.spin.looks_first());
        self.look_once(looks).or_else(|| {
            if !alone || self.pool.awake() > self.pool.config.awake_to_spin {
                return None;
            }
            // A timer is no reason to stay awake: when it is due is known. Nor is the runtime's end.
            let pool = &*self.pool;
            let may_compute = self.may_compute();
            let computation = || may_compute && (pool.has_root() || pool.has_offer());
            let enough = || {
                pool.has_shared_work()
                    || computation()
                    || self.harvest_events()
                    || pool.is_closing()
            };
            self.spin.wait_for(enough)?;
            self.begin_round(Instant::now());
            self.look_once(alone)
        })
    }

    /// With `looks`, the OS is ours to look at. Otherwise we are about to sleep there; or a worker is awake that does it when it
    /// runs dry, and takes what it finds in one go: two that snatch single events from each other get
    /// less done.
    fn look_once(&self, looks: bool) -> Option<Search> {
        self.take_own()
            .or_else(|| self.take_shared())
            .or_else(|| self.take_root())
            .or_else(|| if looks { self.take_harvest() } else { None })
            .or_else(|| self.steal_task())
            .map(Search::Found)
            .or_else(|| if self.may_compute() { self.next_job().map(Search::Job) } else { None })
    }

    /// Looks at the OS.
    fn take_harvest(&self) -> Option<Runnable> {
        let found = self.harvest();
        self.spin.looked(found);
        if !found {
            return None;
        }
        self.begin_round(Instant::now());
        self.take_own()
    }

    /// Looks for fork-join work alone.
    fn look_for_job(&self) -> Option<Search> {
        let root = || self.take_root().map(Search::Found);
        self.next_job().map(Search::Job).or_else(root)
    }

    /// Takes tasks that lie with other workers.
    pub(crate) fn steal_task(&self) -> Option<Runnable> {
        self.steal(|victim| self.take_from_backlog(victim)).or_else(|| self.steal(take_from_stuck))
    }

    /// Takes half of a worker's queue, if that is worth the trouble: what its owner will have done in
    /// a moment is better left to it.
    fn take_from_backlog(&self, victim: &Slot) -> Option<Runnable> {
        // One task is no backlog of a worker between two polls, who is about to take it.
        let at_once = victim.stealer.len() == 1 && !victim.is_polling();
        if victim.stealer.is_empty() || ((at_once || victim.backlog() < LITTLE) && gets_on(victim))
        {
            return None;
        }
        let stolen = victim.stealer.steal_into(&self.queue)?;
        // Who takes over long polls is not to be counted on from the first of them.
        let poll_time = victim.counters.poll_time.get();
        if poll_time >= LONG_POLL {
            self.slot().counters.poll_time.set(poll_time);
        }
        Some(stolen)
    }

    /// Tries every other slot once, from a random one on.
    fn steal(&self, take: impl Fn(&Slot) -> Option<Runnable>) -> Option<Runnable> {
        let slots = &self.pool.slots;
        let start = self.next_random() as usize % slots.len();
        let (after, before) = (&slots[start..], &slots[..start]);
        let stolen = after
            .iter()
            .chain(before)
            .filter(|slot| !std::ptr::eq(&****slot, self.slot()))
            .find_map(|slot| take(slot))?;
        self.slot().counters.steals.bump();
        Some(stolen)
    }

    pub(crate) fn next_random(&self) -> u32 {
        // xorshift: good enough to spread thieves.
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.random.set(x);
        x
    }

    /// Announces, looks once more, and sleeps: parked, or in the seat on the OS. The look after the
    /// fence is the partner of the one in `Pool::after_push`.
    fn sleep(&self, searching: bool) {
        let pool = &*self.pool;
        pool.sleepers.announce(self.index, searching);
        fence(Ordering::SeqCst);
        // A spare that was sent for us at the last moment is not needed. Partner of the fence in
        // `Watcher::relieve`.
        self.end_relief();
        if self.may_leave() || pool.posted.is_for(self.index) {
            // It may be somebody else who is popped: all come, all see it, all leave.
            pool.wake_all();
        } else if pool.has_shared_work()
            || (self.may_compute() && (pool.has_root() || pool.has_offer_besides(self.index)))
        {
            pool.call_somebody();
        } else if !self.may_compute() && pool.sleepers.sleeping() > 1 && pool.wants_thief() {
            // This spare may have been called for what is not for it. Others lie below it on the stack.
            pool.wake_all();
        }
        let counters = &self.slot().counters;
        counters.parks.bump();
        self.spin.measure_sleep(|| {
            // As long as a worker gets on, it looks at the OS, and the poller stands guard over it.
            let relied_on = pool.poller().is_on_guard() && pool.get_on(0);
            let seat = if relied_on { None } else { pool.poller().seat() };
            match seat {
                Some(seat) => self.sit(seat),
                None => {
                    if !relied_on {
                        pool.poller().do_without_seat();
                    }
                    pool.poller().entrust_timers(relied_on);
                    self.parker.park();
                    true
                }
            }
        });
        counters.wakeups.bump();
    }

    /// Sleeps on the OS: what a parked worker learns from the poller, by way of another thread, this
    /// one learns at first hand. False if it was for timers only.
    fn sit(&self, mut seat: Seat<'_>) -> bool {
        let pool = &*self.pool;
        let slot = self.slot();
        slot.seated.store(true, Ordering::Relaxed);
        // Partner of the fence in `Pool::wake`.
        fence(Ordering::SeqCst);
        let (mut token, mut events) = (self.parker.take_token(), 0);
        while !token && events == 0 {
            events = seat.wait();
            token = self.parker.take_token();
        }
        slot.seated.store(false, Ordering::Relaxed);
        if !token {
            // Nobody has called us: off the stack, as whoever is on top of it. Nearly always that is
            // us, the last to fall asleep.
            match pool.sleepers.pop_any() {
                Some(index) if index == self.index => {}
                Some(other) => {
                    pool.wake(other);
                    seat.leave();
                    self.hand_over();
                    self.parker.park();
                    return true;
                }
                // We are being called at this very moment.
                None => self.parker.park(),
            }
        }
        let for_events = token || seat.has_events();
        seat.leave();
        self.begin_round(Instant::now());
        for_events
    }
}

/// Takes the task in a worker's LIFO slot, if the worker does not come to it: one that gets on is
/// about to run it, with its cache warm.
fn take_from_stuck(victim: &Slot) -> Option<Runnable> {
    if victim.lifo.is_empty() || gets_on(victim) { None } else { victim.lifo.take() }
}

/// Watches a worker for some microseconds; true if its tick moves.
fn gets_on(worker: &Slot) -> bool {
    let before = worker.progress();
    (0..PATIENCE).any(|_| {
        hint::spin_loop();
        worker.progress() != before
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;
    use std::time::Duration;

    use super::*;
    use crate::sched::pool::Pool;
    use crate::shutdown;
    use crate::task::Origin;

    /// A worker that was woken by a crowd of timers had a backlog at once. It was counted from before the sleep, and
    /// so it woke a second worker every time.
    #[test]
    fn a_backlog_is_counted_from_the_end_of_the_search_and_not_from_before_the_sleep() {
        /// Enough for the worker to consider waking somebody.
        const PUSHES: usize = 64;
        let pool = Pool::for_tests(2);
        for _ in 0..PUSHES {
            drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
        }
        let worker = Worker::new(pool.clone(), 0).unwrap();
        // Together 6 µs: less than it costs to wake somebody, but not next to nothing.
        worker.slot().counters.poll_time.set(100);
        let long_ago = worker.clock.get().checked_sub(Duration::from_millis(1)).unwrap();
        let take_crowd = || {
            pool.sleepers.announce(1, false);
            worker.busy_since.set(long_ago);
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

    #[test]
    fn who_is_called_because_nobody_looks_at_the_os_does_not_leave_it_to_its_sleep() {
        let pool = Pool::for_tests(1);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        worker.spin.looked(false);
        // Without sources there is nothing to look at, and it must not be told so for ever.
        for sources in [1, 0] {
            pool.poller().neglect(sources);
            assert!(worker.look_everywhere().is_none(), "there is nothing");
            assert!(!pool.poller().is_neglected(), "it has looked");
        }
    }
}
