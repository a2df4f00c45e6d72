//! Several threads fire timers at once: one at a time fires a shard, and no timer is forgotten.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Wake, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;
use windlass_loom_tests::{Flag, check};
use windlass_timer::model::{CLAIM_EXPIRY_NANOS, arm};
use windlass_timer::{Driver, NEVER, Timers};

/// A runtime that nobody drives, and the real time that passes in it.
#[derive(Clone, Default)]
struct Nobody(Arc<AtomicU64>);

impl Driver for Nobody {
    fn now(&self) -> u64 {
        0
    }

    fn real_now(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn wake_timekeeper(&self) {}
}

/// Logs its number when it is woken. Locking the log lets another thread run first. In a model, a batch is one timer.
struct Note(usize, Arc<Mutex<Vec<usize>>>);

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

fn fire(timers: &Timers, now: u64) -> usize {
    timers.fire(now, |wakers| wakers.drain(..).for_each(Waker::wake))
}

/// Arms `count` timers for the same time, and has two threads fire them. Before it fires, one of the
/// threads lets `passes` nanoseconds of real time pass; it fires at the time `now`. Returns the order in
/// which the timers were woken.
fn order(count: usize, now: u64, passes: u64) -> Vec<usize> {
    let driver = Nobody::default();
    let timers = Arc::new(Timers::new(0, Box::new(driver.clone())));
    let log = Arc::new(Mutex::new(Vec::new()));
    let armed: Vec<_> = (0..count)
        .map(|number| {
            let waker = Waker::from(Arc::new(Note(number, log.clone())));
            arm(timers.outside(0), 5, &waker)
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

/// Property: timers with equal deadlines are woken in the order of arming, even if several threads fire them.
///
/// Seen to fail with: a `FiringClaim::acquire` that always succeeds; a `Shard::take_due` that releases the claim with
/// the last batch, before that is woken.
#[test]
fn equal_deadlines_are_woken_in_the_order_of_arming() {
    check(3, || assert!(order(3, 10, 0).is_sorted()));
}

/// Property: moving a virtual time forward does not make a claim expire.
///
/// Seen to fail with: a `Shard::take_due` that uses the timers' time for that.
#[test]
fn moving_a_virtual_time_takes_over_no_claim() {
    check(3, || assert!(order(3, 10 + CLAIM_EXPIRY_NANOS, 0).is_sorted()));
}

/// Property: a thread whose claim was taken over, because it took too long, may wake its batch late. All other timers
/// are woken in order.
///
/// Seen to fail with: a `FiringClaim::is_current` that ignores the number.
#[test]
fn a_claim_that_was_taken_over_continues_in_order() {
    check(3, || {
        let mut order = order(4, 10, CLAIM_EXPIRY_NANOS);
        // At most one was in the hands of the first thread.
        let late = order.windows(2).position(|pair| pair[0] > pair[1]).map(|at| at + 1);
        if let Some(late) = late {
            order.remove(late);
        }
        assert!(order.is_sorted(), "{order:?} without one");
    });
}

/// A runtime whose time stands still at 20. It counts the wake-ups of its timekeeper, which waits for them.
#[derive(Clone)]
struct Wakeups(Arc<(Mutex<usize>, Condvar)>);

impl Wakeups {
    fn new() -> Self {
        Self(Arc::new((Mutex::new(0), Condvar::new())))
    }

    fn wait(&self) {
        let mut count = self.0.0.lock().unwrap();
        while *count == 0 {
            count = self.0.1.wait(count).unwrap();
        }
        *count -= 1;
    }
}

impl Driver for Wakeups {
    fn now(&self) -> u64 {
        20
    }

    fn wake_timekeeper(&self) {
        *self.0.0.lock().unwrap() += 1;
        self.0.1.notify_one();
    }
}

/// Property: a timekeeper that found the shard claimed is woken for a timer that is due before it looks again, however
/// long ago the shard was claimed.
///
/// Seen to fail with: a `recheck_later` that depends on the time of the firing alone.
#[test]
fn a_claim_only_postpones_the_published_time() {
    const MILLISECOND: u64 = 1_000_000;
    check(1, || {
        let timers = Timers::new(0, Box::new(Nobody::default()));
        let shard = timers.outside(0);
        let mut armed = vec![arm(shard, 5, Waker::noop()), arm(shard, 5, Waker::noop())];
        let mut batches = 0;
        timers.fire(10, |wakers| {
            wakers.clear();
            batches += 1;
            if batches == 1 {
                assert_eq!(fire(&timers, 10 + MILLISECOND), 0);
                let promise = timers.keep_time(NEVER);
                assert_eq!(promise, 10 + 2 * MILLISECOND);
            } else {
                let before = timers.wakes();
                armed.push(arm(shard, 15 * MILLISECOND / 10, Waker::noop()));
                assert_eq!(timers.wakes(), before + 1);
            }
        });
        assert_eq!(batches, 2);
    });
}

/// Wakes the timekeeper after another waker.
struct Then(Waker, Wakeups);

impl Wake for Then {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
        self.1.wake_timekeeper();
    }
}

/// Property: if a timer is armed while a thread that is not the timekeeper has claimed the shard, and is due after the
/// time at which that thread began, the timekeeper that found the shard claimed is woken.
///
/// Seen to fail with: a `Shard::fire` that does not notify the timekeeper of the deadline that it has published; a
/// `Shard::take_due` that releases the claim and leaves the published deadline as it is.
#[test]
fn a_timer_that_is_armed_during_a_claim_is_not_forgotten() {
    check(3, || {
        let wakeups = Wakeups::new();
        let timers = Arc::new(Timers::new(0, Box::new(wakeups.clone())));
        let (flag, waker) = Flag::new();
        let waker = Waker::from(Arc::new(Then(waker, wakeups.clone())));
        let first = arm(timers.outside(0), 5, Waker::noop());
        timers.wake_up();
        let firing = {
            let timers = timers.clone();
            thread::spawn(move || fire(&timers, 10))
        };
        let timekeeper = {
            let (timers, wakeups, flag) = (timers.clone(), wakeups.clone(), flag.clone());
            thread::spawn(move || {
                while !flag.is_set() {
                    if timers.keep_time(NEVER) > 20 {
                        wakeups.wait();
                    }
                    timers.wake_up();
                    fire(&timers, 20);
                }
            })
        };
        let second = arm(timers.outside(0), 15, &waker);
        firing.join().unwrap();
        timekeeper.join().unwrap();
        assert!(flag.is_set());
        drop((first, second));
    });
}
