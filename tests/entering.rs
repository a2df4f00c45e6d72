//! Which runtime is the current one: of tasks, closures and computations, and by guards.

mod util;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use util::{AsyncGate, Gate, OpenOnDrop, PATIENCE, runtime, text_of, wait_for};
use windlass::{Builder, Handle, Runtime};

fn named(name: &str, workers: usize) -> Runtime {
    Builder::new().workers(workers).thread_name(name).build().unwrap()
}

/// The runtime that is current here, by the name of its threads.
fn current() -> String {
    format!("{:?}", Handle::try_current())
}

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

#[test]
fn the_current_runtime_of_a_task_is_its_own() {
    let (a, b) = (named("first", 1), named("second", 1));
    let _entered = a.enter();
    let inner = b.spawn(async {
        let here = (current(), thread_name());
        let blocking = windlass::spawn_blocking(|| (current(), thread_name()));
        let task = windlass::spawn(async { (current(), thread_name()) });
        [here, task.await.unwrap(), blocking.await.unwrap()]
    });
    for (current, thread) in wait_for(inner).unwrap() {
        assert!(current.contains("second"), "{current}");
        assert!(thread.starts_with("second-"), "{thread}");
    }
    assert!(current().contains("first"));
}

#[test]
fn a_guard_forgotten_in_a_task_concerns_no_other() {
    let (a, b) = (named("first", 1), named("second", 1));
    let other: Handle = a.handle().clone();
    let forgetful = b.spawn(async move {
        std::mem::forget(other.enter());
        assert!(current().contains("first"), "entered until the end of the poll");
    });
    wait_for(forgetful).unwrap();
    assert!(wait_for(b.spawn(async { current() })).unwrap().contains("second"));
}

#[test]
fn a_guard_forgotten_in_a_closure_concerns_no_other() {
    let (a, b) = (named("first", 1), named("second", 1));
    let other: Handle = a.handle().clone();
    let forgetful = b.spawn_blocking(move || {
        std::mem::forget(other.enter());
        assert!(current().contains("first"), "entered until the end of the closure");
    });
    wait_for(forgetful).unwrap();
    assert!(wait_for(b.spawn_blocking(current)).unwrap().contains("second"));
}

#[test]
fn entering_nests_and_leaving_restores() {
    let (a, b) = (named("first", 1), named("second", 1));
    assert!(Handle::try_current().is_none());
    {
        let _a = a.enter();
        assert!(current().contains("first"));
        {
            let _b = b.handle().enter();
            assert!(current().contains("second"));
            a.block_on(async { assert!(current().contains("first")) });
            assert!(current().contains("second"));
            {
                let _a = a.handle().enter();
                assert!(current().contains("first"));
            }
            assert!(
                wait_for(windlass::spawn(async { thread_name() })).unwrap().starts_with("second-")
            );
        }
        assert!(current().contains("first"));
    }
    assert!(Handle::try_current().is_none());
}

#[test]
fn guards_dropped_out_of_order_panic_and_leave_what_is_right() {
    let (a, b) = (named("first", 1), named("second", 1));
    let (first, second) = (a.enter(), b.enter());
    let told = catch_unwind(AssertUnwindSafe(|| drop(first))).unwrap_err();
    assert!(text_of(&*told).contains("reverse order"), "{}", text_of(&*told));
    assert!(current().contains("second"));
    drop(second);
    assert!(Handle::try_current().is_none());
    // One that was forgotten stays, and can't be told from one that is still to come.
    let (first, second) = (a.enter(), b.enter());
    std::mem::forget(second);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(first))).is_err());
    assert!(current().contains("second"));
    let third = a.enter();
    assert!(current().contains("first"));
    drop(third);
    assert!(current().contains("second"));
}

#[test]
fn guards_dropped_out_of_order_by_a_panic_do_not_panic_again() {
    let (a, b) = (named("first", 1), named("second", 1));
    let thrown = catch_unwind(AssertUnwindSafe(|| {
        // Variables go in reverse order, the fields of a tuple do not.
        let _guards = (a.enter(), b.enter());
        util::throw("with two guards");
    }))
    .unwrap_err();
    assert_eq!(text_of(&*thrown), "with two guards");
    assert!(Handle::try_current().is_none());
}

#[test]
fn futures_side_by_side_that_keep_guards_are_told() {
    let (main, a, b) = (named("main", 1), named("first", 1), named("second", 1));
    let (go_first, go_second) = (AsyncGate::new(), AsyncGate::new());
    let keeps = |runtime: &Runtime, gate: &AsyncGate| {
        let (handle, gate) = (runtime.handle().clone(), gate.clone());
        Box::pin(async move {
            let _entered = handle.enter();
            gate.wait().await;
        })
    };
    let (mut one, mut other) = (keeps(&a, &go_first), keeps(&b, &go_second));
    main.block_on(async {
        assert!(util::poll_once(&mut one).is_pending() && util::poll_once(&mut other).is_pending());
        go_first.open();
        assert!(catch_unwind(AssertUnwindSafe(|| util::poll_once(&mut one))).is_err());
        go_second.open();
        assert!(util::poll_once(&mut other).is_ready());
        assert!(current().contains("main"), "{}", current());
    });
    assert!(Handle::try_current().is_none());
}

