//! `compute`: from async code, cancelled before it begins, beside tasks that want to run too.

mod util;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use util::{
    Count, Gate, OnDrop, OpenOnDrop, PATIENCE, runtime, text_of, throw, wait_for, wait_until,
    within_patience,
};
use windlass::{Builder, Runtime, compute, join, yield_now};

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn tasks_await_computations() {
    let runtime = runtime(2);
    let sum = runtime.spawn(async {
        let both = (compute(|| fib(15)), compute(|| fib(16)));
        both.0.await.unwrap() + both.1.await.unwrap()
    });
    assert_eq!(wait_for(sum).unwrap(), 610 + 987);
}

#[test]
fn a_panic_reaches_the_handle_and_nobody_else() {
    let runtime = runtime(1);
    let _entered = runtime.enter();
    let error = wait_for(compute(|| throw("lost"))).unwrap_err();
    assert_eq!(text_of(&*error.into_panic()), "lost");
    assert_eq!(wait_for(compute(|| 1)).unwrap(), 1);
}

/// Holds the workers of a runtime in computations until the gate opens.
fn hold(runtime: &Runtime, workers: usize, release: &Gate) {
    let _entered = runtime.enter();
    let begun = Count::new();
    for _ in 0..workers {
        let (begun, release) = (begun.clone(), release.clone());
        drop(compute(move || {
            begun.add();
            release.wait();
        }));
    }
    begun.wait_for(workers);
}

#[test]
fn aborted_before_it_began_it_never_runs() {
    let runtime = runtime(1);
    let release = Gate::new();
    let _open = OpenOnDrop(release.clone());
    hold(&runtime, 1, &release);
    let _entered = runtime.enter();
    let dropped = Count::new();
    let guard = dropped.on_drop();
    let handle = compute(move || {
        let _guard = guard;
        unreachable!("it was aborted");
    });
    handle.abort();
    release.open();
    assert!(wait_for(handle).is_err_and(|error| error.is_cancelled()));
    assert_eq!(dropped.get(), 1);
}

#[test]
fn aborted_while_it_runs_it_comes_to_its_end() {
    let runtime = runtime(1);
    let _entered = runtime.enter();
    let (begun, release, ended) = (Gate::new(), Gate::new(), Count::new());
    let handle = compute({
        let (begun, release, ended) = (begun.clone(), release.clone(), ended.clone());
        move || {
            begun.open();
            release.wait();
            ended.add();
        }
    });
    begun.wait();
    handle.abort();
    release.open();
    let _ = wait_for(handle);
    assert_eq!(ended.get(), 1);
}

#[test]
fn shutdown_drops_what_has_not_begun() {
    let runtime = runtime(1);
    let release = Gate::new();
    hold(&runtime, 1, &release);
    let handles: Vec<_> = {
        let _entered = runtime.enter();
        (0..10).map(|_| compute(|| ())).collect()
    };
    assert_eq!(runtime.metrics().compute_queued, 10);
    release.open();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    for handle in handles {
        // The worker may have come to some of them first.
        let result = wait_for(handle);
        assert!(result.is_ok() || result.is_err_and(|error| error.is_cancelled()));
    }
}

/// Keeps computing in small joins until it is told to stop.
fn saturate(runtime: &Runtime, workers: usize, leaf: fn()) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let begun = Count::new();
    let _entered = runtime.enter();
    for _ in 0..workers {
        let (stop, begun) = (stop.clone(), begun.clone());
        drop(compute(move || {
            begun.add();
            while !stop.load(Ordering::Relaxed) {
                join(leaf, leaf);
            }
        }));
    }
    begun.wait_for(workers);
    stop
}

fn spin_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Only split points can serve these: there are no spares.
#[test]
fn tasks_run_at_the_split_points_of_computations() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let stop = saturate(&runtime, 2, || {
        fib(5);
    });
    for _ in 0..20 {
        let task = runtime.spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
            windlass::spawn(async { 1 }).await.unwrap()
        });
        assert_eq!(wait_for(task).unwrap(), 1);
    }
    stop.store(true, Ordering::Relaxed);
}

#[test]
fn a_task_polled_in_place_may_join_and_panic() {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let stop = saturate(&runtime, 1, || {
        fib(5);
    });
    for _ in 0..20 {
        let joins = runtime.spawn(async { fib(16) });
        let panics = runtime.spawn(async { throw("in place") });
        assert_eq!(wait_for(joins).unwrap(), 987);
        assert!(wait_for(panics).unwrap_err().is_panic());
    }
    stop.store(true, Ordering::Relaxed);
}

