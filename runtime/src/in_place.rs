//! Blocking in the middle of a task.
//!
//! The worker steps out of its place during the call. Its queue is moved to the injector, and its slot is marked as
//! blocked, so that the monitor starts a spare as soon as a task waits that no other worker will run, rather than after
//! `stuck_after`. Meanwhile the thread does not count as a worker: tasks that it spawns go through the injector, and
//! `block_on` behaves as on any outside thread. `join` and `scope` still share their jobs from the worker's slot, but
//! poll no tasks in place: only a worker may run one.

use crate::companion;
use crate::context;
use crate::coop;
use crate::sched::{Interrupted, Worker};

/// Runs a closure that blocks on the current thread, in the middle of a task.
///
/// The worker's other tasks are handed over to other workers at once, and if all workers are blocked, a spare runs them
/// without delay. In the closure, [`block_on`](crate::block_on) is allowed.
///
/// The rest of the *same* task waits: other branches of a `select` or a `join` of futures do not continue before the
/// closure returns. [`spawn_blocking`](crate::spawn_blocking) does not have that effect. Prefer it, unless the closure
/// borrows or is not `Send`.
///
/// [`max_spares`](crate::Builder::max_spares) limits the number of workers that can be blocked at the same time without
/// holding up tasks. On other threads, and on that of a manual loop, `block_in_place` only calls the closure. Aborting
/// the task does not end the closure.
///
/// # Panics
///
/// Panics if the closure does.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let task = windlass::spawn(async {
///     let mut text = String::from("answer: ");
///     windlass::task::block_in_place(|| {
///         let number = windlass::block_on(async { 42 });
///         text.push_str(&number.to_string());
///     });
///     text
/// });
/// assert_eq!(task.await.unwrap(), "answer: 42");
/// # });
/// ```
pub fn block_in_place<F: FnOnce() -> R, R>(f: F) -> R {
    context::with_worker(|worker| {
        match worker.filter(|worker| !worker.pool().poller().is_manual()) {
            Some(worker) => step_out(worker, f),
            None => f(),
        }
    })
}

/// A worker that is out of its place.
struct Out<'a> {
    worker: &'a Worker,
    interrupted: Interrupted,
}

/// Takes a worker out of its place while `f` runs.
fn step_out<R>(worker: &Worker, f: impl FnOnce() -> R) -> R {
    let pool = worker.pool();
    // Before the activity changes, because what is shared belongs to the computation around the call.
    worker.leave_to_others();
    let _out = Out { worker, interrupted: worker.slot().activity.block() };
    worker.hand_over();
    if pool.has_shared_work() || pool.has_root() || pool.posted.is_for_any() {
        // The thread that pushed it may have found the monitor on, which would look only after a while.
        pool.monitor.hurry();
    }
    context::step_out(pool, || coop::uncounted(|| companion::block_in_place(pool, f)))
}

impl Drop for Out<'_> {
    fn drop(&mut self) {
        let slot = self.worker.slot();
        slot.activity.resume(self.interrupted);
        // The tick advances and stays odd, because the surrounding poll continues.
        slot.counters.tick.add(2);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::sched::Pool;
    use crate::shutdown;
    use crate::task::Origin;

    /// The poller's thread was kicked, and its monitor then slept for ever longer beside what waited.
    #[test]
    fn a_worker_that_blocks_beside_tasks_has_the_monitor_look_soon() {
        let pool = Pool::for_tests(1);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        let spawn = || drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
        (0..2).for_each(|_| spawn());
        context::enter_worker(&worker, || {
            block_in_place(|| {
                assert!(pool.monitor.looks_soon(), "for those that any worker may run")
            });
        });
        pool.monitor.settle();
        spawn();
        worker.push(pool.take_one().unwrap());
        assert!(!pool.monitor.looks_soon());
        let interrupted = worker.slot().activity.block();
        worker.hand_over();
        assert!(pool.monitor.looks_soon(), "for those that it hands over");
        worker.slot().activity.resume(interrupted);

        shutdown::begin(&pool);
        worker.run();
        assert!(pool.is_over());
    }
}
