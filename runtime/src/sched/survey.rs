//! Looks at the slots of a pool: at those of all workers, or at a few in turn where all would be too many.
//!
//! Each slot is some cache lines that its worker writes all the time. A look at all of them takes microseconds where
//! there are many workers, so what happens often looks at no more of them than a constant number.

use crossbeam_utils::CachePadded;

use super::policy::{PUSHES_PER_SCAN, SLOTS_PER_GLANCE};
use super::pool::Pool;
use super::slot::Slot;
use crate::primitives::Arc;
use crate::primitives::plain::Ordering as Plain;

impl Pool {
    /// Returns the slots of the workers, and of the spares if there are any at this moment.
    pub(super) fn slots_in_use(&self) -> &[Arc<CachePadded<Slot>>] {
        // A thief that misses a spare finds it the next time. The spare answers for what is in its slot, and the monitor,
        // which has sent it, sees it.
        if self.spares_present.load(Plain::Relaxed) > 0 {
            &self.slots
        } else {
            &self.slots[..self.config.workers]
        }
    }

    /// Returns true if a worker has tasks in its own queue, which it may be kept from.
    pub(crate) fn has_kept_work(&self) -> bool {
        self.slots_in_use().iter().any(|slot| slot.has_work())
    }

    /// As [`has_kept_work`](Self::has_kept_work), of a few workers. With each `turn` they are the next ones, in a ring,
    /// and where there are few they are all.
    pub(crate) fn has_kept_work_near(&self, turn: usize) -> bool {
        self.slots_near(turn).any(|slot| slot.has_work())
    }

    fn slots_near(&self, turn: usize) -> impl Iterator<Item = &Arc<CachePadded<Slot>>> {
        let slots = self.slots_in_use();
        let start = turn.wrapping_mul(SLOTS_PER_GLANCE) % slots.len();
        let ring = slots[start..].iter().chain(&slots[..start]);
        ring.take(SLOTS_PER_GLANCE)
    }

    /// Has the monitor look soon if all workers are busy and may be so for long.
    pub(crate) fn hurry_if_busy(&self) {
        self.hurry_if_busy_near(|| None);
    }

    /// As [`hurry_if_busy`](Self::hurry_if_busy), after one push to the shared queues: most often looks at a few workers
    /// only.
    pub(super) fn hurry_if_busy_after_push(&self) {
        self.hurry_if_busy_near(|| self.turn_after_push());
    }

    fn hurry_if_busy_near(&self, turn: impl FnOnce() -> Option<usize>) {
        // Models leave the second question to `hurry`, which asks it again: for them it is most of what they explore.
        if self.sleepers.all_busy() && (cfg!(loom) || !self.monitor.looks_soon()) {
            // A computation may show no split point, and a worker that is blocked in place has said so: then a spare
            // must come soon. A manual loop has nobody but itself.
            let soon = |slot: &Arc<CachePadded<Slot>>| {
                slot.activity.is_computing() || slot.activity.is_blocked()
            };
            let any_soon = || match turn() {
                None => self.slots_in_use().iter().any(soon),
                Some(turn) => self.slots_near(turn).any(soon),
            };
            if self.poller().is_manual() || self.monitor.rests() || any_soon() {
                self.monitor.hurry();
            }
        }
    }

