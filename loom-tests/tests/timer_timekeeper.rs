//! The timekeeper sees a deadline that is armed while it falls asleep or wakes up.
#![cfg(loom)]

use std::sync::Arc;
use std::task::{Wake, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;
use windlass_loom_tests::{Flag, check};
use windlass_runtime::model::Pool;
use windlass_timer::model::arm;
use windlass_timer::{Driver, NEVER, Timers};

/// A runtime whose time stands still at 10. It counts the wake-ups of its timekeeper, which waits for them.
#[derive(Clone)]
struct Wakeups {
    count: Arc<(Mutex<usize>, Condvar)>,
    /// Whether timers are armed by workers.
    on_worker: bool,
}

impl Wakeups {
    fn new(on_worker: bool) -> Self {
        Self { count: Arc::new((Mutex::new(0), Condvar::new())), on_worker }
    }

    fn timers(&self) -> Arc<Timers> {
        Arc::new(Timers::new(1, Box::new(self.clone())))
    }

    /// Sleeps until the timekeeper is woken.
    fn wait(&self) {
        let mut count = self.count.0.lock().unwrap();
        while *count == 0 {
            count = self.count.1.wait(count).unwrap();
        }
        *count -= 1;
    }
}

impl Driver for Wakeups {
    fn now(&self) -> u64 {
        10
    }

    fn wake_timekeeper(&self) {
        *self.count.0.lock().unwrap() += 1;
        self.count.1.notify_one();
    }

    fn is_on_worker(&self) -> bool {
        self.on_worker
    }
}

/// Is the timekeeper until a timer is due, and fires it.
fn keep(timers: &Timers, wakeups: &Wakeups) {
    loop {
        if timers.keep_time(NEVER) <= 10 {
            timers.wake_up();
            timers.fire(10, |wakers| wakers.drain(..).for_each(Waker::wake));
            return;
        }
        wakeups.wait();
    }
}

/// Property: a timer that is armed while the timekeeper falls asleep fires.
///
/// Seen to fail with: no second look in `Timers::keep_time`; no fence in `Timekeeper::promise`, or none in `notify`; a
/// `Shard::insert` that notifies the timekeeper before it publishes the deadline.
#[test]
fn a_timer_reaches_a_timekeeper_that_falls_asleep() {
    check(3, || {
        let wakeups = Wakeups::new(false);
        let timers = wakeups.timers();
        let (flag, waker) = Flag::new();
        let timekeeper = {
            let (timers, wakeups) = (timers.clone(), wakeups.clone());
            thread::spawn(move || keep(&timers, &wakeups))
        };
        let timer = arm(timers.outside(0), 5, &waker);
        timekeeper.join().unwrap();
        assert!(flag.is_set());
        drop(timer);
    });
}

/// Property: an earlier timer reaches a timekeeper that sleeps, or is about to, until a later one.
///
/// Seen to fail with: as above.
#[test]
fn an_earlier_timer_reaches_a_timekeeper_that_sleeps_to_a_later_one() {
    check(3, || {
        let wakeups = Wakeups::new(false);
        let timers = wakeups.timers();
        let (flag, waker) = Flag::new();
        let later = arm(timers.outside(0), 1_000, Waker::noop());
        let timekeeper = {
            let (timers, wakeups) = (timers.clone(), wakeups.clone());
            thread::spawn(move || keep(&timers, &wakeups))
        };
        let timer = arm(timers.outside(0), 5, &waker);
        timekeeper.join().unwrap();
        assert!(flag.is_set());
        drop((timer, later));
    });
}

/// Property: a timer that a worker arms without waking another thread reaches the timekeeper when the worker falls
/// asleep, even if the timekeeper does so at the same time.
///
/// Seen to fail with: an `entrust` that does nothing; no fence in `Timekeeper::promise`. (The worker's own fence is
/// that of its announcement.)
#[test]
fn a_worker_s_timer_is_entrusted_to_a_timekeeper_that_falls_asleep() {
    check(3, || {
        let wakeups = Wakeups::new(true);
        let timers = wakeups.timers();
        let (flag, waker) = Flag::new();
        let timekeeper = {
            let (timers, wakeups) = (timers.clone(), wakeups.clone());
            thread::spawn(move || keep(&timers, &wakeups))
        };
        let timer = arm(timers.worker(0), 5, &waker);
        loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        timers.entrust();
        timekeeper.join().unwrap();
        assert!(flag.is_set());
        drop(timer);
    });
}

/// Closes the pool when it is woken.
struct Close(Pool);

impl Wake for Close {
    fn wake(self: Arc<Self>) {
        self.0.close();
    }
}

/// Property: a worker that is in the seat, or takes it, fires a timer that another thread arms.
///
/// Seen to fail with: `Seat::wait` that does not ask the timers how long it may wait; a `Driver` that
/// does not kick the seat.
#[test]
fn a_timer_of_another_thread_reaches_a_worker_in_the_seat() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let waker = Waker::from(Arc::new(Close(pool.clone())));
        let timer = arm(pool.outside_timers(), 0, &waker);
        worker.join().unwrap();
        assert!(pool.is_over());
        drop(timer);
    });
}

/// Property: a timer that another thread arms is fired, whether the worker is in the seat, takes it or leaves it
/// meanwhile, and whatever the poller's thread does.
#[test]
fn a_timer_is_fired_beside_the_poller_s_thread() {
    check(2, || {
        let pool = Pool::new(1, 0);
        pool.start_poller();
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let waker = Waker::from(Arc::new(Close(pool.clone())));
        let timer = arm(pool.outside_timers(), 0, &waker);
        worker.join().unwrap();
        assert!(pool.is_over());
        drop(timer);
    });
}

/// Property: a timer that a spare arms in its last poll is fired by the worker that sleeps in the seat, or takes it
/// meanwhile.
///
/// Seen to fail with: a `note_move_out` that does not entrust the timers; no fence in it.
#[test]
fn a_spare_arms_a_timer_and_leaves() {
    check(2, || {
        let pool = Pool::new(1, 1);
        let (spare, slot) = (pool.occupy(1), pool.occupy(0));
        let worker = thread::spawn(move || slot.work());
        let waker = Waker::from(Arc::new(Close(pool.clone())));
        let timer = spare.poll_and_leave(|| arm(pool.worker_timers(1), 0, &waker));
        worker.join().unwrap();
        assert!(pool.is_over());
        drop(timer);
    });
}
