//! `TaskTracker`: it is over when it is closed and empty, for all who wait, and keeps nothing.

mod util;

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use util::{AsyncGate, Count, poll_once, runtime, throw, wait_for};
use windlass::task::TaskTracker;

#[test]
fn the_wait_is_over_when_it_is_closed_and_empty_and_not_before() {
    let tracker = TaskTracker::new();
    let mut wait = pin!(tracker.wait());
    assert!(poll_once(&mut wait).is_pending(), "it is open");
    let (first, second) = (tracker.token(), tracker.token());
    assert!(tracker.close());
    assert!(!tracker.close());
    assert!(poll_once(&mut wait).is_pending(), "it is not empty");
    assert_eq!(tracker.len(), 2);
    drop(first);
    assert!(poll_once(&mut wait).is_pending());
    drop(second);
    assert!(tracker.is_empty() && tracker.is_closed());
    assert!(poll_once(&mut wait).is_ready());
    assert!(poll_once(&mut pin!(tracker.wait())).is_ready());
    assert!(tracker.reopen());
    assert!(!tracker.reopen());
    assert!(poll_once(&mut pin!(tracker.wait())).is_pending());
}

#[test]
fn a_moment_is_enough_for_those_who_wait() {
    let tracker = TaskTracker::new();
    let token = tracker.token();
    let mut wait = pin!(tracker.wait());
    tracker.close();
    assert!(poll_once(&mut wait).is_pending());
    drop(token);
    let _next = tracker.token();
    assert!(poll_once(&mut wait).is_ready());
    assert!(poll_once(&mut pin!(tracker.wait())).is_pending(), "not for those who come later");
}

#[test]
fn tasks_count_however_they_end() {
    let runtime = runtime(2);
    let tracker = TaskTracker::new();
    let gate = AsyncGate::new();
    for number in 0..20 {
        let gate = gate.clone();
        let task = async move {
            gate.wait().await;
            if number % 2 == 0 {
                throw("tracked");
            }
        };
        drop(tracker.spawn_on(task, runtime.handle()));
    }
    let aborted = tracker.spawn_on(pending::<()>(), runtime.handle());
    let _entered = runtime.enter();
    drop(tracker.spawn_blocking(|| ()));
    drop(tracker.spawn(async {}));
    // A future that is never polled.
    drop(tracker.track_future(pending::<()>()));
    tracker.close();
    gate.open();
    aborted.abort();
    wait_for(tracker.wait());
    assert_eq!(tracker.len(), 0);
}

#[test]
fn all_who_wait_are_woken_and_those_who_gave_up_are_forgotten() {
    let runtime = runtime(2);
    for _ in 0..100 {
        let (tracker, woken) = (TaskTracker::new(), Count::new());
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let (tracker, woken) = (tracker.clone(), woken.clone());
                runtime.spawn(async move {
                    tracker.wait().await;
                    woken.add();
                })
            })
            .collect();
        {
            let mut gives_up = pin!(tracker.wait());
            assert!(poll_once(&mut gives_up).is_pending());
        }
        for _ in 0..8 {
            drop(tracker.spawn_on(async {}, runtime.handle()));
        }
        tracker.close();
        waiting.into_iter().for_each(|task| wait_for(task).unwrap());
        assert_eq!(woken.get(), 4);
    }
}

/// Counts, or panics.
enum Woken {
    Counted(Count),
    Throws,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        match &*self {
            Self::Counted(count) => _ = count.add(),
            Self::Throws => throw("in a waker"),
        }
    }
}

/// Those behind it in the list were dropped with it, and waited for ever.
#[test]
fn a_waker_that_panics_keeps_nobody_else_waiting() {
    let (tracker, woken) = (TaskTracker::new(), Count::new());
    let token = tracker.token();
    let (mut bad, mut good) = (pin!(tracker.wait()), pin!(tracker.wait()));
    let throws = Waker::from(Arc::new(Woken::Throws));
    let counts = Waker::from(Arc::new(Woken::Counted(woken.clone())));
    assert!(bad.as_mut().poll(&mut Context::from_waker(&throws)).is_pending());
    assert!(good.as_mut().poll(&mut Context::from_waker(&counts)).is_pending());
    tracker.close();
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(token)));
    assert_eq!(woken.get(), 1);
    assert!(poll_once(&mut good).is_ready());
}
