//! Aborting a task: it ends once, as what it ended, and its future is dropped once.
#![cfg(loom)]

use std::future::{self, poll_fn};
use std::task::Poll;

use loom::thread;
use windlass_loom_tests::{Drops, Poison, Stash, check, output};
use windlass_runtime::model::Ready;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a task aborted while it completes ends with its output or as cancelled, its future
/// is dropped once, and it is not queued after its end.
///
/// Seen to fail with: `wake_up` that returns `Schedule` also when COMPLETE was set.
#[test]
fn abort_while_the_task_completes() {
    check(4, || {
        let drops = Drops::default();
        let ready = Ready::new();
        let (runnable, mut handle) = ready.task({
            let guard = drops.guard();
            async move {
                let _guard = guard;
                7
            }
        });
        let aborter = handle.abort_handle();
        let abort = thread::spawn(move || aborter.abort());
        runnable.run();
        abort.join().unwrap();
        assert!(ready.take().is_none(), "queued after its end");
        match output(&mut handle) {
            Ok(value) => assert_eq!(value, 7),
            Err(error) => assert!(error.is_cancelled()),
        }
        assert_eq!(drops.count(), 1);
        assert_eq!(ready.released(), 1);
    });
}

/// Property: a task aborted while it is woken and polled ends as cancelled, and its future is
/// dropped once.
///
/// Seen to fail with: `cancel` that sets CANCELLED without NOTIFIED; `end_poll` that never
/// requeues; `wake_up` that returns `Schedule` whenever NOTIFIED was clear, SCHEDULED or not.
#[test]
fn abort_while_the_task_is_woken_and_polled() {
    check(4, || {
        let drops = Drops::default();
        let stash = Stash::default();
        let ready = Ready::new();
        let (runnable, mut handle) = ready.task({
            let (stash, guard) = (stash.clone(), drops.guard());
            poll_fn(move |cx| {
                stash.keep(cx);
                let _ = &guard;
                Poll::<()>::Pending
            })
        });
        runnable.run();
        let (waker, aborter) = (stash.take(), handle.abort_handle());
        let abort = thread::spawn(move || aborter.abort());
        let wake = thread::spawn(move || waker.wake());
        ready.run_all();
        abort.join().unwrap();
        wake.join().unwrap();
        ready.run_all();
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        assert_eq!(ready.released(), 1);
    });
}

/// Property: of two aborts at once one queues the task, and its future is dropped by the thread
/// that runs it, after all that was done before.
///
/// Seen to fail with: `wake_up` that answers `Schedule` to everybody.
#[test]
fn two_aborts() {
    check(4, || {
        let drops = Drops::default();
        let ready = Ready::new();
        let (runnable, mut handle) = ready.task({
            let guard = drops.guard();
            async move {
                let _guard = guard;
                future::pending::<()>().await
            }
        });
        runnable.run();
        let aborter = handle.abort_handle();
        let abort = {
            let ready = ready.clone();
            thread::spawn(move || {
                aborter.abort();
                ready.run_all();
            })
        };
        handle.abort();
        ready.run_all();
        abort.join().unwrap();
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        assert_eq!(ready.released(), 1);
    });
}
