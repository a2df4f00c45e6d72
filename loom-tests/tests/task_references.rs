//! The references to a task: the last one frees it, once, after everything else.
#![cfg(loom)]

use std::future::poll_fn;
use std::mem;
use std::task::{Poll, Waker};

use loom::sync::{Arc, Mutex};
use loom::thread;
use windlass_loom_tests::{Drops, Guard, Poison, Stash, check};
use windlass_runtime::model::Ready;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: owner, handle and waker give up their references at once, and the last frees the task,
/// after the accesses of all others.
///
/// Seen to fail with: `release` with less than AcqRel; `complete_and_release` with Relaxed;
/// `release` that is true with one reference left, or never; `retain` that adds nothing.
#[test]
fn waker_handle_and_owner_go_at_once() {
    check(4, || {
        let drops = Drops::default();
        let stash = Stash::default();
        let ready = Ready::new();
        let (runnable, handle) = ready.task({
            let (stash, drops) = (stash.clone(), drops.clone());
            poll_fn(move |cx| {
                stash.keep(cx);
                Poll::Ready(drops.guard())
            })
        });
        let aborter = handle.abort_handle();
        let runner = thread::spawn(move || runnable.run());
        let dropper = thread::spawn(move || drop(handle));
        drop(aborter);
        runner.join().unwrap();
        drop(stash.take());
        dropper.join().unwrap();
        assert_eq!(drops.count(), 1);
        assert_eq!(ready.released(), 1);
    });
}

/// Property: a waker cloned and dropped while the task is completed by another thread never
/// touches a task that was freed.
///
/// Seen to fail with: `retain` that adds nothing; `complete_and_release` that is always true, or ignores
/// what is left; `stop` that does not make up for what was lent.
#[test]
fn a_waker_is_cloned_while_the_task_completes() {
    check(4, || {
        let stash = Stash::default();
        let ready = Ready::new();
        let (runnable, handle) = ready.task({
            let stash = stash.clone();
            let mut polls = 0;
            poll_fn(move |cx| {
                stash.keep(cx);
                polls += 1;
                if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        drop(handle);
        runnable.run();
        let waker = stash.take();
        waker.wake_by_ref();
        let user = thread::spawn(move || {
            let second = waker.clone();
            drop(waker);
            second.wake_by_ref();
        });
        ready.run_all();
        user.join().unwrap();
        ready.run_all();
        assert_eq!(ready.released(), 1);
    });
}

/// Property: wakers that a poll was lent may be woken, dropped and cloned on another thread before the
/// poll has ended, more of them than there are to lend, and dropped in the next poll; the task is freed
/// once, after all of them.
///
/// Seen to fail with: `borrow_from_stock` that lends without end; `return_to_stock` that forgets the
/// reference.
#[test]
fn lent_wakers_go_before_the_poll_has_ended() {
    check(3, || {
        let passed = Arc::new(Mutex::new(Vec::new()));
        let ready = Ready::new();
        let (runnable, handle) = ready.task({
            let passed = passed.clone();
            let mut kept = None;
            poll_fn(move |cx| {
                if kept.take().is_some() {
                    return Poll::Ready(());
                }
                kept = Some(cx.waker().clone());
                let wakers = [cx.waker().clone(), cx.waker().clone()];
                passed.lock().unwrap().extend(wakers);
                Poll::Pending
            })
        });
        drop(handle);
        let user = {
            let passed = passed.clone();
            thread::spawn(move || {
                let wakers = mem::take(&mut *passed.lock().unwrap());
                for waker in wakers {
                    drop(waker.clone());
                    waker.wake();
                }
            })
        };
        runnable.run();
        user.join().unwrap();
        let left = mem::take(&mut *passed.lock().unwrap());
        left.into_iter().for_each(Waker::wake);
        ready.run_all();
        assert_eq!(ready.released(), 1);
    });
}

windlass_runtime::task_local! { inherited static HELD: Guard }

/// Property: the values that a task has inherited are touched by the holder of its `Runnable` alone, and are gone when
/// the task is complete, whatever waker or handle is kept.
///
/// Seen to fail with: `Cell::schedule` that notes the wake-up when the `Runnable` is queued; `Cell::complete` that
/// drops the values after COMPLETE, or not at all.
#[test]
fn inherited_values_go_before_the_task_is_complete() {
    check(3, || {
        let drops = Drops::default();
        let stash = Stash::default();
        let ready = Ready::new();
        let (runnable, handle) = HELD.sync_scope(drops.guard(), || {
            let stash = stash.clone();
            let mut polls = 0;
            ready.task(poll_fn(move |cx| {
                stash.keep(cx);
                polls += 1;
                if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
            }))
        });
        runnable.run();
        let waker = stash.take();
        let user = thread::spawn({
            let ready = ready.clone();
            move || {
                waker.wake_by_ref();
                ready.run_all();
                waker
            }
        });
        ready.run_all();
        assert!(!handle.is_finished() || drops.count() == 1, "joined too early");
        let _kept = user.join().unwrap();
        ready.run_all();
        assert!(handle.is_finished());
        assert_eq!(drops.count(), 1);
    });
}
