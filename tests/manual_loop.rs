//! The manual loop: it says what is ready, runs nothing by itself, and ends without a trace.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use windlass::Builder;
use windlass::manual::Loop;

const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

fn manual() -> Loop {
    Builder::new().build_manual().unwrap()
}

#[test]
fn nothing_runs_before_the_program_runs_it() {
    let mut tasks = manual();
    let ran = Rc::new(Cell::new(0));
    let inner = ran.clone();
    let handle = tasks.spawn_local(async move { inner.set(inner.get() + 1) });
    let ready: Vec<_> = tasks.ready_tasks(PATIENCE).unwrap().collect();
    assert_eq!((ready.len(), ran.get(), handle.is_finished()), (1, 0, false));
    ready.into_iter().for_each(windlass::manual::Runnable::run);
    assert_eq!((ran.get(), handle.is_finished()), (1, true));
    assert_eq!(tasks.ready_tasks(AT_ONCE).unwrap().count(), 0);
}

#[test]
fn what_is_not_run_is_given_again() {
    let mut tasks = manual();
    let handle = tasks.spawn_local(async {});
    for _ in 0..3 {
        assert_eq!(tasks.ready_tasks(PATIENCE).unwrap().count(), 1, "dropped with the iterator");
    }
    tasks.ready_tasks(PATIENCE).unwrap().for_each(windlass::manual::Runnable::run);
    assert!(handle.is_finished());
}

#[test]
fn a_spawn_from_another_thread_ends_an_endless_wait() {
    let mut tasks = manual();
    for _ in 0..100 {
        let handle = tasks.handle().clone();
        let spawner = thread::spawn(move || handle.spawn(async { 1 }));
        tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
        assert!(spawner.join().unwrap().is_finished());
    }
}

/// A waker on another thread may have notified a task that it has not yet queued when the loop goes
/// away.
#[test]
fn a_loop_dropped_while_another_thread_wakes_its_tasks_is_not_used_afterwards() {
    for _ in 0..500 {
        let mut tasks = manual();
        let dropped = Rc::new(Cell::new(0));
        let stash: Arc<Mutex<Vec<Waker>>> = Arc::default();
        for _ in 0..4 {
            let (stash, guard) = (stash.clone(), CountDrop(dropped.clone()));
            drop(tasks.spawn_local(async move {
                let _guard = guard;
                poll_fn(|cx| {
                    stash.lock().unwrap().push(cx.waker().clone());
                    Poll::<()>::Pending
                })
                .await
            }));
        }
        tasks.ready_tasks(PATIENCE).unwrap().for_each(windlass::manual::Runnable::run);
        let wakers = std::mem::take(&mut *stash.lock().unwrap());
        assert_eq!(wakers.len(), 4);
        let together = Arc::new(Barrier::new(2));
        let other = together.clone();
        let waking = thread::spawn(move || {
            other.wait();
            wakers.into_iter().for_each(Waker::wake);
        });
        together.wait();
        drop(tasks);
        assert_eq!(dropped.get(), 4, "futures that are not `Send` are dropped here, by now");
        waking.join().unwrap();
    }
}

#[test]
fn a_runnable_that_outlives_its_loop_is_cancelled_here() {
    let mut tasks = manual();
    let dropped = Rc::new(Cell::new(0));
    let guard = CountDrop(dropped.clone());
    drop(tasks.spawn_local(async move {
        let _guard = guard;
        pending::<()>().await;
    }));
    let held: Vec<_> = tasks.ready_tasks(PATIENCE).unwrap().collect();
    drop(tasks);
    assert_eq!(dropped.get(), 0);
    drop(held);
    assert_eq!(dropped.get(), 1);
}

/// As above, with a task that a poll has spawned and that has not been polled itself.
#[test]
fn a_runnable_of_a_task_that_never_ran_is_cancelled_with_its_loop_or_after_it() {
    let mut tasks = manual();
    let alive = Arc::new(());
    drop(tasks.spawn_local({
        let alive = alive.clone();
        async move {
            for _ in 0..2 {
                let guard = alive.clone();
                drop(windlass::spawn(async move {
                    let _guard = guard;
                    pending::<()>().await
                }));
            }
        }
    }));
    tasks.ready_tasks(PATIENCE).unwrap().for_each(|runnable| runnable.run());
    let mut ready = tasks.ready_tasks(PATIENCE).unwrap();
    let held = ready.next().unwrap();
    drop(ready);
    drop(tasks);
    assert_eq!(Arc::strong_count(&alive), 2, "one was put back, one is held");
    drop(held);
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// Counts on one thread: the futures that hold it are not `Send`.
struct CountDrop(Rc<Cell<usize>>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}
