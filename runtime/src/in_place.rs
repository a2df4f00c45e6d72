//! Code that blocks, in the middle of a task.
//!
//! The worker steps out of its place for the time of the call: its queue goes to where any worker takes from, and its slot
//! says that it is blocked, so that the watch sends a spare as soon as something waits that nobody else comes to, and
//! not only after `stuck_after`. The thread counts as none of the workers meanwhile: what it spawns goes through the
//! injector, and `block_on` and `join` are those of any thread that is no worker.

use crate::companion;
use crate::context;
use crate::coop;
use crate::primitives::plain::Ordering as Plain;
use crate::sched::Worker;

/// Runs a closure that blocks, on the current thread, in the middle of a task. The other tasks of the worker are handed
/// over at once, and if all workers are blocked, a spare comes for them without delay. Inside,
/// [`block_on`](crate::block_on) is allowed.
///
/// The rest of the *same* task waits: what is polled beside this in a `select` or a `join` of futures does not go on
/// before the closure returns. [`spawn_blocking`](crate::spawn_blocking) does not have that effect; this is for closures
/// that borrow, or are not `Send`.
///
/// How many workers can be blocked at the same time without holding up tasks is up to
/// [`max_spares`](crate::Builder::max_spares). On a thread that is no worker, and on that of a manual loop, it only calls
/// the closure. Aborting the task does not end the closure.
///
/// # Panics
///
/// If the closure does.
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
            Some(worker) => worker.step_out(f),
            None => f(),
        }
    })
}

/// A worker that is out of its place.
struct Out<'a> {
    worker: &'a Worker,
    computing: bool,
}

impl Worker {
    fn step_out<R>(&self, f: impl FnOnce() -> R) -> R {
        let pool = self.pool();
        let slot = self.slot();
        let _out = Out { worker: self, computing: slot.computing.swap(false, Plain::Relaxed) };
        slot.blocked.store(true, Plain::Relaxed);
        self.hand_over();
        if pool.has_shared_work() || pool.has_root() {
            // Whoever pushed that may have found the watch on, and looking in a while.
            pool.poller().kick();
        }
        context::step_out(pool, || coop::uncounted(|| companion::block_in_place(pool, f)))
    }
}

impl Drop for Out<'_> {
    fn drop(&mut self) {
        let slot = self.worker.slot();
        slot.blocked.store(false, Plain::Relaxed);
        slot.computing.store(self.computing, Plain::Relaxed);
        // Moves on, and stays odd: the poll around this goes on.
        slot.counters.tick.add(2);
    }
}
