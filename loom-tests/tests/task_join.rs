//! The joiner of a task: always woken, and the output goes to one of the two.
#![cfg(loom)]

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use loom::thread;
use windlass_loom_tests::{Drops, Flag, Poison, check};
use windlass_runtime::model::Ready;
use windlass_runtime::task::JoinHandle;

#[global_allocator]
static POISON: Poison = Poison;

fn poll<T>(handle: &mut JoinHandle<T>, waker: &Waker) -> Poll<T> {
    Pin::new(handle).poll(&mut Context::from_waker(waker)).map(Result::unwrap)
}

/// Property: a joiner that found the task unfinished is woken by its end, and then finds the
/// output.
///
/// Seen to fail with: `complete` that never answers `WakeJoiner`; `complete` with less than AcqRel;
/// `load` with Relaxed; each of the three orderings of `join_transition` weakened; `register` that
/// ignores what `set_join_waker` says.
#[test]
fn the_joiner_registers_while_the_task_completes() {
    check(4, || {
        let (flag, waker) = Flag::new();
        let ready = Ready::new();
        let (runnable, mut handle) = ready.task(async { Box::new(7) });
        let runner = thread::spawn(move || runnable.run());
        let first = poll(&mut handle, &waker);
        runner.join().unwrap();
        match first {
            Poll::Ready(value) => assert_eq!(*value, 7),
            Poll::Pending => {
                assert!(flag.is_set(), "the joiner sleeps on");
                assert_eq!(poll(&mut handle, &waker), Poll::Ready(Box::new(7)));
            }
        }
        drop((handle, waker));
        assert_eq!(Arc::strong_count(&flag), 1, "a waker was leaked");
    });
}

/// Property: a joiner that changes its waker is woken by the new one, or finds the output at once;
/// both wakers are dropped once.
///
/// Seen to fail with: `register` that writes without `unset_join_waker`; `register` that keeps the
/// old waker.
#[test]
fn the_joiner_changes_its_waker_while_the_task_completes() {
    check(4, || {
        let (old_flag, old) = Flag::new();
        let (new_flag, new) = Flag::new();
        let ready = Ready::new();
        let (runnable, mut handle) = ready.task(async { 7 });
        assert_eq!(poll(&mut handle, &old), Poll::Pending);
        let runner = thread::spawn(move || runnable.run());
        let second = poll(&mut handle, &new);
        runner.join().unwrap();
        if second.is_pending() {
            assert!(new_flag.is_set(), "the joiner sleeps on");
            assert_eq!(poll(&mut handle, &new), Poll::Ready(7));
        }
        drop((handle, old, new));
        assert_eq!(Arc::strong_count(&old_flag), 1, "a waker was leaked");
        assert_eq!(Arc::strong_count(&new_flag), 1, "a waker was leaked");
    });
}

/// Property: when the handle goes while the task completes, the output is dropped once, and so is
/// the waker that the handle had left.
///
/// Seen to fail with: `complete` that never answers `DropOutput`; a handle that never drops the
/// output; `drop_join_interest` that changes nothing (both take the waker).
#[test]
fn the_handle_is_dropped_while_the_task_completes() {
    check(4, || {
        let drops = Drops::default();
        let (flag, waker) = Flag::new();
        let ready = Ready::new();
        let (runnable, mut handle) = ready.task({
            let guard = drops.guard();
            async move { guard }
        });
        assert!(poll(&mut handle, &waker).is_pending());
        drop(waker);
        let other = handle.abort_handle();
        let runner = thread::spawn(move || runnable.run());
        drop(handle);
        runner.join().unwrap();
        // By whoever was last, not with the task.
        assert_eq!(drops.count(), 1);
        drop(other);
        assert_eq!(Arc::strong_count(&flag), 1, "a waker was leaked");
    });
}

/// Property: when a handle that registered no waker goes while the task completes, the output is
/// dropped once and the task freed once.
///
/// Seen to fail with: `detach` that does not look at COMPLETE; `detach` that keeps its reference;
/// `complete` that takes the short way without a look at JOIN_INTEREST; `complete_and_release` with
/// Relaxed, or never true.
#[test]
fn the_handle_is_detached_while_the_task_completes() {
    check(4, || {
        let drops = Drops::default();
        let ready = Ready::new();
        let (runnable, handle) = ready.task({
            let guard = drops.guard();
            async move { guard }
        });
        let other = handle.abort_handle();
        let runner = thread::spawn(move || runnable.run());
        let dropper = thread::spawn(move || drop(handle));
        drop(other);
        runner.join().unwrap();
        dropper.join().unwrap();
        assert_eq!(drops.count(), 1);
        assert_eq!(ready.released(), 1);
    });
}