/// The second closure of a join whose first one has panicked runs while its thread unwinds. A task
/// that was polled in its middle would take itself for one that panics: destructors would keep
/// quiet, and locks would not be poisoned.
#[test]
fn no_task_is_polled_on_a_thread_that_unwinds() {
    let runtime = runtime(1);
    let _entered = runtime.enter();
    for _ in 0..20 {
        let polled = Arc::new(AtomicBool::new(false));
        let inner = polled.clone();
        let computation = compute(move || {
            let mut task = None;
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let task = &mut task;
                let throws = || {
                    *task = Some(windlass::spawn(async move {
                        let unwinds = thread::panicking();
                        inner.store(true, Ordering::SeqCst);
                        unwinds
                    }));
                    throw("the first closure");
                };
                let waits = || {
                    let start = Instant::now();
                    while !polled.load(Ordering::SeqCst) {
                        assert!(start.elapsed() < PATIENCE, "the task is never polled");
                        fib(5);
                    }
                };
                join(throws, waits)
            }));
            assert!(caught.is_err());
            task.unwrap()
        });
        let task = wait_for(computation).unwrap();
        assert!(!wait_for(task).unwrap(), "polled on a thread that unwinds");
    }
}

/// A computation is not begun inside another one, however many tasks come between.
#[test]
fn a_computation_is_never_run_in_place() {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let stop = saturate(&runtime, 1, || {
        fib(5);
    });
    let _entered = runtime.enter();
    let second = compute(|| 2);
    for _ in 0..20 {
        wait_for(runtime.spawn(async {})).unwrap();
    }
    assert!(!second.is_finished());
    stop.store(true, Ordering::Relaxed);
    assert_eq!(wait_for(second).unwrap(), 2);
}

/// Leaves that last far longer than a spare takes to come, on every worker, and `stuck_after` is far
/// longer still.
#[test]
fn tasks_run_beside_leaves_without_split_points() {
    let runtime = Builder::new().workers(2).stuck_after(Duration::from_secs(600)).build().unwrap();
    let stop = saturate(&runtime, 2, || spin_for(Duration::from_millis(20)));
    for _ in 0..20 {
        wait_for(runtime.spawn(async {})).unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    wait_until("the spares end", || runtime.metrics().spares_active == 0);
}

/// Tasks that are ready all the time do not keep a computation from beginning and ending.
#[test]
fn computations_get_their_turn_beside_endless_tasks() {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..4 {
        let stop = stop.clone();
        drop(runtime.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                yield_now().await;
            }
        }));
    }
    let _entered = runtime.enter();
    for _ in 0..5 {
        assert_eq!(wait_for(compute(|| fib(16))).unwrap(), 987);
    }
    stop.store(true, Ordering::Relaxed);
}

/// The clock that tells when to look at the OS began anew after each computation.
#[test]
fn tasks_that_compute_in_each_poll_starve_nobody() {
    for leaf in [Duration::from_micros(1), Duration::from_micros(100)] {
        let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let busy = {
            let stop = stop.clone();
            runtime.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    join(|| spin_for(leaf), || spin_for(leaf));
                    yield_now().await;
                }
            })
        };
        wait_for(runtime.spawn(async {})).unwrap();
        let timer = runtime.spawn(windlass::timer::sleep(Duration::from_millis(1)));
        wait_for(timer).unwrap();
        let _entered = runtime.enter();
        wait_for(compute(|| {})).unwrap();
        stop.store(true, Ordering::Relaxed);
        wait_for(busy).unwrap();
    }
}

#[test]
fn a_share_that_makes_no_sense_is_refused() {
    for percent in [0, 100, 1000] {
        assert!(Builder::new().compute_share(percent).build().is_err());
    }
    for percent in [1, 99] {
        let runtime = Builder::new().workers(1).compute_share(percent).build().unwrap();
        let _entered = runtime.enter();
        assert_eq!(wait_for(compute(|| fib(10))).unwrap(), 55);
    }
}

#[test]
fn a_manual_loop_computes_when_it_is_told_to() {
    let mut tasks = Builder::new().build_manual().unwrap();
    let handle = {
        let _entered = tasks.handle().enter();
        compute(|| fib(10))
    };
    while !handle.is_finished() {
        for runnable in tasks.ready_tasks(Some(Duration::from_millis(10))).unwrap() {
            runnable.run();
        }
    }
    assert_eq!(wait_for(handle).unwrap(), 55);
}

/// What a task begins in its drop is refused, and must not confuse the count of tasks that are left.
#[test]
fn a_computation_begun_by_a_task_that_is_shut_down_is_refused() {
    let begin_another = || OnDrop(|| drop(compute(|| ())));

    let runtime = runtime(2);
    let waits = Count::new();
    for _ in 0..4 {
        let (another, waits) = (begin_another(), waits.clone());
        drop(runtime.spawn(async move {
            let _another = another;
            waits.add();
            std::future::pending::<()>().await;
        }));
    }
    waits.wait_for(4);
    let report = within_patience("the shutdown", move || runtime.shutdown(PATIENCE));
    assert!(report.is_clean(), "{report}");

    within_patience("the manual loop's end", move || {
        let mut tasks = Builder::new().build_manual().unwrap();
        let another = begin_another();
        drop(tasks.spawn_local(async move {
            let _another = another;
            std::future::pending::<()>().await;
        }));
        tasks.ready_tasks(Some(Duration::ZERO)).unwrap().for_each(|runnable| runnable.run());
    });
}
