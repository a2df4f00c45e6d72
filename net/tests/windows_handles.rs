//! Waiting for the handles of Windows, and for its wall clock.
#![cfg(windows)]

mod common;

use std::future::Future;
use std::os::windows::io::AsHandle;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::Context;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use common::windows::{event, event_to_set_only, open_handles, set, set_timer, timer};
use common::{on_wake, poll_once, run, within_deadline};
use windlass_net::{OsEvent, WaitHandle, WallTimer};
use windlass_runtime::{spawn, spawn_blocking};
use windlass_sync::CancellationToken;

const SHORT: Duration = Duration::from_millis(5);
const HOUR: Duration = Duration::from_secs(3600);

fn process(script: &str) -> Child {
    Command::new("cmd").args(["/C", script]).spawn().unwrap()
}

/// A thread that ends when the sender is dropped.
fn thread() -> (mpsc::Sender<()>, JoinHandle<()>) {
    let (end, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _ = ended.recv();
    });
    (end, thread)
}

#[test]
fn a_process_is_waited_for() {
    run(|| async {
        let mut process = WaitHandle::new(process("exit 7"));
        process.wait().await.unwrap();
        // It stays signalled.
        process.wait().await.unwrap();
        assert_eq!(process.get_mut().wait().unwrap().code(), Some(7));
    });
}

#[test]
fn a_thread_is_waited_for_by_several() {
    run(|| async {
        let (end, thread) = thread();
        let thread = Arc::new(WaitHandle::new(thread));
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let thread = thread.clone();
                spawn(async move { thread.wait().await.unwrap() })
            })
            .collect();
        assert!(poll_once(&mut Box::pin(thread.wait())).await.is_none());
        drop(end);
        for wait in waiting {
            wait.await.unwrap();
        }
    });
}

#[test]
fn a_waitable_timer_is_waited_for_again_and_again() {
    run(|| async {
        let timer = WaitHandle::new(timer());
        for _ in 0..5 {
            set_timer(timer.get_ref(), SHORT);
            timer.wait().await.unwrap();
            assert!(poll_once(&mut Box::pin(timer.wait())).await.is_none(), "it resets itself");
        }
    });
}

#[test]
fn foreign_code_signals_an_event_by_its_handle() {
    run(|| async {
        let event = OsEvent::new(false).unwrap();
        for _ in 0..100 {
            let theirs = event.as_handle().try_clone_to_owned().unwrap();
            let foreign = std::thread::spawn(move || set(&theirs));
            event.wait().await.unwrap();
            foreign.join().unwrap();
            assert!(!event.is_set().unwrap());
        }
    });
}

#[test]
fn a_handle_that_can_not_be_waited_for_is_an_error_at_the_await() {
    run(|| async {
        let event = WaitHandle::new(event_to_set_only());
        for _ in 0..3 {
            let error = event.wait().await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
        }
    });
}

/// Either the object is signalled, or the token is cancelled.
#[test]
fn a_wait_ends_by_the_signal_or_by_cancellation() {
    run(|| async {
        let (end, thread) = thread();
        let timer = timer();
        let event = event();
        let handles = (WaitHandle::new(&thread), WaitHandle::new(&timer), WaitHandle::new(&event));
        let token = CancellationToken::new();
        let waits = async {
            // All three wait when it is cancelled.
            let mut waits = (
                Box::pin(token.run_until_cancelled(handles.0.wait())),
                Box::pin(token.run_until_cancelled(handles.1.wait())),
                Box::pin(token.run_until_cancelled(handles.2.wait())),
            );
            assert!(poll_once(&mut waits.0).await.is_none());
            assert!(poll_once(&mut waits.1).await.is_none());
            assert!(poll_once(&mut waits.2).await.is_none());
            let canceller = token.clone();
            let cancelled = spawn_blocking(move || canceller.cancel());
            assert!(waits.0.await.is_none() && waits.1.await.is_none() && waits.2.await.is_none());
            cancelled.await.unwrap();
        };
        waits.await;

        // The objects are as they were, and the next wait ends by the signal.
        let token = CancellationToken::new();
        set_timer(&timer, SHORT);
        set(&event);
        drop(end);
        for wait in [
            token.run_until_cancelled(handles.0.wait()).await,
            token.run_until_cancelled(handles.1.wait()).await,
            token.run_until_cancelled(handles.2.wait()).await,
        ] {
            wait.expect("not cancelled").unwrap();
        }
    });
}

/// Both at the same time: one of the two it is, and nobody hangs.
#[test]
fn a_signal_beside_a_cancellation_ends_the_wait_once() {
    run(|| async {
        let start = Arc::new(Barrier::new(2));
        let (mut signalled, mut cancelled) = (0, 0);
        for round in 0..200_usize {
            let event = WaitHandle::new(event());
            let token = CancellationToken::new();
            let mut wait = Box::pin(token.run_until_cancelled(event.wait()));
            assert!(poll_once(&mut wait).await.is_none());
            let setter = {
                let (start, event) = (start.clone(), event.get_ref().try_clone().unwrap());
                spawn_blocking(move || {
                    start.wait();
                    (0..round % 20 * 50).for_each(|_| std::hint::spin_loop());
                    set(&event);
                })
            };
            let canceller = {
                let (start, token) = (start.clone(), token.clone());
                spawn_blocking(move || {
                    start.wait();
                    token.cancel();
                })
            };
            match wait.await {
                Some(result) => {
                    result.unwrap();
                    signalled += 1;
                }
                None => cancelled += 1,
            }
            setter.await.unwrap();
            canceller.await.unwrap();
            event.wait().await.unwrap();
        }
        println!("{signalled} by the signal, {cancelled} by cancellation");
    });
}

