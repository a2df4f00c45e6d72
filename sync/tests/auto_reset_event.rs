//! `AutoResetEvent`: it keeps one signal, each `set` releases one waiter, in order of arrival, and no signal is lost.
#![cfg(not(loom))]

mod support;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use support::{Counter, LONG, OnDrop, OnWake, panic_message, poll, poll_with};
use windlass_sync::{AutoResetEvent, block_on};

#[test]
fn a_signal_without_waiters_is_kept_once() {
    let event = AutoResetEvent::new(false);
    event.set();
    event.set();
    assert!(event.is_set());
    assert!(event.wait_timeout(Duration::ZERO));
    assert!(!event.is_set());
    assert!(!event.wait_timeout(Duration::ZERO));
}

#[test]
fn awaiting_a_set_event_does_not_suspend() {
    let event = AutoResetEvent::new(true);
    assert!(poll(pin!(event.wait())).is_ready());
    assert!(poll(pin!(event.wait())).is_pending());
}

#[test]
fn a_wait_that_was_never_polled_takes_nothing() {
    let event = AutoResetEvent::new(true);
    drop(event.wait());
    assert!(event.is_set());
}

#[test]
fn waiters_are_served_in_order() {
    let event = AutoResetEvent::new(false);
    let mut waits: Vec<_> = (0..5).map(|_| Box::pin(event.wait())).collect();
    let counters: Vec<_> = waits
        .iter_mut()
        .map(|wait| {
            let (counter, waker) = Counter::new();
            assert!(poll_with(wait.as_mut(), &waker).is_pending());
            counter
        })
        .collect();
    for turn in 0..5 {
        event.set();
        for (index, counter) in counters.iter().enumerate() {
            assert_eq!(counter.count(), usize::from(index <= turn));
        }
    }
    assert!(!event.is_set());
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_ready());
    }
}

#[test]
fn polling_again_keeps_the_place_and_uses_the_new_waker() {
    let event = AutoResetEvent::new(false);
    let mut first = pin!(event.wait());
    let mut second = pin!(event.wait());
    let (old, old_waker) = Counter::new();
    let (new, new_waker) = Counter::new();
    assert!(poll_with(first.as_mut(), &old_waker).is_pending());
    assert!(poll(second.as_mut()).is_pending());
    assert!(poll_with(first.as_mut(), &new_waker).is_pending());
    assert!(poll_with(first.as_mut(), &new_waker).is_pending());
    event.set();
    assert_eq!((old.count(), new.count()), (0, 1));
    assert!(poll(second.as_mut()).is_pending());
    assert!(poll(first.as_mut()).is_ready());
}

#[test]
fn a_late_comer_does_not_take_the_signal_of_the_chosen_one() {
    let event = AutoResetEvent::new(false);
    let mut chosen = pin!(event.wait());
    assert!(poll(chosen.as_mut()).is_pending());
    event.set();
    assert!(!event.wait_timeout(Duration::ZERO));
    assert!(poll(chosen.as_mut()).is_ready());
}

#[test]
fn dropped_after_being_chosen_the_next_is_released() {
    let event = AutoResetEvent::new(false);
    let mut chosen = Box::pin(event.wait());
    let mut next = pin!(event.wait());
    let mut last = pin!(event.wait());
    let (counter, waker) = Counter::new();
    assert!(poll(chosen.as_mut()).is_pending());
    assert!(poll_with(next.as_mut(), &waker).is_pending());
    assert!(poll(last.as_mut()).is_pending());
    event.set();
    assert_eq!(counter.count(), 0);
    drop(chosen);
    assert_eq!(counter.count(), 1);
    assert!(poll(next.as_mut()).is_ready());
    assert!(poll(last.as_mut()).is_pending());
}

#[test]
fn dropped_after_being_chosen_with_nobody_else_the_signal_goes_back() {
    let event = AutoResetEvent::new(false);
    let mut chosen = Box::pin(event.wait());
    assert!(poll(chosen.as_mut()).is_pending());
    event.set();
    assert!(!event.is_set());
    drop(chosen);
    assert!(event.is_set());
}

#[test]
fn dropped_while_queued_the_others_keep_their_order() {
    let event = AutoResetEvent::new(false);
    for leaving in 0..4 {
        let mut waits: Vec<_> = (0..4).map(|_| Box::pin(event.wait())).collect();
        for wait in &mut waits {
            assert!(poll(wait.as_mut()).is_pending());
        }
        drop(waits.remove(leaving));
        while !waits.is_empty() {
            event.set();
            let mut first = waits.remove(0);
            assert!(poll(first.as_mut()).is_ready());
            for wait in &mut waits {
                assert!(poll(wait.as_mut()).is_pending());
            }
        }
        assert!(!event.is_set());
    }
    event.set();
    assert!(event.is_set());
}

#[test]
fn reset_takes_a_kept_signal_and_nothing_from_the_chosen() {
    let event = AutoResetEvent::new(true);
    event.reset();
    assert!(!event.is_set());
    let mut wait = pin!(event.wait());
    assert!(poll(wait.as_mut()).is_pending());
    event.reset();
    event.set();
    event.reset();
    assert!(poll(wait.as_mut()).is_ready());
}

#[test]
fn a_timeout_leaves_the_queue() {
    let event = AutoResetEvent::new(false);
    let start = Instant::now();
    assert!(!event.wait_timeout(Duration::from_millis(20)));
    assert!(start.elapsed() >= Duration::from_millis(20));
    event.set();
    assert!(event.is_set(), "nobody was left to be released");
    assert!(event.wait_timeout(LONG));
}

