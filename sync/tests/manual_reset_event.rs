//! `ManualResetEvent`: all waiters are released, and stay released.
#![cfg(not(loom))]

mod support;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use support::{Counter, LONG, OnWake, panic_message, poll, poll_with};
use windlass_sync::{ManualResetEvent, block_on};

#[test]
fn stays_set_until_reset() {
    let event = ManualResetEvent::new(false);
    assert!(!event.wait_timeout(Duration::from_millis(1)));
    event.set();
    event.set();
    event.wait_blocking();
    block_on(event.wait());
    assert!(event.is_set());
    event.reset();
    assert!(!event.is_set());
    assert!(poll(pin!(event.wait())).is_pending());
}

#[test]
fn set_releases_more_waiters_than_fit_a_batch() {
    let event = ManualResetEvent::new(false);
    let mut waits: Vec<_> = (0..1_000).map(|_| Box::pin(event.wait())).collect();
    let (counter, waker) = Counter::new();
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &waker).is_pending());
    }
    event.set();
    assert_eq!(counter.count(), waits.len());
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_ready());
    }
}

#[test]
fn queued_at_set_means_released_whatever_follows() {
    let event = ManualResetEvent::new(false);
    let mut wait = pin!(event.wait());
    assert!(poll(wait.as_mut()).is_pending());
    event.set();
    event.reset();
    let mut late = pin!(event.wait());
    assert!(poll(late.as_mut()).is_pending());
    assert!(poll(wait.as_mut()).is_ready());
    assert!(poll(late.as_mut()).is_pending());
}

#[test]
fn a_released_wait_that_is_dropped_changes_nothing() {
    let event = ManualResetEvent::new(false);
    let mut wait = Box::pin(event.wait());
    assert!(poll(wait.as_mut()).is_pending());
    event.set();
    event.reset();
    drop(wait);
    assert!(!event.is_set());
}

#[test]
fn panicking_wakers_do_not_keep_others_asleep() {
    let event = ManualResetEvent::new(false);
    let mut waits: Vec<_> = (0..70).map(|_| Box::pin(event.wait())).collect();
    let (counter, counting) = Counter::new();
    let panicking = OnWake::waker(|| panic!("waker"));
    for (index, wait) in waits.iter_mut().enumerate() {
        let waker = if index % 3 == 0 { &panicking } else { &counting };
        assert!(poll_with(wait.as_mut(), waker).is_pending());
    }
    assert_eq!(panic_message(|| event.set()), "waker");
    assert_eq!(counter.count(), 46);
    assert!(event.is_set());
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_ready());
    }
}

#[test]
fn a_waker_may_reset_and_wait_on_the_same_event() {
    let event = Arc::new(ManualResetEvent::new(false));
    let mut first = pin!(event.wait());
    let mut second = pin!(event.wait());
    let waker = OnWake::waker({
        let event = event.clone();
        move || {
            event.reset();
            assert!(!event.wait_timeout(Duration::from_millis(1)));
        }
    });
    let (counter, last) = Counter::new();
    assert!(poll_with(first.as_mut(), &waker).is_pending());
    assert!(poll_with(second.as_mut(), &last).is_pending());
    event.set();
    assert_eq!(counter.count(), 1);
    assert!(!event.is_set());
    assert!(poll(first.as_mut()).is_ready());
    assert!(poll(second.as_mut()).is_ready());
}

#[test]
fn rounds_of_set_and_reset_reach_every_thread() {
    const THREADS: usize = 3;
    const ROUNDS: usize = 500;
    let gates: Vec<_> = (0..ROUNDS).map(|_| ManualResetEvent::new(false)).collect();
    let passed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (gates, passed) = (&gates, &passed);
            scope.spawn(move || {
                for gate in gates {
                    if thread == 0 {
                        block_on(gate.wait());
                    } else {
                        assert!(gate.wait_timeout(LONG));
                    }
                    passed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for gate in &gates {
            gate.set();
        }
    });
    assert_eq!(passed.into_inner(), THREADS * ROUNDS);
}