#[test]
fn a_guard_that_outlives_what_it_was_made_in_concerns_nobody() {
    let (main, other) = (named("main", 1), named("other", 1));
    let _entered = main.enter();
    // Out of a `block_on`.
    let guard = main.block_on(async { other.enter() });
    assert!(current().contains("main"));
    let inner = other.enter();
    drop(guard);
    assert!(current().contains("other"));
    drop(inner);
    // Out of a poll of a loop, of which each is the loop's.
    let mut tasks = Builder::new().thread_name("loop").build_manual().unwrap();
    let gate = AsyncGate::new();
    let (handle, inner) = (other.handle().clone(), gate.clone());
    let keeps = tasks.spawn_local(async move {
        let entered = handle.enter();
        inner.wait().await;
        let before = current();
        drop(entered);
        (before, current())
    });
    tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
    assert!(current().contains("main"));
    gate.open();
    tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
    let (before, after) = wait_for(keeps).unwrap();
    assert!(before.contains("loop") && after.contains("loop"), "{before}, {after}");
    assert!(current().contains("main"));
}

#[test]
fn a_task_may_enter_another_runtime_during_a_poll() {
    let (a, b) = (named("first", 1), named("second", 1));
    let handle = b.handle().clone();
    let task = a.spawn(async move {
        let guest = {
            let _b = handle.enter();
            windlass::spawn(async { thread_name() })
        };
        (guest.await.unwrap(), current())
    });
    let (guest, current) = wait_for(task).unwrap();
    assert!(guest.starts_with("second-"));
    assert!(current.contains("first"));
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = windlass::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn what_a_computation_has_entered_concerns_no_task_that_is_polled_in_its_middle() {
    // No spares: the only worker polls the task, at split points of the computation.
    let a = Builder::new().workers(1).max_spares(0).thread_name("first").build().unwrap();
    let b = named("second", 1);
    let (begun, stop) = (Gate::new(), OpenOnDrop(Gate::new()));
    let _entered = a.enter();
    let computation = windlass::compute({
        let (begun, stop, other) = (begun.clone(), stop.0.clone(), b.handle().clone());
        move || {
            let _entered = other.enter();
            begun.open();
            while !stop.is_open() {
                fib(12);
                assert!(current().contains("second"), "it comes back after each poll in place");
            }
        }
    });
    begun.wait();
    let task = a.spawn(async {
        for _ in 0..50 {
            let here = current();
            assert!(here.contains("first"), "{here}");
            let spawned = windlass::spawn(async { thread_name() }).await.unwrap();
            assert!(spawned.starts_with("first-"), "{spawned}");
        }
    });
    let outcome = wait_for(task);
    assert!(!computation.is_finished(), "the task has run beside it");
    stop.0.open();
    outcome.unwrap();
    wait_for(computation).unwrap();
}

#[test]
fn what_a_computation_has_entered_concerns_no_job_of_its_scopes() {
    let (a, b) = (named("first", 1), named("second", 1));
    let _entered = a.enter();
    let other = b.handle().clone();
    let computation = windlass::compute(move || {
        let _entered = other.enter();
        let jobs = Mutex::new(Vec::new());
        windlass::scope(|scope| {
            for _ in 0..3 {
                // One that forgets its guard concerns neither the next nor who waits.
                scope.spawn(|_| {
                    jobs.lock().unwrap().push(current());
                    std::mem::forget(b.enter());
                });
            }
        });
        (jobs.into_inner().unwrap(), current(), b)
    });
    let (jobs, after, _b) = wait_for(computation).unwrap();
    assert_eq!(jobs.len(), 3);
    assert!(jobs.iter().all(|job| job.contains("first")), "{jobs:?}");
    assert!(after.contains("second"), "{after}");
}

#[test]
fn a_guard_forgotten_in_a_stolen_job_concerns_nobody_else() {
    let (a, b) = (named("first", 2), named("second", 1));
    let _entered = a.enter();
    let other = b.handle().clone();
    let computation = windlass::compute(move || {
        let _entered = other.enter();
        let stolen = Gate::new();
        let forgetful = || {
            let found = current();
            std::mem::forget(other.enter());
            stolen.open();
            found
        };
        windlass::join(|| stolen.wait(), forgetful).1
    });
    let found = wait_for(computation).unwrap();
    assert!(found.contains("first"), "{found}");
    // Both workers are asked: neither task ends before the other has begun.
    let both = Arc::new(Barrier::new(2));
    let tasks = [(); 2].map(|()| {
        let both = both.clone();
        a.spawn(async move {
            both.wait();
            current()
        })
    });
    for task in tasks {
        let here = wait_for(task).unwrap();
        assert!(here.contains("first"), "{here}");
    }
}

#[test]
fn unwinding_leaves_every_runtime_that_was_entered() {
    let runtime = named("entered", 1);
    for _ in 0..10 {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(async {
                let _inner = runtime.enter();
                util::throw("out of both");
            });
        }));
        assert!(Handle::try_current().is_none());
    }
    let name = wait_for(runtime.spawn(async { thread_name() })).unwrap();
    assert!(name.starts_with("entered-"));
}

/// The guard holds what it needs of the runtime.
#[test]
fn a_runtime_may_be_shut_down_while_it_is_entered() {
    let runtime = runtime(1);
    let entered = runtime.enter();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    // It is the current one as long as the guard is there, and runs nothing any more.
    assert!(wait_for(windlass::spawn(async {})).unwrap_err().is_cancelled());
    drop(entered);
    assert!(windlass::Handle::try_current().is_none());
}
