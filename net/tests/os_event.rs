//! The event that is an object of the OS.

mod common;

#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

#[cfg(unix)]
use common::os;
use common::{poll_once, run, within_deadline};
use windlass_net::OsEvent;
use windlass_runtime::spawn;
use windlass_sync::CancellationToken;

#[test]
fn a_set_event_does_not_suspend_and_is_taken() {
    run(|| async {
        let event = OsEvent::new(true).unwrap();
        assert!(event.is_set().unwrap());
        assert!(matches!(poll_once(&mut Box::pin(event.wait())).await, Some(Ok(()))));
        assert!(!event.is_set().unwrap());
        assert!(poll_once(&mut Box::pin(event.wait())).await.is_none());
        event.set().unwrap();
        assert!(matches!(poll_once(&mut Box::pin(event.wait())).await, Some(Ok(()))));
    });
}

#[test]
fn setting_it_twice_is_setting_it_once() {
    run(|| async {
        let event = OsEvent::new(false).unwrap();
        for _ in 0..3 {
            event.set().unwrap();
        }
        event.wait().await.unwrap();
        assert!(!event.is_set().unwrap());
        event.set().unwrap();
        event.reset().unwrap();
        event.reset().unwrap();
        assert!(!event.is_set().unwrap());
    });
}

#[test]
fn a_thread_waits_no_longer_than_it_wants() {
    within_deadline(|| {
        let event = OsEvent::new(false).unwrap();
        for timeout in [Duration::ZERO, Duration::from_micros(1), Duration::from_millis(20)] {
            let began = Instant::now();
            assert!(!event.wait_timeout(timeout).unwrap());
            assert!(began.elapsed() >= timeout);
            event.set().unwrap();
            assert!(
                event.wait_timeout(timeout).unwrap(),
                "what is there is taken, however short the time"
            );
            assert!(!event.is_set().unwrap());
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(event.wait_timeout(Duration::from_secs(3600)).unwrap());
                assert!(event.wait_timeout(Duration::MAX).unwrap(), "a time that never comes");
            });
            for _ in 0..2 {
                event.set().unwrap();
                while event.is_set().unwrap() {
                    std::thread::yield_now();
                }
            }
        });
    });
}

#[cfg(unix)]
#[test]
fn foreign_code_signals_it_by_writing() {
    run(|| async {
        let event = Arc::new(OsEvent::new(false).unwrap());
        for _ in 0..100 {
            let fd = event.as_raw_fd();
            let foreign = std::thread::spawn(move || os::raw_write(&fd, &7_u64.to_ne_bytes()));
            event.wait().await.unwrap();
            assert_eq!(foreign.join().unwrap(), 8);
        }
        // A counter as full as it gets is a set event, and setting it is no error.
        assert_eq!(os::raw_write(&*event, &(u64::MAX - 1).to_ne_bytes()), 8);
        event.set().unwrap();
        event.wait().await.unwrap();
        assert!(!event.is_set().unwrap());
        let _ = event.as_fd();
    });
}

#[test]
fn ping_pong_between_a_thread_and_a_task() {
    run(|| async {
        let events = Arc::new([OsEvent::new(false).unwrap(), OsEvent::new(false).unwrap()]);
        let thread = std::thread::spawn({
            let events = events.clone();
            move || {
                for _ in 0..2000 {
                    events[0].wait_blocking().unwrap();
                    events[1].set().unwrap();
                }
            }
        });
        for _ in 0..2000 {
            events[0].set().unwrap();
            events[1].wait().await.unwrap();
        }
        thread.join().unwrap();
    });
}

#[test]
fn ping_pong_between_threads_and_runtimes() {
    within_deadline(|| {
        let (ping, pong) = (OsEvent::new(false).unwrap(), OsEvent::new(false).unwrap());
        let (one, other) = (common::runtime(), common::runtime());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                one.block_on(async {
                    for _ in 0..1000 {
                        ping.wait().await.unwrap();
                        pong.set().unwrap();
                    }
                });
            });
            other.block_on(async {
                for _ in 0..1000 {
                    ping.set().unwrap();
                    pong.wait().await.unwrap();
                }
            });
        });
    });
}

#[test]
fn one_signal_lets_one_waiter_through() {
    run(|| async {
        let event = Arc::new(OsEvent::new(false).unwrap());
        let arrived = Arc::new(OsEvent::new(false).unwrap());
        let waiters: Vec<_> = (0..8)
            .map(|_| {
                let (event, arrived) = (event.clone(), arrived.clone());
                spawn(async move {
                    event.wait().await.unwrap();
                    arrived.set().unwrap();
                })
            })
            .collect();
        for _ in 0..8 {
            event.set().unwrap();
            arrived.wait().await.unwrap();
        }
        for waiter in waiters {
            waiter.await.unwrap();
        }
        assert!(!event.is_set().unwrap());
    });
}

