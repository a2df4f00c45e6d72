//! Shutdown: bounded by its deadline, every task dropped, and no dead-lock wherever the runtime is
//! dropped. The report is tested in `shutdown_report.rs`.

mod util;

use std::cell::RefCell;
use std::future::pending;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use util::{
    AsyncGate, Count, Gate, OnDrop, OpenOnDrop, PATIENCE, runtime, wait_for, wait_until,
    within_patience,
};
use windlass::{Builder, Runtime, task};

const SHORT: Duration = Duration::from_millis(20);

#[test]
fn the_deadline_bounds_the_wait_for_a_stuck_task_behind_which_others_queue() {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let (release, busy, dropped) = (OpenOnDrop(Gate::new()), Gate::new(), Count::new());
    let stuck = {
        let (release, busy) = (release.0.clone(), busy.clone());
        runtime.spawn(async move {
            busy.open();
            release.wait();
        })
    };
    busy.wait();
    for _ in 0..100 {
        let guard = dropped.on_drop();
        drop(runtime.spawn(async move { drop(guard) }));
    }
    let report = within_patience("shutdown", move || runtime.shutdown(SHORT));
    assert!(!report.is_clean());
    assert_eq!(dropped.get(), 0);
    release.0.open();
    dropped.wait_for(100);
    wait_for(stuck).unwrap();
}

#[test]
fn a_deadline_beyond_the_clock_waits_for_the_end() {
    let runtime = runtime(1);
    let ended = Count::new();
    let inner = ended.clone();
    let begun = Gate::new();
    let inner_begun = begun.clone();
    drop(runtime.spawn_blocking(move || {
        inner_begun.open();
        thread::sleep(SHORT);
        inner.add();
    }));
    begun.wait();
    assert!(runtime.shutdown(Duration::MAX).is_clean());
    assert_eq!(ended.get(), 1);
}

/// Gives the runtime away to what will drop it.
type Cell = Arc<Mutex<Option<Runtime>>>;

#[test]
fn a_runtime_dropped_inside_one_of_its_own_tasks_does_not_dead_lock() {
    for _ in 0..100 {
        let cell: Cell = Arc::default();
        let runtime = runtime(2);
        let (gate, dropped) = (AsyncGate::new(), Count::new());
        for _ in 0..10 {
            let guard = dropped.on_drop();
            drop(runtime.spawn(async move {
                let _guard = guard;
                pending::<()>().await;
            }));
        }
        let task = {
            let (cell, gate) = (cell.clone(), gate.clone());
            runtime.spawn(async move {
                gate.wait().await;
                drop(cell.lock().unwrap().take());
                1
            })
        };
        *cell.lock().unwrap() = Some(runtime);
        gate.open();
        assert_eq!(wait_for(task).unwrap(), 1);
        dropped.wait_for(10);
    }
}

#[test]
fn a_runtime_shut_down_inside_its_own_blocking_closure_does_not_dead_lock() {
    for _ in 0..100 {
        let cell: Cell = Arc::default();
        let runtime = runtime(1);
        let go = Gate::new();
        let closure = {
            let (cell, go) = (cell.clone(), go.clone());
            runtime.spawn_blocking(move || {
                go.wait();
                let runtime = cell.lock().unwrap().take().unwrap();
                runtime.shutdown(Duration::MAX).elapsed()
            })
        };
        *cell.lock().unwrap() = Some(runtime);
        go.open();
        wait_for(closure).unwrap();
    }
}

/// As above, with another runtime entered, by hand and by `block_on`.
#[test]
fn a_runtime_shut_down_inside_its_own_blocking_closure_while_another_is_entered() {
    let other = runtime(1);
    for by_block_on in [false, true] {
        let cell: Cell = Arc::default();
        let runtime = runtime(1);
        let (go, inside) = (Gate::new(), other.handle().clone());
        let closure = {
            let (cell, go) = (cell.clone(), go.clone());
            runtime.spawn_blocking(move || {
                go.wait();
                let runtime = cell.lock().unwrap().take().unwrap();
                if by_block_on {
                    inside.block_on(async { runtime.shutdown(Duration::MAX).elapsed() })
                } else {
                    let _entered = inside.enter();
                    runtime.shutdown(Duration::MAX).elapsed()
                }
            })
        };
        *cell.lock().unwrap() = Some(runtime);
        go.open();
        wait_for(closure).unwrap();
    }
}

