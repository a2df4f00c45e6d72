//! `task::block_in_place`: what waits behind a task that blocks is run at once, and `block_on` is allowed inside.

mod util;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use util::{AsyncGate, Gate, OpenOnDrop, PATIENCE, runtime, text_of, wait_for, within_patience};
use windlass::task::{self, block_in_place};
use windlass::timer::{now, sleep};
use windlass::{Builder, Handle, block_on, join, scope, spawn, worker_index};

/// A runtime that would never send a spare for a worker that does not say it is blocked.
fn patient(workers: usize) -> windlass::Runtime {
    Builder::new().workers(workers).stuck_after(Duration::MAX).build().unwrap()
}

#[test]
fn what_the_worker_had_and_what_comes_later_is_run_meanwhile() {
    let runtime = patient(1);
    let (before, later) = (Gate::new(), Gate::new());
    let _release = (OpenOnDrop(before.clone()), OpenOnDrop(later.clone()));
    let task = runtime.spawn(async move {
        let queued = {
            let before = before.clone();
            spawn(async move { before.open() })
        };
        block_in_place(|| {
            before.wait();
            // Nothing waits any more: the spare, if it is still there, may sleep.
            let opener = later.clone();
            drop(spawn(async move { opener.open() }));
            later.wait();
        });
        queued.await.unwrap();
    });
    wait_for(task).unwrap();
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn block_on_is_allowed_inside_and_nowhere_else() {
    let runtime = patient(1);
    let task = runtime.spawn(async {
        let number = block_in_place(|| {
            block_on(async {
                sleep(Duration::from_millis(1)).await;
                spawn(async { 42 }).await.unwrap()
            })
        });
        let refused = std::panic::catch_unwind(|| block_on(async {}));
        (number, text_of(&*refused.unwrap_err()).contains("block_on"))
    });
    assert_eq!(wait_for(task).unwrap(), (42, true));
}

#[test]
fn the_task_is_the_same_inside_and_the_worker_is_one_again_afterwards() {
    windlass::task_local! { static VALUE: u32; }
    let runtime = patient(2);
    let task = runtime.spawn(VALUE.scope(7, async {
        let id = task::id();
        let index = worker_index();
        block_in_place(|| {
            assert_eq!((task::id(), VALUE.get()), (id, 7));
            assert!(windlass::Handle::try_current().is_some());
            block_in_place(|| assert_eq!(task::id(), id));
        });
        assert_eq!((worker_index(), task::id(), VALUE.get()), (index, id, 7));
        let panicked = std::panic::catch_unwind(|| block_in_place(|| util::throw("inside")));
        assert!(panicked.is_err());
        assert_eq!(worker_index(), index);
        // On the worker's own queue again.
        spawn(async { windlass::Handle::try_current() }).await.unwrap().is_some()
    }));
    assert!(wait_for(task).unwrap());
}

#[test]
fn all_workers_may_be_blocked_at_once() {
    let runtime = patient(2);
    let (go, done) = (AsyncGate::new(), Gate::new());
    let _release = OpenOnDrop(done.clone());
    let blocked: Vec<_> = (0..4)
        .map(|_| {
            let (go, done) = (go.clone(), done.clone());
            runtime.spawn(async move {
                go.wait().await;
                block_in_place(|| done.wait());
            })
        })
        .collect();
    util::wait_until("all are there", || go.waiting() == 4);
    go.open();
    // Runs on a spare, when the fifth thread has come.
    wait_for(runtime.spawn(async move { done.open() })).unwrap();
    blocked.into_iter().for_each(|task| wait_for(task).unwrap());
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn a_computation_in_the_middle_of_a_blocking_call_is_run_by_others() {
    let runtime = patient(1);
    let task = runtime.spawn(async { block_in_place(|| join(|| 1, || 2)) });
    assert_eq!(within_patience("a join on a spare", move || wait_for(task)).unwrap(), (1, 2));
    let task = runtime.spawn(async {
        let sum = windlass::compute(|| {
            join(|| 1, || block_in_place(|| block_on(async { spawn(async { 2 }).await.unwrap() })))
        });
        sum.await.unwrap()
    });
    assert_eq!(within_patience("inside of a join", move || wait_for(task)).unwrap(), (1, 2));
}

/// The thread polled tasks at the split points, as workers do. It was none at that moment, so a
/// task that yielded there made the closure panic, and one that ended there was never counted out,
/// for which a shutdown waited in vain.
#[test]
fn a_long_computation_in_a_blocking_call_leaves_tasks_to_others() {
    let runtime = patient(1);
    let computes = Gate::new();
    let _release = OpenOnDrop(computes.clone());
    let done = Arc::new(AtomicBool::new(false));
    let task = runtime.spawn({
        let (computes, done) = (computes.clone(), done.clone());
        async move {
            block_in_place(|| {
                computes.open();
                while !done.load(Ordering::Relaxed) {
                    join(|| (), || ());
                }
                worker_index()
            })
        }
    });
    computes.wait();
    let others = (0..8).map(|_| {
        runtime.spawn(async {
            task::yield_now().await;
            worker_index()
        })
    });
    let others: Vec<_> = others.collect();
    let end = runtime.spawn(async move {
        for other in others {
            // A spare, of which the OS may keep one from running.
            assert_eq!(other.await.unwrap(), None, "in the blocking call");
        }
        done.store(true, Ordering::Relaxed);
    });
    within_patience("tasks beside the call", move || wait_for(end)).unwrap();
    assert_eq!(wait_for(task).unwrap(), Some(0));
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn elsewhere_it_calls_the_closure() {
    assert_eq!(block_in_place(|| 1), 1);
    let runtime = runtime(1);
    assert_eq!(runtime.block_on(async { block_in_place(|| block_on(async { 2 })) }), 2);
    assert_eq!(wait_for(runtime.spawn_blocking(|| block_in_place(|| 3))).unwrap(), 3);
    let mut tasks = Builder::new().build_manual().unwrap();
    let handle = tasks.spawn_local(async { block_in_place(|| 4) });
    for ready in tasks.ready_tasks(Some(PATIENCE)).unwrap() {
        ready.run();
    }
    assert_eq!(wait_for(handle).unwrap(), 4);
}

/// A job that ran while its scope waited had no runtime: what it spawned started the global one.
#[test]
fn a_job_that_runs_inside_belongs_to_the_runtime_of_the_worker() {
    let runtime = Builder::new().workers(1).max_spares(0).virtual_time().build().unwrap();
    let task = runtime.spawn(async {
        let start = now();
        let inside = Mutex::new(None);
        block_in_place(|| {
            scope(|s| {
                s.spawn(|_| {
                    block_on(sleep(Duration::from_secs(3600)));
                    let here = Handle::try_current().map(|handle| handle.workers());
                    *inside.lock().unwrap() =
                        Some((here, windlass::spawn(async { worker_index() })));
                });
            });
        });
        let (here, spawned) = inside.into_inner().unwrap().unwrap();
        (here, spawned.await.unwrap(), now() - start)
    });
    let found = within_patience("the job", move || wait_for(task)).unwrap();
    assert_eq!(found, (Some(1), Some(0), Duration::from_secs(3600)));
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn in_virtual_time_a_worker_that_waits_in_block_on_holds_up_no_clock() {
    let runtime = Builder::new().workers(1).virtual_time().build().unwrap();
    let task = runtime.spawn(async {
        let start = now();
        block_in_place(|| block_on(sleep(Duration::from_secs(3600))));
        now() - start
    });
    let waited = within_patience("an hour", move || wait_for(task)).unwrap();
    assert_eq!(waited, Duration::from_secs(3600));
}