#[test]
fn a_dropped_wait_loses_no_signal() {
    run(|| async {
        let event = OsEvent::new(false).unwrap();
        for _ in 0..100 {
            let mut dropped = Box::pin(event.wait());
            let mut other = Box::pin(event.wait());
            assert!(poll_once(&mut dropped).await.is_none());
            assert!(poll_once(&mut other).await.is_none());
            event.set().unwrap();
            windlass_runtime::yield_now().await;
            drop(dropped);
            other.await.unwrap();
        }
    });
}

/// An event that is either set or cancelled: the wait ends by whichever comes first.
#[test]
fn a_wait_ends_by_set_or_by_cancel() {
    run(|| async {
        let event = Arc::new(OsEvent::new(false).unwrap());
        for round in 0..20 {
            let token = CancellationToken::new();
            let mut wait = Box::pin(token.run_until_cancelled(event.wait()));
            assert!(poll_once(&mut wait).await.is_none());
            let (event, token) = (event.clone(), token.clone());
            let end = move || if round % 2 == 0 { event.set().unwrap() } else { token.cancel() };
            let thread = std::thread::spawn(end);
            match wait.await {
                Some(set) => set.unwrap(),
                None => assert_eq!(round % 2, 1, "nobody has cancelled"),
            }
            thread.join().unwrap();
        }
        assert!(!event.is_set().unwrap(), "each signal was taken");

        // A wait that is cancelled takes no signal.
        event.set().unwrap();
        let token = CancellationToken::new();
        token.cancel();
        assert!(token.run_until_cancelled(event.wait()).await.is_none());
        assert!(event.is_set().unwrap());
    });
}

/// The OS takes a descriptor once, and who comes second must not be told so.
#[test]
fn first_waits_at_the_same_time_register_once() {
    within_deadline(|| {
        let runtime = common::runtime();
        for _ in 0..1000 {
            let event = OsEvent::new(false).unwrap();
            let start = Barrier::new(2);
            let wait = || {
                runtime.handle().block_on(async {
                    start.wait();
                    assert!(poll_once(&mut Box::pin(event.wait())).await.is_none());
                });
            };
            std::thread::scope(|scope| {
                scope.spawn(wait);
                wait();
            });
        }
    });
}

#[test]
fn an_event_outlives_the_runtimes_that_wait_for_it() {
    within_deadline(|| {
        let event = Arc::new(OsEvent::new(false).unwrap());
        for _ in 0..3 {
            let runtime = common::runtime();
            runtime.block_on(async {
                let mut wait = Box::pin(event.wait());
                assert!(poll_once(&mut wait).await.is_none(), "it has to be told by this runtime");
                let setter = Arc::clone(&event);
                let setter = std::thread::spawn(move || setter.set().unwrap());
                wait.await.unwrap();
                setter.join().unwrap();
            });
        }
    });
}

#[test]
fn a_wait_that_is_under_way_ends_with_an_error_when_the_runtime_does() {
    within_deadline(|| {
        let runtime = common::runtime();
        let event = OsEvent::new(false).unwrap();
        let mut wait = Box::pin(event.wait());
        runtime.block_on(async { assert!(poll_once(&mut wait).await.is_none()) });
        drop(runtime);
        assert!(windlass_sync::block_on(wait).is_err());
        // What is there is still had.
        event.set().unwrap();
        windlass_sync::block_on(event.wait()).unwrap();
    });
}

/// Set while a wait is being dropped, again and again: whoever comes next gets the signal.
#[test]
fn waits_dropped_beside_a_set_lose_no_signal() {
    within_deadline(|| {
        let runtime = common::runtime();
        let event = OsEvent::new(false).unwrap();
        let start = Barrier::new(2);
        const ROUNDS: usize = 500;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    start.wait();
                    event.set().unwrap();
                    start.wait();
                }
            });
            for _ in 0..ROUNDS {
                runtime.block_on(async {
                    let mut wait = Box::pin(event.wait());
                    let early = poll_once(&mut wait).await;
                    assert!(early.is_none());
                    start.wait();
                    drop(wait);
                });
                start.wait();
                runtime.block_on(event.wait()).unwrap();
                assert!(!event.is_set().unwrap());
            }
        });
    });
}
