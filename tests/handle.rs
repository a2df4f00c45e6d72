//! Handles: `block_on` in all places it may and may not be called, and two runtimes side by side.

mod util;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::thread;

use util::{Count, PATIENCE, runtime, text_of, wait_for, within_patience};
use windlass::task::JoinSet;
use windlass::{Builder, Runtime};

fn named(name: &str, workers: usize) -> Runtime {
    Builder::new().workers(workers).thread_name(name).build().unwrap()
}

#[test]
fn block_on_runs_futures_that_are_not_send_on_the_calling_thread() {
    let runtime = runtime(1);
    let here = thread::current().id();
    let shared = Rc::new(Cell::new(0));
    let inner = shared.clone();
    runtime.block_on(async move {
        for number in 0..100 {
            inner.set(windlass::spawn(async move { number }).await.unwrap());
            assert_eq!(thread::current().id(), here);
        }
    });
    assert_eq!(shared.get(), 99);
}

#[test]
fn block_on_in_a_task_fails_and_names_what_to_use_instead() {
    let (runtime, other) = (runtime(1), runtime(1));
    let (own, foreign) = (runtime.handle().clone(), other.handle().clone());
    let ways: [Box<dyn FnOnce() + Send>; 3] = [
        Box::new(move || own.block_on(async {})),
        Box::new(move || foreign.block_on(async {})),
        Box::new(|| windlass::block_on(async {})),
    ];
    for way in ways {
        let task = runtime.spawn(async move {
            let refused = catch_unwind(AssertUnwindSafe(way)).unwrap_err();
            text_of(&*refused).to_owned()
        });
        let message = wait_for(task).unwrap();
        assert!(message.contains("`.await`"), "{message}");
        assert!(message.contains("`spawn_blocking`"), "{message}");
    }
}

#[test]
fn block_on_nests_on_threads_that_are_no_workers() {
    let (a, b) = (runtime(1), runtime(1));
    let sum = a.block_on(async {
        let inner = b.block_on(async { windlass::spawn(async { 1 }).await.unwrap() });
        let same = a.block_on(async { windlass::spawn(async { 2 }).await.unwrap() });
        let free = windlass::block_on(async { windlass::spawn(async { 3 }).await.unwrap() });
        inner + same + free
    });
    assert_eq!(sum, 6);
}

#[test]
fn block_on_is_allowed_in_spawn_blocking() {
    let runtime = runtime(1);
    let task = runtime.spawn_blocking(|| {
        windlass::block_on(async { windlass::spawn(async { 4 }).await.unwrap() })
    });
    assert_eq!(wait_for(task).unwrap(), 4);
}

#[test]
fn many_threads_block_on_one_runtime() {
    let runtime = runtime(2);
    thread::scope(|scope| {
        for thread in 0..4 {
            let runtime = &runtime;
            scope.spawn(move || {
                for number in 0..2_000 {
                    let task = async move { windlass::spawn(async move { number }).await };
                    assert_eq!(runtime.block_on(task).unwrap(), number, "thread {thread}");
                }
            });
        }
    });
}

#[test]
fn two_runtimes_wake_each_others_tasks_under_heavy_traffic() {
    const PAIRS: usize = 20;
    const ROUNDS: usize = 1_000;
    let (a, b) = (runtime(2), runtime(2));
    let mut set = JoinSet::new();
    for _ in 0..PAIRS {
        let (there, here) = (windlass::channel::bounded(1), windlass::channel::bounded(1));
        set.spawn_on(
            async move {
                for number in 0..ROUNDS {
                    there.0.send(number).await.unwrap();
                    assert_eq!(here.1.recv().await.unwrap(), number + 1);
                }
            },
            a.handle(),
        );
        set.spawn_on(
            async move {
                while let Ok(number) = there.1.recv().await {
                    if here.0.send(number + 1).await.is_err() {
                        break;
                    }
                }
            },
            b.handle(),
        );
    }
    let done = wait_for(set.join_all());
    assert_eq!(done.len(), 2 * PAIRS);
    assert!(a.shutdown(PATIENCE).is_clean());
    assert!(b.shutdown(PATIENCE).is_clean());
}

#[test]
fn a_handle_used_after_shutdown_gives_cancelled_tasks() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    let dropped = Count::new();
    for _ in 0..100 {
        let (in_task, in_closure) = (dropped.on_drop(), dropped.on_drop());
        let task = handle.spawn(async move { drop(in_task) });
        assert!(task.is_finished());
        assert!(wait_for(task).unwrap_err().is_cancelled());
        let closure = handle.spawn_blocking(move || drop(in_closure));
        assert!(wait_for(closure).unwrap_err().is_cancelled());
    }
    assert_eq!(dropped.get(), 200);
    // A future that needs nobody else is still run.
    assert_eq!(handle.block_on(async { 1 }), 1);
    let _entered = handle.enter();
    assert!(wait_for(windlass::spawn(async {})).unwrap_err().is_cancelled());
    assert_eq!(handle.metrics().tasks_alive, 0);
}

#[test]
fn a_handle_does_not_keep_its_runtime_running() {
    let runtime = named("ends", 1);
    let handle = runtime.handle().clone();
    let dropped = Count::new();
    let guard = dropped.on_drop();
    let task = {
        let handle = handle.clone();
        runtime.spawn(async move {
            let _guard = (guard, handle);
            std::future::pending::<()>().await;
        })
    };
    within_patience("dropping the runtime", move || drop(runtime));
    assert_eq!(dropped.get(), 1);
    assert!(wait_for(task).unwrap_err().is_cancelled());
    drop(handle);
}
