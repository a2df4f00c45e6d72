//! The list of a runtime's tasks: whatever is in it is reached by its closing.
#![cfg(loom)]

use std::future::{self, poll_fn};
use std::task::Poll;

use loom::thread;
use windlass_loom_tests::{Drops, Poison, check, output};
use windlass_runtime::model::Owner;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a task spawned while the list closes is either refused or cancelled by the closing.
///
/// Seen to fail with: `bind` that does not look at `closed`; `close` that sets `closed` in a
/// critical section of its own after the visit; `close` that drops the `Runnable`s of idle tasks.
#[test]
fn bind_while_the_list_closes() {
    check(4, || {
        let drops = Drops::default();
        let owner = Owner::new();
        let (runnable, mut handle) = owner.task({
            let guard = drops.guard();
            async move {
                let _guard = guard;
                future::pending::<()>().await
            }
        });
        let spawner = {
            let owner = owner.clone();
            thread::spawn(move || owner.bind_and_run(runnable))
        };
        owner.close();
        spawner.join().unwrap();
        owner.run_all();
        assert!(handle.is_finished(), "neither refused nor cancelled");
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        assert!(owner.is_over());
    });
}

/// Property: tasks that end while the list closes leave it intact, and the closing touches none
/// that was freed.
///
/// Seen to fail with: `complete` that gives up the owner's reference before it leaves the list;
/// `remove` that does not mend the link of its successor.
#[test]
fn neighbours_end_while_the_list_closes() {
    check(3, || {
        let owner = Owner::new();
        let [first, second] = [(); 2].map(|()| {
            let (runnable, handle) = owner.task(async {});
            drop(handle);
            assert!(owner.bind(&runnable));
            runnable
        });
        let runner = thread::spawn(move || first.run());
        let closer = {
            let owner = owner.clone();
            thread::spawn(move || owner.close())
        };
        second.run();
        runner.join().unwrap();
        closer.join().unwrap();
        owner.run_all();
        assert!(owner.is_over());
    });
}

/// Property: a task that waits for the first time while the list closes is either refused or cancelled
/// by the closing, and the list is empty afterwards.
///
/// Seen to fail with: `Cell::run` that does not ask whether the task was bound, or that binds after the poll's
/// end; `Cell::run` that ends the first poll with `end_poll` (an assertion); `bind` that does not look at
/// `closed`.
#[test]
fn a_task_waits_for_the_first_time_while_the_list_closes() {
    check(4, || {
        let drops = Drops::default();
        let owner = Owner::new();
        let (runnable, mut handle) = owner.late_task({
            let guard = drops.guard();
            async move {
                let _guard = guard;
                future::pending::<()>().await
            }
        });
        let runner = thread::spawn(move || runnable.run());
        owner.close();
        runner.join().unwrap();
        owner.run_all();
        assert!(handle.is_finished(), "neither refused nor cancelled");
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        assert!(owner.is_over());
    });
}

/// Property: a task that is woken in its first poll, by a thread that has never met its owner, is
/// queued once, by its runner or, when it is in the list, by its waker.
///
/// Seen to fail with: `end_poll_listed` that never requeues; `complete` that never leaves the list.
/// (A `complete` that always does is slower and nothing else: `remove` leaves alone what is not in there.)
#[test]
fn a_task_is_woken_in_its_first_poll_while_the_list_closes() {
    check(3, || {
        let drops = Drops::default();
        let owner = Owner::new();
        let (runnable, mut handle) = owner.late_task({
            let guard = drops.guard();
            let mut waking = None;
            poll_fn(move |cx| {
                let _ = &guard;
                if waking.is_some() {
                    return Poll::Ready(7);
                }
                let waker = cx.waker().clone();
                waking = Some(thread::spawn(move || waker.wake()));
                Poll::Pending
            })
        });
        let closer = {
            let owner = owner.clone();
            thread::spawn(move || owner.close())
        };
        runnable.run();
        owner.run_all();
        closer.join().unwrap();
        while !handle.is_finished() {
            thread::yield_now();
            owner.run_all();
        }
        match output(&mut handle) {
            Ok(value) => assert_eq!(value, 7),
            Err(error) => assert!(error.is_cancelled()),
        }
        assert_eq!(drops.count(), 1);
        assert!(owner.is_over());
    });
}

/// Property: a task aborted in its first poll ends as cancelled, or with its output if that was its
/// last, too; and its neighbour in the list does not notice.
///
/// Seen to fail with: `end_poll_listed` that never requeues; `complete` that never leaves the list.
#[test]
fn a_task_is_aborted_in_its_first_poll() {
    check(3, || {
        let drops = Drops::default();
        let owner = Owner::new();
        let (neighbour, _) = owner.late_task(future::pending::<()>());
        neighbour.run();
        let (runnable, mut handle) = owner.late_task({
            let guard = drops.guard();
            let mut polls = 0;
            poll_fn(move |_| {
                let _ = &guard;
                polls += 1;
                if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        let aborter = handle.abort_handle();
        let abort = thread::spawn(move || aborter.abort());
        runnable.run();
        owner.run_all();
        abort.join().unwrap();
        owner.run_all();
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        assert!(!owner.is_over());
        owner.close();
        owner.run_all();
        assert!(owner.is_over());
    });
}

/// Property: a task that somebody lists in its queue, before its first poll, is either refused or cancelled by
/// the closing of the list, and the list is empty afterwards.
///
/// Seen to fail with: `Cell::list` that does not call `State::listed` (the task is bound twice); `Cell::list`
/// that calls it for a task that was refused (the list forgets the task).
#[test]
fn a_queued_task_is_listed_while_the_list_closes() {
    check(4, || {
        let drops = Drops::default();
        let owner = Owner::new();
        let (runnable, mut handle) = owner.late_task({
            let guard = drops.guard();
            async move {
                let _guard = guard;
                future::pending::<()>().await
            }
        });
        let lister = {
            let owner = owner.clone();
            thread::spawn(move || {
                owner.list(&runnable);
                runnable
            })
        };
        owner.close();
        // The queue hands it on.
        lister.join().unwrap().run();
        owner.run_all();
        assert!(handle.is_finished(), "neither refused nor cancelled");
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        assert!(owner.is_over());
    });
}