/// A blocking thread of one runtime is an outside thread to another, entered or not.
#[test]
fn a_blocking_thread_of_another_runtime_waits_for_the_end() {
    let other = runtime(1);
    for _ in 0..50 {
        let (runtime, dropped) = (runtime(1), Count::new());
        for _ in 0..100 {
            let guard = dropped.on_drop();
            drop(runtime.spawn(async move {
                let _guard = guard;
                pending::<()>().await;
            }));
        }
        let closure = other.spawn_blocking(move || {
            let handle = runtime.handle().clone();
            let _entered = handle.enter();
            assert!(runtime.shutdown(PATIENCE).is_clean());
        });
        wait_for(closure).unwrap();
        assert_eq!(dropped.get(), 100);
    }
}

#[test]
fn a_runtime_dropped_inside_a_task_of_another_waits_for_its_own_tasks() {
    let outer = runtime(1);
    for _ in 0..50 {
        let inner = runtime(1);
        let dropped = Count::new();
        let guard = dropped.on_drop();
        drop(inner.spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        }));
        wait_for(outer.spawn(async move { drop(inner) })).unwrap();
        assert_eq!(dropped.get(), 1);
    }
}

#[test]
fn tasks_that_spawn_in_their_drop_get_cancelled_tasks() {
    let runtime = runtime(2);
    let (started, dropped) = (Count::new(), Count::new());
    for _ in 0..100 {
        let (started, dropped) = (started.clone(), dropped.clone());
        let handle = runtime.handle().clone();
        drop(runtime.spawn(async move {
            let _spawns = OnDrop(move || {
                let (a, b, c) = (dropped.on_drop(), dropped.on_drop(), dropped.on_drop());
                drop(windlass::spawn(async move { drop(a) }));
                drop(handle.spawn(async move { drop(b) }));
                drop(windlass::spawn_blocking(move || drop(c)));
            });
            started.add();
            pending::<()>().await;
        }));
    }
    started.wait_for(100);
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert_eq!(dropped.get(), 300);
}

#[test]
fn tasks_whose_drop_wakes_and_aborts_others_are_all_dropped() {
    for _ in 0..50 {
        let runtime = runtime(2);
        let (gate, dropped) = (AsyncGate::new(), Count::new());
        let others = Arc::new(Mutex::new(Vec::new()));
        for _ in 0..50 {
            let (gate, guard, others) = (gate.clone(), dropped.on_drop(), others.clone());
            let task = {
                let others = others.clone();
                runtime.spawn(async move {
                    let _guard = guard;
                    let inner = gate.clone();
                    let _wakes = OnDrop(move || {
                        inner.open();
                        let others: Vec<task::AbortHandle> =
                            std::mem::take(&mut *others.lock().unwrap());
                        others.iter().for_each(task::AbortHandle::abort);
                    });
                    gate.wait().await;
                    pending::<()>().await;
                })
            };
            others.lock().unwrap().push(task.abort_handle());
        }
        wait_until("all wait", || gate.waiting() >= 50);
        assert!(runtime.shutdown(PATIENCE).is_clean());
        assert_eq!(dropped.get(), 50);
    }
}

/// A thread-local whose destructor takes longer than the deadline allows.
#[test]
fn a_slow_destructor_of_a_thread_local_does_not_outlast_the_deadline() {
    type LastWords = OnDrop<Box<dyn FnMut()>>;
    thread_local! {
        static SLOW: RefCell<Option<LastWords>> = const { RefCell::new(None) };
    }
    let runtime = runtime(1);
    let release = OpenOnDrop(Gate::new());
    let gate = release.0.clone();
    let task = runtime.spawn(async move {
        SLOW.with(|slow| *slow.borrow_mut() = Some(OnDrop(Box::new(move || gate.wait()))));
    });
    wait_for(task).unwrap();
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || done.send(runtime.shutdown(SHORT).elapsed()));
    let result = is_done.recv_timeout(PATIENCE / 2);
    release.0.open();
    assert!(result.is_ok(), "shutdown waits for the destructor");
}
