//! A deadline that is armed while the keepers fall asleep, wake up or leave is seen by one of them.
#![cfg(loom)]

use std::sync::Arc;
use std::task::{Wake, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;
use windlass_loom_tests::{Flag, check};
use windlass_runtime::model::Pool;
use windlass_timer::model::arm;
use windlass_timer::{Driver, Keeper, NEVER, Timers};

/// A runtime whose time stands still at 10, with a bell to wait for.
#[derive(Clone)]
struct Bell(Arc<(Mutex<usize>, Condvar)>);

impl Bell {
    fn new() -> Self {
        Self(Arc::new((Mutex::new(0), Condvar::new())))
    }

    fn timers(&self, workers: usize, lenient: bool) -> Arc<Timers> {
        Arc::new(Timers::new(workers, lenient, Box::new(self.clone())))
    }

    /// Sleeps until it is rung.
    fn wait(&self) {
        let mut rung = self.0.0.lock().unwrap();
        while *rung == 0 {
            rung = self.0.1.wait(rung).unwrap();
        }
        *rung -= 1;
    }

    fn rung(&self) -> usize {
        *self.0.0.lock().unwrap()
    }
}

impl Driver for Bell {
    fn now(&self) -> u64 {
        10
    }

    fn ring(&self) {
        *self.0.0.lock().unwrap() += 1;
        self.0.1.notify_one();
    }
}

/// Sleeps as a keeper until something is due, and fires it.
fn keep(timers: &Timers, bell: &Bell, keeper: Keeper) {
    loop {
        let until = timers.fall_asleep(keeper, NEVER, false);
        if until <= 10 {
            timers.fire(10, 0, |wakers| wakers.drain(..).for_each(Waker::wake));
            return;
        }
        bell.wait();
        timers.wake_up(keeper);
    }
}

/// Property: a timer that is armed while a keeper falls asleep fires.
///
/// Seen to fail with: no second look in `Timers::fall_asleep`; no fence there, or none in `Vigil::rely`;
/// a `Shard::arm` that rings before it publishes the deadline.
#[test]
fn a_timer_reaches_a_keeper_that_falls_asleep() {
    check(3, || {
        let bell = Bell::new();
        let timers = bell.timers(0, false);
        let (flag, waker) = Flag::new();
        // It is awake, and relied on.
        timers.wake_up(Keeper::Thread);
        let keeper = {
            let (timers, bell) = (timers.clone(), bell.clone());
            thread::spawn(move || keep(&timers, &bell, Keeper::Thread))
        };
        let timer = arm(timers.foreign(0), 5, &waker);
        keeper.join().unwrap();
        assert!(flag.is_set());
        drop(timer);
    });
}

/// Property: an earlier timer reaches a keeper that sleeps, or is about to, until a later one.
///
/// Seen to fail with: as above.
#[test]
fn an_earlier_timer_reaches_a_keeper_that_sleeps_to_a_later_one() {
    check(3, || {
        let bell = Bell::new();
        let timers = bell.timers(0, false);
        let (flag, waker) = Flag::new();
        let later = arm(timers.foreign(0), 1_000, Waker::noop());
        timers.wake_up(Keeper::Seat);
        let keeper = {
            let (timers, bell) = (timers.clone(), bell.clone());
            thread::spawn(move || keep(&timers, &bell, Keeper::Seat))
        };
        let timer = arm(timers.foreign(0), 5, &waker);
        keeper.join().unwrap();
        assert!(flag.is_set());
        drop((timer, later));
    });
}

/// Property: of a timer that is armed while the worker in the seat leaves, the other keeper is told.
///
/// Seen to fail with: `Timers::leave` that looks at the deadlines before it takes its promise back; no
/// fence in `Timers::pass_on`.
#[test]
fn a_timer_is_not_left_to_a_keeper_that_leaves() {
    check(3, || {
        let bell = Bell::new();
        let timers = bell.timers(0, false);
        // The worker in the seat is awake, and would look before it sleeps.
        timers.wake_up(Keeper::Seat);
        let leaving = {
            let timers = timers.clone();
            thread::spawn(move || timers.leave(Keeper::Seat))
        };
        let timer = arm(timers.foreign(0), 5, Waker::noop());
        leaving.join().unwrap();
        assert!(bell.rung() > 0, "nobody looks");
        drop(timer);
    });
}

/// Property: a worker that armed a timer and counts on the thread on guard is not let down when the
/// thread gives up the guard because somebody sits.
///
/// Seen to fail with: `Timers::fall_asleep_idle` that only publishes its promise.
#[test]
fn a_timer_is_not_left_to_a_guard_that_is_given_up() {
    check(3, || {
        let bell = Bell::new();
        let timers = bell.timers(1, true);
        // Awake, on guard.
        timers.wake_up(Keeper::Thread);
        let giving_up = {
            let timers = timers.clone();
            thread::spawn(move || timers.fall_asleep_idle(Keeper::Thread, NEVER))
        };
        let timer = arm(timers.worker(0), 5, Waker::noop());
        giving_up.join().unwrap();
        assert!(bell.rung() > 0, "nobody looks");
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
/// Seen to fail with: `Seat::wait` that does not ask the timers how long it may wait; a `Ringer` that
/// always kicks the thread; `Bell::seated` set after the promise.
#[test]
fn a_timer_of_another_thread_reaches_a_worker_that_sits() {
    check(2, || {
        let pool = Pool::new(1, 0).with_sources();
        let place = pool.occupy(0);
        let worker = thread::spawn(move || place.work());
        let waker = Waker::from(Arc::new(Close(pool.clone())));
        let timer = arm(pool.foreign_timers(), 0, &waker);
        worker.join().unwrap();
        assert!(pool.is_over());
        drop(timer);
    });
}

/// Property: with nothing to wait for but timers, one that another thread arms is fired, whether the worker sits,
/// sits down, leaves or parks meanwhile.
#[test]
fn a_timer_is_fired_where_there_is_nothing_but_timers() {
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
