//! Wake-ups of a task: none is lost, and none makes it run twice.
#![cfg(loom)]

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::{Drops, Poison, Stash, check};
use windlass_runtime::model::Ready;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: what was written before a wake-up is seen by a poll that follows, also if the waker
/// found the task notified already, and the task is run by one thread at a time.
///
/// Seen to fail with:
/// - `wake_up` with Relaxed instead of Release;
/// - `start` that begins with a Relaxed load;
/// - `end_poll` that never requeues;
/// - `wake_up` that returns `Schedule` whenever NOTIFIED was clear, SCHEDULED or not.
#[test]
fn two_wakes_while_the_task_is_polled() {
    check(4, || {
        let written = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let stash = Stash::default();
        let ready = Ready::new();
        let (runnable, handle) = ready.task({
            let (written, stash) = (written.clone(), stash.clone());
            poll_fn(move |cx| {
                stash.keep(cx);
                let sum: usize = written.iter().map(|w| w.load(Ordering::Relaxed)).sum();
                if sum == 2 { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        runnable.run();
        let waker = stash.take();
        let by_ref = {
            let (written, waker) = (written.clone(), waker.clone());
            thread::spawn(move || {
                written[0].store(1, Ordering::Relaxed);
                waker.wake_by_ref();
            })
        };
        let runner = {
            let ready = ready.clone();
            thread::spawn(move || ready.run_all())
        };
        written[1].store(1, Ordering::Relaxed);
        waker.wake();
        by_ref.join().unwrap();
        runner.join().unwrap();
        ready.run_all();
        assert!(handle.is_finished(), "a wake-up was lost");
        assert_eq!(ready.released(), 1);
    });
}

/// Property: a wake-up that comes while the runner takes back an earlier one, which it found when it
/// began, is covered by the poll that begins.
///
/// Seen to fail with: `wake_up` that returns without a write when it finds NOTIFIED set; `start` that takes
/// NOTIFIED back with Relaxed instead of Acquire.
#[test]
fn a_wake_while_an_earlier_one_is_taken_back() {
    wake_while_taken_back(|waker| waker.wake_by_ref());
}

/// The same, for a wake-up that gives up its reference with the same step.
///
/// Seen to fail with: a `notify_and_release` that gives up its reference and no more when it finds NOTIFIED
/// set, though that is a write: the flag may be gone by then, and the poll that covered it begun.
#[test]
fn a_last_wake_while_an_earlier_one_is_taken_back() {
    wake_while_taken_back(Waker::wake);
}

fn wake_while_taken_back(wake: fn(Waker)) {
    check(4, move || {
        let written = Arc::new(AtomicUsize::new(0));
        let stash = Stash::default();
        let ready = Ready::new();
        let (runnable, handle) = ready.task({
            let (written, stash) = (written.clone(), stash.clone());
            poll_fn(move |cx| {
                stash.keep(cx);
                if written.load(Ordering::Relaxed) == 1 { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        runnable.run();
        let waker = stash.take();
        waker.wake_by_ref();
        waker.wake_by_ref();
        let waking = thread::spawn(move || {
            written.store(1, Ordering::Relaxed);
            wake(waker);
        });
        ready.run_all();
        waking.join().unwrap();
        ready.run_all();
        assert!(handle.is_finished(), "a wake-up was lost");
    });
}

/// Property: a task that moves from thread to thread takes its future along: each poll sees what
/// the one before did, also if another thread has woken the task.
///
/// Seen to fail with: `end_poll` with Relaxed instead of Release; `start` with Relaxed instead of
/// Acquire.
#[test]
fn polls_on_two_threads_follow_one_another() {
    check(4, || {
        let stash = Stash::default();
        let ready = Ready::new();
        let (runnable, handle) = ready.task({
            let stash = stash.clone();
            let mut polls = 0;
            poll_fn(move |cx| {
                stash.keep(cx);
                polls += 1;
                if polls == 3 { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        runnable.run();
        let waker = stash.take();
        waker.wake_by_ref();
        let other = {
            let ready = ready.clone();
            thread::spawn(move || ready.run_all())
        };
        waker.wake();
        ready.run_all();
        other.join().unwrap();
        handle.abort();
        ready.run_all();
        assert!(handle.is_finished());
        assert_eq!(ready.released(), 1);
    });
}

/// Property: a waker used up while its task completes does nothing or frees the task, which is
/// freed once.
///
/// Seen to fail with: `wake_up` that keeps its reference when it finds COMPLETE; `wake_up` that never
/// answers `Free`; one that answers `Schedule` for a task that is complete.
#[test]
fn wake_by_value_while_the_task_completes() {
    check(4, || {
        let drops = Drops::default();
        let stash = Stash::default();
        let ready = Ready::new();
        let (runnable, handle) = ready.task({
            let (stash, guard) = (stash.clone(), drops.guard());
            let mut polls = 0;
            poll_fn(move |cx| {
                stash.keep(cx);
                let _ = &guard;
                polls += 1;
                if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        drop(handle);
        runnable.run();
        let waker = stash.take();
        waker.wake_by_ref();
        let waking = thread::spawn(move || waker.wake());
        ready.run_all();
        waking.join().unwrap();
        ready.run_all();
        assert_eq!(drops.count(), 1);
        assert_eq!(ready.released(), 1);
    });
}