    /// Returns the turn of the workers to look at after a push to the shared queues. Returns `None` if all are worth a
    /// look: when the first task waits there, and now and then while more and more do.
    fn turn_after_push(&self) -> Option<usize> {
        if cfg!(loom) {
            // Few wait in a model, and the lengths are more to explore.
            return None;
        }
        let waiting = self.lane.len() + self.injector.len();
        (waiting > 1 && waiting % PUSHES_PER_SCAN != 0).then_some(waiting)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;
    use std::time::Instant;

    use super::*;
    use crate::sched::Monitor;
    use crate::sched::policy::MONITOR_REST;
    use crate::sched::worker::Worker;
    use crate::shutdown;
    use crate::task::Origin;

    fn spawn(pool: &Arc<Pool>) {
        drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
    }

    fn shut_down(pool: &Arc<Pool>, worker: Worker) {
        shutdown::begin(pool);
        worker.run();
        assert!(pool.is_over());
    }

    /// Each split point looked at all slots, those of spares that were not there included: 128 of them with 64 workers.
    #[test]
    fn a_computation_looks_at_a_few_workers_at_a_time_and_at_all_in_turn() {
        const WORKERS: usize = 64;
        let pool = Pool::for_tests_with(WORKERS, |config| config.spares = WORKERS);
        let worker = Worker::new(pool.clone(), 40).unwrap();
        spawn(&pool);
        worker.push(pool.take_one().unwrap());
        let rounds = WORKERS / SLOTS_PER_GLANCE;
        for round in 0..3 {
            let turns = round * rounds..(round + 1) * rounds;
            assert_eq!(turns.filter(|&turn| pool.has_kept_work_near(turn)).count(), 1);
        }
        shut_down(&pool, worker);

        let pool = Pool::for_tests(SLOTS_PER_GLANCE);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        assert!((0..3).all(|turn| !pool.has_kept_work_near(turn)));
        spawn(&pool);
        worker.push(pool.take_one().unwrap());
        assert!((0..3).all(|turn| pool.has_kept_work_near(turn)), "where there are few, at all");
        shut_down(&pool, worker);
    }

    /// With a thread of the program in the place of the first worker, as many threads were there as workers, and the
    /// only spare was not looked at.
    #[test]
    fn a_spare_is_seen_also_if_a_thread_of_the_program_is_a_worker() {
        let pool = Pool::for_tests_with(2, |config| config.spares = 1);
        pool.note_move_in(1);
        assert_eq!(pool.slots_in_use().len(), 2);
        pool.note_move_in(2);
        assert_eq!(pool.slots_in_use().len(), 3);
        pool.note_move_out(2);
        assert_eq!(pool.slots_in_use().len(), 2);
    }

    /// Each task from outside had its thread look at all workers, as long as they were busy.
    #[test]
    fn an_outside_thread_looks_at_a_few_busy_workers_at_a_time_and_at_all_now_and_then() {
        const WORKERS: usize = 64;
        let pool = Pool::for_tests(WORKERS);
        let worker = Worker::new(pool.clone(), 40).unwrap();
        spawn(&pool);
        assert!(!pool.monitor.looks_soon(), "nobody computes");
        worker.slot().activity.compute();
        let mut soon = Vec::new();
        for waiting in 2..=PUSHES_PER_SCAN {
            spawn(&pool);
            if pool.monitor.looks_soon() {
                soon.push(waiting);
                pool.monitor.settle();
            }
        }
        let in_turn = |turn| turn * SLOTS_PER_GLANCE % WORKERS == 40;
        let expected: Vec<_> =
            (2..=PUSHES_PER_SCAN).filter(|&n| n == PUSHES_PER_SCAN || in_turn(n)).collect();
        assert_eq!(soon, expected);
        worker.take_ready().into_iter().for_each(|runnable| worker.push(runnable));

        spawn(&pool);
        assert!(pool.monitor.looks_soon(), "the first task that waits");
        worker.slot().activity.end();
        shut_down(&pool, worker);
    }

    /// The next look was left to the monitor, which may have been at rest: a spare came 100 ms late.
    #[test]
    fn a_computation_that_began_after_the_first_push_is_seen_by_the_second() {
        let pool = Pool::for_tests(1);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        spawn(&pool);
        assert!(!pool.monitor.looks_soon(), "nobody computes");
        worker.slot().activity.compute();
        spawn(&pool);
        assert!(pool.monitor.looks_soon());
        worker.slot().activity.end();
        shut_down(&pool, worker);
    }

    /// Each of the two threads found the other's task, and left the look to it.
    #[test]
    fn one_of_two_threads_that_push_at_once_looks_at_the_workers() {
        let pool = Pool::for_tests(1);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        spawn(&pool);
        let first = pool.take_one().unwrap();
        spawn(&pool);
        let second = pool.take_one().unwrap();
        worker.slot().activity.compute();
        assert!(!pool.monitor.looks_soon());
        // It has yet to look.
        pool.injector.push(first);
        pool.push(second);
        assert!(pool.monitor.looks_soon());
        worker.slot().activity.end();
        shut_down(&pool, worker);
    }

    /// With nobody to be seen that computes, a task waited until the end of the rest.
    #[test]
    fn a_push_beside_busy_workers_ends_the_rest_of_the_monitor() {
        let pool = Pool::for_tests(1);
        pool.note_move_in(0);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        pool.monitor.switch_on();
        let mut now = Instant::now();
        let mut monitor = Monitor::new(&pool, now);
        while !pool.monitor.rests() {
            monitor.look(&pool, now);
            now += monitor.pause(&pool).expect("the worker is awake");
            assert!(monitor.pause(&pool) < Some(MONITOR_REST), "it rests");
        }
        spawn(&pool);
        assert!(pool.monitor.looks_soon());
        monitor.look(&pool, now);
        assert!(!pool.monitor.rests());
        shut_down(&pool, worker);
    }
}