#[test]
fn cancelled_waits_leave_no_handle_behind() {
    within_deadline(|| {
        let runtime = common::runtime();
        // It waits for a key that nobody presses.
        let mut process = Command::new("cmd")
            .args(["/C", "pause"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (end, thread) = thread();
        let timer = timer();
        let event = OsEvent::new(false).unwrap();
        let one_of_each = || {
            runtime.block_on(async {
                let token = CancellationToken::new();
                assert!(poll_once(&mut Box::pin(WaitHandle::new(&process).wait())).await.is_none());
                assert!(poll_once(&mut Box::pin(WaitHandle::new(&thread).wait())).await.is_none());
                assert!(poll_once(&mut Box::pin(WaitHandle::new(&timer).wait())).await.is_none());
                assert!(poll_once(&mut Box::pin(event.wait())).await.is_none());
                let mut clock = WallTimer::at(SystemTime::now() + HOUR);
                assert!(poll_once(&mut clock).await.is_none());
                let mut cancelled = Box::pin(token.run_until_cancelled(event.wait()));
                assert!(poll_once(&mut cancelled).await.is_none());
                token.cancel();
                assert!(cancelled.await.is_none());
            });
        };
        (0..20).for_each(|_| one_of_each());
        let before = open_handles();
        (0..300).for_each(|_| one_of_each());
        let after = open_handles();
        // The threads of the pool come and go.
        assert!(after <= before + 10, "{before} handles before, {after} after");
        process.kill().unwrap();
        process.wait().unwrap();
        drop(end);
        thread.join().unwrap();
        assert!(runtime.shutdown(common::DEADLINE).is_clean());
    });
}

/// The OS goes on waiting for what nobody takes back, so the handle must not be closed.
#[test]
fn a_forgotten_wait_keeps_its_handle_open() {
    const WAITS: usize = 50;
    within_deadline(|| {
        let runtime = common::runtime();
        let before = open_handles();
        runtime.block_on(async {
            for _ in 0..WAITS {
                let event = OsEvent::new(false).unwrap();
                let mut wait = Box::pin(event.wait());
                assert!(poll_once(&mut wait).await.is_none());
                std::mem::forget(wait);
            }
            for _ in 0..WAITS {
                let handle = WaitHandle::new(event());
                let mut wait = Box::pin(handle.wait());
                assert!(poll_once(&mut wait).await.is_none());
                std::mem::forget(wait);
            }
            let after = open_handles();
            assert!(after >= before + 2 * WAITS, "{before} handles before, {after} after");
            // And nobody gets a number that the OS stands by for.
            for _ in 0..WAITS {
                let event = OsEvent::new(true).unwrap();
                event.wait().await.unwrap();
            }
        });
        assert!(runtime.shutdown(common::DEADLINE).is_clean());
    });
}

/// Due while they are being dropped, or a little before or after.
#[test]
fn wall_timers_dropped_beside_their_firing_leave_nothing_behind() {
    within_deadline(|| {
        let runtime = common::runtime();
        for round in 0..300_u64 {
            runtime.block_on(async {
                let due = SystemTime::now() + Duration::from_millis(1 + round % 3);
                let mut timers: Vec<_> = (0..4).map(|_| WallTimer::at(due)).collect();
                for timer in &mut timers {
                    assert!(!matches!(poll_once(timer).await, Some(Err(_))));
                }
                let last = timers.pop().unwrap();
                let waste = Duration::from_micros(round % 30 * 100);
                spawn_blocking(move || std::thread::sleep(waste)).await.unwrap();
                drop(timers);
                last.await.unwrap();
                assert!(SystemTime::now() >= due);
            });
        }
        assert!(runtime.shutdown(common::DEADLINE).is_clean());
    });
}

/// On the thread of the callback, which must not wait for itself.
#[test]
fn the_callback_of_a_wait_may_end_the_wait() {
    within_deadline(|| {
        let runtime = common::runtime();
        let entered = runtime.enter();
        for _ in 0..20 {
            let event = event();
            let foreign = event.try_clone().unwrap();
            let handle = async move { WaitHandle::new(event).wait().await };
            let clock = WallTimer::at(SystemTime::now() + SHORT);
            for wait in [Box::pin(handle) as Wait, Box::pin(clock)] {
                let (done, ended) = mpsc::channel();
                let shared = Arc::new(Mutex::new(Some(wait)));
                let waker = on_wake({
                    let shared = shared.clone();
                    move || {
                        drop(shared.lock().unwrap().take());
                        done.send(()).unwrap();
                    }
                });
                // Held to the end of the poll: the timer may be quick.
                let mut wait = shared.lock().unwrap();
                let polled = wait.as_mut().unwrap().as_mut().poll(&mut Context::from_waker(&waker));
                drop(wait);
                set(&foreign);
                if polled.is_pending() {
                    ended.recv().unwrap();
                }
            }
        }
        drop(entered);
        assert!(runtime.shutdown(common::DEADLINE).is_clean());
    });
}

type Wait = Pin<Box<dyn Future<Output = std::io::Result<()>> + Send>>;
