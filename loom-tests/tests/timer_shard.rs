//! Firing, cancelling, resetting and polling a timer on different threads, and the end of the runtime.
#![cfg(loom)]

use std::sync::Arc;
use std::task::Waker;

use loom::thread;
use windlass_loom_tests::{Flag, check};
use windlass_timer::model::{ArmedTimer, Ended, Lock, arm};
use windlass_timer::{Driver, NEVER, Timers};

/// A runtime that nobody drives.
struct Nobody;

impl Driver for Nobody {
    fn now(&self) -> u64 {
        0
    }

    fn wake_timekeeper(&self) {}
}

fn timers() -> Arc<Timers> {
    Arc::new(Timers::new(0, Box::new(Nobody)))
}

fn fire(timers: &Timers, now: u64) -> usize {
    timers.fire(now, |wakers| wakers.drain(..).for_each(Waker::wake))
}

/// Property: a timer is either fired or cancelled, and a timer that was cancelled wakes nobody.
///
/// Seen to fail with: a `Wheel::remove` that returns the waker without unlinking the timer.
#[test]
fn fire_or_cancel() {
    check(3, || {
        let timers = timers();
        let (flag, waker) = Flag::new();
        let timer = arm(timers.outside(0), 5, &waker).unwrap();
        let firing = {
            let timers = timers.clone();
            thread::spawn(move || fire(&timers, 10))
        };
        let cancelled = timer.cancel();
        let fired = firing.join().unwrap() == 1;
        assert_ne!(fired, cancelled);
        assert_eq!(flag.is_set(), fired);
        assert!(timers.is_empty());
    });
}

/// Property: either a poll with a new waker sees that the timer has fired, or the new waker is woken.
///
/// Seen to fail with: an `ArmedTimer::poll` that is pending although the timer fired before the new waker was in place.
#[test]
fn fire_beside_a_poll_with_a_new_waker() {
    check(3, || {
        let timers = timers();
        let timer = arm(timers.outside(0), 5, Waker::noop()).unwrap();
        let firing = {
            let timers = timers.clone();
            thread::spawn(move || fire(&timers, 10))
        };
        let (flag, waker) = Flag::new();
        let outcome = timer.poll(&waker);
        firing.join().unwrap();
        match outcome {
            Ok(_) => assert!(flag.is_set(), "pending, and nobody woken"),
            Err(Ended::Fired) => assert!(!flag.is_set()),
            Err(Ended::Closed { .. }) => panic!("nobody has closed it"),
        }
    });
}

/// Property: a timer that is moved while it fires has either fired, or fires at the new time and wakes the new waker.
///
/// Seen to fail with: a `Shard::reset` that always succeeds.
#[test]
fn fire_beside_a_reset_and_a_new_waker() {
    check(3, || {
        let timers = timers();
        let timer = arm(timers.outside(0), 5, Waker::noop()).unwrap();
        let firing = {
            let timers = timers.clone();
            thread::spawn(move || fire(&timers, 10))
        };
        let (flag, waker) = Flag::new();
        let moved = timer.reset(20).map(|timer| timer.poll(&waker).expect("it was moved"));
        let fired = firing.join().unwrap() == 1;
        assert_eq!(moved.as_ref().err(), fired.then_some(&Ended::Fired));
        assert!(!flag.is_set(), "early");
        fire(&timers, 20);
        assert_eq!(flag.is_set(), !fired);
    });
}

/// Property: when the runtime ends, a timer that is being armed is either refused, or its waker is woken.
///
/// Seen to fail with: a `Shard::insert` that does not check whether the shard is closed.
#[test]
fn arming_beside_the_end_of_the_runtime() {
    check(3, || {
        let timers = timers();
        let closing = {
            let timers = timers.clone();
            thread::spawn(move || timers.close().into_iter().for_each(Waker::wake))
        };
        let (flag, waker) = Flag::new();
        let timer = arm(timers.outside(0), 5, &waker);
        closing.join().unwrap();
        match timer {
            None => assert!(!flag.is_set()),
            Some(timer) => {
                assert!(flag.is_set(), "armed, and never woken");
                assert!(matches!(timer.poll(&waker), Err(Ended::Closed { .. })));
            }
        }
        assert_eq!(timers.next(), NEVER);
    });
}

/// Has two threads leave a shard, each in its own way. The second has to free it, and nobody may touch it after that.
fn leave_twice(one: impl FnOnce(Held) + Send + 'static, two: impl FnOnce(Held)) {
    let timers = timers();
    let [first, second] = [5, 6].map(|time| arm(timers.outside(0), time, Waker::noop()));
    let held = |timer: Option<_>| Held { timers: timers.clone(), timer };
    let (first, second) = (held(first), held(second));
    drop(timers);
    let other = thread::spawn(move || one(first));
    two(second);
    other.join().unwrap();
}

/// A runtime's timers, and one of them.
struct Held {
    timers: Arc<Timers>,
    timer: Option<ArmedTimer>,
}

/// Property: the last holder frees the shard, whether it is the runtime, a timer that is cancelled, or a timer that
/// finds out that it has fired.
///
/// Seen to fail with: a `Shard::cancel`, or a `State::end`, that does not leave; a `State::leave` that returns true for
/// the last holder but one.
#[test]
fn the_last_holder_frees_the_shard() {
    check(3, || leave_twice(drop, drop));
    check(3, || {
        let poll = |held: Held| {
            let Held { timers, timer } = held;
            timers.close().into_iter().for_each(Waker::wake);
            drop(timers);
            assert!(matches!(timer.unwrap().poll(Waker::noop()), Err(Ended::Closed { .. })));
        };
        leave_twice(poll, poll);
    });
    check(3, || {
        leave_twice(drop, |Held { timers, timer }| {
            drop(timers);
            drop(timer);
        });
    });
}

/// Property: one thread at a time accesses the value behind the lock, and sees what the last one wrote.
///
/// Seen to fail with: a `Lock` that locks with Relaxed, or unlocks with Relaxed; a `Lock::wait` that does
/// not try to take the lock.
#[test]
fn the_lock_is_held_by_one_at_a_time() {
    check(4, || {
        let lock = Arc::new(Lock::new(0));
        let add = |lock: Arc<Lock<u32>>| {
            for _ in 0..2 {
                lock.with(|number| *number += 1);
            }
        };
        let other = {
            let lock = lock.clone();
            thread::spawn(move || add(lock))
        };
        add(lock.clone());
        other.join().unwrap();
        assert_eq!(lock.with(|number| *number), 4);
    });
}
