//! Fire, cancel, reset and poll of one timer on different threads; and the end of the runtime.
#![cfg(loom)]

use std::sync::Arc;
use std::task::Waker;

use loom::thread;
use windlass_loom_tests::{Flag, check};
use windlass_timer::model::{Outcome, Timer};
use windlass_timer::{Driver, NEVER, Timers};

/// A runtime that nobody drives.
struct Nobody;

impl Driver for Nobody {
    fn now(&self) -> u64 {
        0
    }

    fn ring(&self) {}
}

fn timers() -> Arc<Timers> {
    Arc::new(Timers::new(0, false, Box::new(Nobody)))
}

fn fire(timers: &Timers, now: u64) -> usize {
    let mut fired = Vec::new();
    timers.take_due(now, 0, &mut fired);
    let count = fired.len();
    fired.into_iter().for_each(Waker::wake);
    count
}

/// Property: a timer is fired or cancelled, and one that was cancelled wakes nobody.
///
/// Seen to fail with: a `Wheel::remove` that gives the waker without unlinking the timer.
#[test]
fn fire_or_cancel() {
    check(3, || {
        let timers = timers();
        let (flag, waker) = Flag::new();
        let timer = Timer::arm(timers.foreign(0), 5, waker).unwrap();
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

/// Property: a poll with a new waker sees that the timer has fired, or its waker is woken.
///
/// Seen to fail with: a `Shard::poll` that says pending though the timer fired before the new waker was in
/// place.
#[test]
fn fire_beside_a_poll_with_a_new_waker() {
    check(3, || {
        let timers = timers();
        let timer = Timer::arm(timers.foreign(0), 5, Waker::noop().clone()).unwrap();
        let firing = {
            let timers = timers.clone();
            thread::spawn(move || fire(&timers, 10))
        };
        let (flag, waker) = Flag::new();
        let outcome = timer.poll(&waker);
        firing.join().unwrap();
        match outcome {
            Outcome::Pending => assert!(flag.is_set(), "pending, and nobody woken"),
            Outcome::Fired => assert!(!flag.is_set()),
            Outcome::Closed => panic!("nobody has closed it"),
        }
    });
}

/// Property: a timer that is moved while it fires has either fired, or fires at the new time with the new
/// waker.
///
/// Seen to fail with: a `Shard::reset` that says pending whatever became of the timer.
#[test]
fn fire_beside_a_reset_and_a_new_waker() {
    check(3, || {
        let timers = timers();
        let timer = Timer::arm(timers.foreign(0), 5, Waker::noop().clone()).unwrap();
        let firing = {
            let timers = timers.clone();
            thread::spawn(move || fire(&timers, 10))
        };
        let (flag, waker) = Flag::new();
        let (moved, polled) = (timer.reset(20), timer.poll(&waker));
        let fired = firing.join().unwrap() == 1;
        assert_eq!(moved == Outcome::Fired, fired);
        assert_eq!(moved, polled);
        assert!(!flag.is_set(), "early");
        fire(&timers, 20);
        assert_eq!(flag.is_set(), !fired);
    });
}

/// Property: when the runtime goes, a timer that is being armed is refused, or its waker is among those
/// that are told.
///
/// Seen to fail with: a `Shard::arm` that does not look whether the shard is closed.
#[test]
fn arming_beside_the_end_of_the_runtime() {
    check(3, || {
        let timers = timers();
        let closing = {
            let timers = timers.clone();
            thread::spawn(move || timers.close().into_iter().for_each(Waker::wake))
        };
        let (flag, waker) = Flag::new();
        let timer = Timer::arm(timers.foreign(0), 5, waker.clone());
        closing.join().unwrap();
        match timer {
            None => assert!(!flag.is_set()),
            Some(timer) => {
                assert!(flag.is_set(), "armed, and never told");
                assert_eq!(timer.poll(&waker), Outcome::Closed);
            }
        }
        assert_eq!(timers.next(), NEVER);
    });
}
