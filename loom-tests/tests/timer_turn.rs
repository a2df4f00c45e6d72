//! Several threads fire at once: one of them at a time, for each shard, and nothing is forgotten.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Wake, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;
use windlass_loom_tests::{Flag, check};
use windlass_timer::model::{PATIENCE, arm};
use windlass_timer::{Driver, NEVER, Timers};

/// A runtime that nobody drives, and the time that passes in it.
#[derive(Clone, Default)]
struct Nobody(Arc<AtomicU64>);

impl Driver for Nobody {
    fn now(&self) -> u64 {
        0
    }

    fn lasting(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn wake_timekeeper(&self) {}
}

/// Notes its number when it is woken; another thread may come first. In a model, a portion is one timer.
struct Note(usize, Arc<Mutex<Vec<usize>>>);

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

fn fire(timers: &Timers, now: u64) -> usize {
    timers.fire(now, |wakers| wakers.drain(..).for_each(Waker::wake))
}

/// Arms so many timers for one time, and has two threads fire them, one of which moves the time to `now` and has
/// it really pass for so long before. Gives the order in which they were woken.
fn order(count: usize, now: u64, passes: u64) -> Vec<usize> {
    let driver = Nobody::default();
    let timers = Arc::new(Timers::new(0, Box::new(driver.clone())));
    let log = Arc::new(Mutex::new(Vec::new()));
    let armed: Vec<_> = (0..count)
        .map(|number| {
            let waker = Waker::from(Arc::new(Note(number, log.clone())));
            arm(timers.foreign(0), 5, &waker)
        })
        .collect();
    let other = {
        let timers = timers.clone();
        thread::spawn(move || fire(&timers, 10))
    };
    driver.0.fetch_add(passes, Relaxed);
    let fired = fire(&timers, now) + other.join().unwrap();
    assert_eq!(fired, count, "fired by neither, or by both");
    assert!(timers.is_empty());
    assert_eq!(timers.next(), NEVER);
    drop(armed);
    log.lock().unwrap().clone()
}

/// Property: timers with equal deadlines are woken in the order of arming, however many fire them.
///
/// Seen to fail with: a `Turn::take` that gives it to everybody; a `Shard::take_due` that gives the turn back with
/// the last portion, before that is woken.
#[test]
fn equal_deadlines_are_woken_in_the_order_of_arming() {
    check(3, || assert!(order(3, 10, 0).is_sorted()));
}

/// Property: to move a virtual time is not to wait, and takes no turn over.
///
/// Seen to fail with: a `Shard::take_due` that goes by the timers' time for that.
#[test]
fn a_time_that_is_moved_takes_no_turn_over() {
    check(3, || assert!(order(3, 10 + PATIENCE, 0).is_sorted()));
}

/// Property: who is passed over, because it takes too long, may wake what it has in its hands late; all others
/// are woken, in their order.
///
/// Seen to fail with: a `Turn::is` that does not look at the number.
#[test]
fn who_takes_a_turn_over_goes_on_in_order() {
    check(3, || {
        let mut order = order(4, 10, PATIENCE);
        // One at the most was in the hands of the first.
        let late = order.windows(2).position(|pair| pair[0] > pair[1]).map(|at| at + 1);
        if let Some(late) = late {
            order.remove(late);
        }
        assert!(order.is_sorted(), "{order:?} without one");
    });
}

/// A runtime whose time stands still at 20, with a bell to wait for.
#[derive(Clone)]
struct Bell(Arc<(Mutex<usize>, Condvar)>);

impl Bell {
    fn new() -> Self {
        Self(Arc::new((Mutex::new(0), Condvar::new())))
    }

    fn wait(&self) {
        let mut rung = self.0.0.lock().unwrap();
        while *rung == 0 {
            rung = self.0.1.wait(rung).unwrap();
        }
        *rung -= 1;
    }
}

impl Driver for Bell {
    fn now(&self) -> u64 {
        20
    }

    fn wake_timekeeper(&self) {
        *self.0.0.lock().unwrap() += 1;
        self.0.1.notify_one();
    }
}

/// Property: a timekeeper that looked in vain, for the turn was taken, is told of a timer that is due before it looks
/// again, however long ago the turn was taken.
///
/// Seen to fail with: a `look_again` that goes by the time of the firing alone.
#[test]
fn a_turn_only_puts_off_what_was_published() {
    const MILLISECOND: u64 = 1_000_000;
    check(1, || {
        let timers = Timers::new(0, Box::new(Nobody::default()));
        let home = timers.foreign(0);
        let mut armed = vec![arm(home, 5, Waker::noop()), arm(home, 5, Waker::noop())];
        let mut portions = 0;
        timers.fire(10, |wakers| {
            wakers.clear();
            portions += 1;
            if portions == 1 {
                assert_eq!(fire(&timers, 10 + MILLISECOND), 0);
                let promise = timers.keep_time(NEVER);
                assert_eq!(promise, 10 + 2 * MILLISECOND);
            } else {
                let before = timers.wakes();
                armed.push(arm(home, 15 * MILLISECOND / 10, Waker::noop()));
                assert_eq!(timers.wakes(), before + 1);
            }
        });
        assert_eq!(portions, 2);
    });
}

/// Rings the bell after another waker.
struct Then(Waker, Bell);

impl Wake for Then {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
        self.1.wake_timekeeper();
    }
}

/// Property: if a timer is armed while a thread that is not the timekeeper has the turn, and is due after the time at which
/// that thread began, the timekeeper that has looked in vain is told.
///
/// Seen to fail with: a `Shard::fire` that does not rely on what it has published; a `Shard::take_due` that, giving
/// the turn back, leaves the published deadline as it is.
#[test]
fn a_timer_that_is_armed_during_a_turn_is_not_forgotten() {
    check(3, || {
        let bell = Bell::new();
        let timers = Arc::new(Timers::new(0, Box::new(bell.clone())));
        let (flag, waker) = Flag::new();
        let waker = Waker::from(Arc::new(Then(waker, bell.clone())));
        let first = arm(timers.foreign(0), 5, Waker::noop());
        timers.wake_up();
        let firing = {
            let timers = timers.clone();
            thread::spawn(move || fire(&timers, 10))
        };
        let keeper = {
            let (timers, bell, flag) = (timers.clone(), bell.clone(), flag.clone());
            thread::spawn(move || {
                while !flag.is_set() {
                    if timers.keep_time(NEVER) > 20 {
                        bell.wait();
                    }
                    timers.wake_up();
                    fire(&timers, 20);
                }
            })
        };
        let second = arm(timers.foreign(0), 15, &waker);
        firing.join().unwrap();
        keeper.join().unwrap();
        assert!(flag.is_set());
        drop((first, second));
    });
}