#[test]
fn a_timeout_beyond_the_clock_waits() {
    let event = AutoResetEvent::new(false);
    thread::scope(|scope| {
        scope.spawn(|| event.set());
        assert!(event.wait_timeout(Duration::MAX));
    });
}

#[test]
fn polled_after_completion_panics() {
    let event = AutoResetEvent::new(true);
    let mut wait = pin!(event.wait());
    assert!(poll(wait.as_mut()).is_ready());
    let message = panic_message(|| assert!(poll(wait.as_mut()).is_ready()));
    assert!(message.contains("after it had completed"), "{message}");
}

/// Each `set` is awaited before the next, so that none are merged. All of them have to be received.
#[test]
fn ping_pong_between_threads_loses_nothing() {
    const ROUNDS: usize = 20_000;
    let (ping, pong) = (AutoResetEvent::new(false), AutoResetEvent::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                assert!(ping.wait_timeout(LONG));
                pong.set();
            }
        });
        for _ in 0..ROUNDS {
            ping.set();
            block_on(pong.wait());
        }
    });
    assert!(!ping.is_set() && !pong.is_set());
}

/// Several threads set the event, each only after its last signal was received.
#[test]
fn a_storm_of_sets_releases_exactly_as_many() {
    const SETTERS: usize = 4;
    const ROUNDS: usize = 5_000;
    let arrived: Vec<_> = (0..SETTERS).map(|_| AutoResetEvent::new(false)).collect();
    let events: Vec<_> = (0..SETTERS).map(|_| AutoResetEvent::new(false)).collect();
    let received = AtomicUsize::new(0);
    thread::scope(|scope| {
        for (event, arrived) in events.iter().zip(&arrived) {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    event.set();
                    assert!(arrived.wait_timeout(LONG));
                }
            });
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    block_on(event.wait());
                    received.fetch_add(1, Ordering::Relaxed);
                    arrived.set();
                }
            });
        }
    });
    assert_eq!(received.into_inner(), SETTERS * ROUNDS);
    assert!(events.iter().chain(&arrived).all(|event| !event.is_set()));
}

/// The event is used as a lock: at most one thread is between `wait` and `set`, even if waits are cancelled.
#[test]
fn one_signal_passed_around_stays_one() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 3_000;
    let baton = AutoResetEvent::new(true);
    let inside = AtomicUsize::new(0);
    let turns = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (baton, inside, turns) = (&baton, &inside, &turns);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    match (thread + round) % 3 {
                        0 => baton.wait_blocking(),
                        1 => {
                            // Queue up and leave again: what was given must go on.
                            let mut wait = Box::pin(baton.wait());
                            if poll(wait.as_mut()).is_pending() {
                                drop(wait);
                                continue;
                            }
                        }
                        _ => {
                            if !baton.wait_timeout(Duration::from_micros(50)) {
                                continue;
                            }
                        }
                    }
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    turns.fetch_add(1, Ordering::Relaxed);
                    assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                    baton.set();
                }
            });
        }
    });
    assert!(baton.is_set(), "the signal was lost");
    assert!(turns.into_inner() >= ROUNDS);
}

#[test]
fn a_panicking_waker_leaves_the_event_usable() {
    let event = AutoResetEvent::new(false);
    let mut first = pin!(event.wait());
    let mut second = pin!(event.wait());
    assert!(poll_with(first.as_mut(), &OnWake::waker(|| panic!("waker"))).is_pending());
    assert!(poll(second.as_mut()).is_pending());
    assert_eq!(panic_message(|| event.set()), "waker");
    assert!(poll(first.as_mut()).is_ready());
    event.set();
    assert!(poll(second.as_mut()).is_ready());
}

#[test]
fn a_waker_may_set_and_wait_on_the_same_event() {
    let event = Arc::new(AutoResetEvent::new(false));
    let mut first = pin!(event.wait());
    let mut second = pin!(event.wait());
    let waker = OnWake::waker({
        let event = event.clone();
        move || {
            event.set();
            assert!(!event.wait_timeout(Duration::ZERO));
        }
    });
    let (counter, last) = Counter::new();
    assert!(poll_with(first.as_mut(), &waker).is_pending());
    assert!(poll_with(second.as_mut(), &last).is_pending());
    event.set();
    assert_eq!(counter.count(), 1);
    assert!(poll(first.as_mut()).is_ready());
    assert!(poll(second.as_mut()).is_ready());
}

#[test]
fn dropping_a_stored_waker_may_set_the_same_event() {
    let event = Arc::new(AutoResetEvent::new(false));
    let setting = || {
        let event = event.clone();
        OnDrop::waker(move || event.set())
    };
    // Replaced by another waker.
    let mut wait = Box::pin(event.wait());
    assert!(poll_with(wait.as_mut(), &setting()).is_pending());
    assert!(poll(wait.as_mut()).is_ready());
    // Dropped with the wait.
    let mut wait = Box::pin(event.wait());
    assert!(poll_with(wait.as_mut(), &setting()).is_pending());
    drop(wait);
    assert!(event.wait_timeout(Duration::ZERO));
    // Dropped after it was woken.
    let mut wait = Box::pin(event.wait());
    assert!(poll_with(wait.as_mut(), &setting()).is_pending());
    event.set();
    assert!(poll(wait.as_mut()).is_ready());
    assert!(event.is_set());
}
