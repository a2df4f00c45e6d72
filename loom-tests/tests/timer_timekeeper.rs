//! A deadline that is armed while the timekeeper falls asleep or wakes up is seen by it.
#![cfg(loom)]

use std::sync::Arc;
use std::task::{Wake, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;
use windlass_loom_tests::{Flag, check};
use windlass_runtime::model::Pool;
use windlass_timer::model::arm;
use windlass_timer::{Driver, NEVER, Timers};

/// A runtime whose time stands still at 10, with a bell for its timekeeper.
#[derive(Clone)]
struct Bell {
    rung: Arc<(Mutex<usize>, Condvar)>,
    /// Timers are armed by workers.
    on_worker: bool,
}

impl Bell {
    fn new(on_worker: bool) -> Self {
        Self { rung: Arc::new((Mutex::new(0), Condvar::new())), on_worker }
    }

    fn timers(&self) -> Arc<Timers> {
        Arc::new(Timers::new(1, Box::new(self.clone())))
    }

    /// Sleeps until it is rung.
    fn wait(&self) {
        let mut rung = self.rung.0.lock().unwrap();
        while *rung == 0 {
            rung = self.rung.1.wait(rung).unwrap();
        }
        *rung -= 1;
    }
}

impl Driver for Bell {
    fn now(&self) -> u64 {
        10
    }

    fn wake_timekeeper(&self) {
        *self.rung.0.lock().unwrap() += 1;
        self.rung.1.notify_one();
    }

    fn is_on_worker(&self) -> bool {
        self.on_worker
    }
}

/// Keeps the time until something is due, and fires it.
fn keep(timers: &Timers, bell: &Bell) {
    loop {
        if timers.keep_time(NEVER) <= 10 {
            timers.wake_up();
            timers.fire(10, |wakers| wakers.drain(..).for_each(Waker::wake));
            return;
        }
        bell.wait();
    }
}

/// Property: a timer that is armed while the timekeeper falls asleep fires.
///
/// Seen to fail with: no second look in `Timers::keep_time`; no fence in `Timekeeper::promise`, or none in `rely`;
/// a `Shard::enter` that relies on the timekeeper before it publishes the deadline.
#[test]
fn a_timer_reaches_a_timekeeper_that_falls_asleep() {
    check(3, || {
        let bell = Bell::new(false);
        let timers = bell.timers();
        let (flag, waker) = Flag::new();
        let keeper = {
            let (timers, bell) = (timers.clone(), bell.clone());
            thread::spawn(move || keep(&timers, &bell))
        };
        let timer = arm(timers.foreign(0), 5, &waker);
        keeper.join().unwrap();
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
        let bell = Bell::new(false);
        let timers = bell.timers();
        let (flag, waker) = Flag::new();
        let later = arm(timers.foreign(0), 1_000, Waker::noop());
        let keeper = {
            let (timers, bell) = (timers.clone(), bell.clone());
            thread::spawn(move || keep(&timers, &bell))
        };
        let timer = arm(timers.foreign(0), 5, &waker);
        keeper.join().unwrap();
        assert!(flag.is_set());
        drop((timer, later));
    });
}

/// Property: a timer that a worker arms without waking anybody reaches the timekeeper when the worker falls asleep,
/// also if the timekeeper does so at that moment.
///
/// Seen to fail with: an `entrust` that does nothing; no fence in `Timekeeper::promise`. (The worker's own fence is
/// that of its announcement.)
#[test]
fn a_worker_s_timer_is_entrusted_to_a_timekeeper_that_falls_asleep() {
    check(3, || {
        let bell = Bell::new(true);
        let timers = bell.timers();
        let (flag, waker) = Flag::new();
        let keeper = {
            let (timers, bell) = (timers.clone(), bell.clone());
            thread::spawn(move || keep(&timers, &bell))
        };
        let timer = arm(timers.worker(0), 5, &waker);
        loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        timers.entrust();
        keeper.join().unwrap();
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

/// Property: a worker that sits, or sits down, fires a timer that another thread arms.
///
/// Seen to fail with: `Seat::wait` that does not ask the timers how long it may wait; a `Driver` that
/// does not kick the seat.
#[test]
fn a_timer_of_another_thread_reaches_a_worker_that_sits() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let place = pool.occupy(0);
        let worker = thread::spawn(move || place.work());
        let waker = Waker::from(Arc::new(Close(pool.clone())));
        let timer = arm(pool.foreign_timers(), 0, &waker);
        worker.join().unwrap();
        assert!(pool.is_over());
        drop(timer);
    });
}

/// Property: a timer that another thread arms is fired, whether the worker sits, sits down or leaves meanwhile, and
/// whatever the poller's thread does.
#[test]
fn a_timer_is_fired_beside_the_poller_s_thread() {
    check(2, || {
        let pool = Pool::new(1, 0);
        pool.start_poller();
        let place = pool.occupy(0);
        let worker = thread::spawn(move || place.work());
        let waker = Waker::from(Arc::new(Close(pool.clone())));
        let timer = arm(pool.foreign_timers(), 0, &waker);
        worker.join().unwrap();
        assert!(pool.is_over());
        drop(timer);
    });
}
