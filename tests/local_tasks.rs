//! Tasks that stay on one thread: `spawn_local` inside of `block_on`, and `spawn_pinned`.

mod util;

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use util::{
    AsyncGate, Count, Gate, OnDrop, OpenOnDrop, PATIENCE, runtime, text_of, throw, wait_for,
    within_patience,
};
use windlass::task::{self, spawn_local, spawn_pinned};
use windlass::timer::{now, sleep};
use windlass::{Builder, block_on, spawn, yield_now};

#[test]
fn local_tasks_run_beside_the_future_of_block_on() {
    block_on(async {
        let log = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let log = log.clone();
                spawn_local(async move {
                    for step in 0..3 {
                        log.borrow_mut().push((step, number));
                        yield_now().await;
                    }
                    number
                })
            })
            .collect();
        for (number, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.unwrap(), number);
        }
        let turns: Vec<_> =
            (0..3).flat_map(|step| (0..3).map(move |number| (step, number))).collect();
        assert_eq!(*log.borrow(), turns, "each in its turn");
    });
}

#[test]
fn they_wait_for_timers_sockets_and_other_threads() {
    let runtime = runtime(2);
    runtime.block_on(async {
        let here = thread::current().id();
        let count = Rc::new(Cell::new(0));
        let tasks: Vec<_> = (0..20)
            .map(|number| {
                let count = count.clone();
                spawn_local(async move {
                    sleep(Duration::from_millis(number % 3)).await;
                    spawn(async { yield_now().await }).await.unwrap();
                    assert_eq!(thread::current().id(), here);
                    let inner = {
                        let count = count.clone();
                        spawn_local(async move { count.set(count.get() + 1) })
                    };
                    inner.await.unwrap();
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(count.get(), 20);
    });
}

#[test]
fn what_has_not_ended_is_dropped_before_block_on_returns() {
    let dropped = Count::new();
    let (handle,) = block_on(async {
        let (mark, waits) = (dropped.on_drop(), AsyncGate::new());
        let gate = waits.clone();
        let handle = spawn_local(async move {
            let _mark = mark;
            gate.wait().await;
        });
        // One that is never polled.
        let mark = dropped.on_drop();
        while waits.waiting() == 0 {
            yield_now().await;
        }
        drop(spawn_local(async move {
            let _mark = mark;
        }));
        (handle,)
    });
    assert_eq!(dropped.get(), 2);
    assert!(wait_for(handle).unwrap_err().is_cancelled());
}

#[test]
fn a_task_that_is_dropped_at_the_end_may_spawn_one_more_in_vain() {
    let ran = Count::new();
    block_on(async {
        let ran = ran.clone();
        drop(spawn_local(async move {
            let _spawn = OnDrop(move || {
                let ran = ran.clone();
                drop(spawn_local(async move { _ = ran.add() }));
            });
            pending::<()>().await;
        }));
        yield_now().await;
    });
    assert_eq!(ran.get(), 0);
}

#[test]
fn a_panic_and_an_abort_end_the_task_alone() {
    block_on(async {
        let failed = spawn_local(async { throw("local") }).await.unwrap_err();
        assert!(failed.is_panic());
        let stuck = spawn_local(pending::<()>());
        let abort = stuck.abort_handle();
        thread::spawn(move || abort.abort()).join().unwrap();
        assert!(stuck.await.unwrap_err().is_cancelled());
        assert_eq!(spawn_local(async { 1 }).await.unwrap(), 1);
    });
}

#[test]
fn a_waker_that_outlives_the_block_on_does_nothing() {
    let gate = AsyncGate::new();
    block_on(async {
        let inner = gate.clone();
        drop(spawn_local(async move { inner.wait().await }));
        while gate.waiting() == 0 {
            yield_now().await;
        }
    });
    gate.open();
}

/// Wakers of other threads come while the tasks are being cancelled.
#[test]
fn the_end_waits_for_a_wake_up_that_is_under_way() {
    for _ in 0..200 {
        let gate = AsyncGate::new();
        let opener = gate.clone();
        let (go, began) = (Gate::new(), Count::new());
        let waiter = {
            let (go, began) = (go.clone(), began.clone());
            thread::spawn(move || {
                began.add();
                go.wait();
                opener.open();
            })
        };
        began.wait_for(1);
        block_on(async {
            for _ in 0..4 {
                let gate = gate.clone();
                drop(spawn_local(async move { gate.wait().await }));
            }
            while gate.waiting() < 4 {
                yield_now().await;
            }
            go.open();
        });
        waiter.join().unwrap();
    }
}

#[test]
fn inner_calls_of_block_on_have_tasks_of_their_own() {
    block_on(async {
        let outer = spawn_local(async { 1 });
        thread::scope(|_| {
            block_on(async { assert_eq!(spawn_local(async { 2 }).await.unwrap(), 2) })
        });
        assert_eq!(outer.await.unwrap(), 1);
    });
}

#[test]
fn a_local_task_sees_neither_the_values_nor_the_id_around_the_block_on() {
    windlass::task_local! { static VALUE: u32; }
    let runtime = runtime(1);
    let task = runtime.spawn(VALUE.scope(1, async {
        let id = task::id();
        task::block_in_place(|| {
            block_on(async {
                assert_eq!(VALUE.get(), 1);
                let inner = spawn_local(async { (VALUE.try_get().is_err(), task::id()) });
                let (unseen, inner) = inner.await.unwrap();
                assert!(unseen && inner != id);
            });
        });
    }));
    wait_for(task).unwrap();
}

#[test]
fn elsewhere_spawn_local_is_refused_with_advice() {
    let runtime = runtime(1);
    let outside = std::panic::catch_unwind(|| spawn_local(async {}));
    assert!(text_of(&*outside.unwrap_err()).contains("spawn_pinned"));
    let task = runtime.spawn(async { std::panic::catch_unwind(|| spawn_local(async {})).is_err() });
    assert!(wait_for(task).unwrap());
}

#[test]
fn a_pinned_task_stays_on_its_thread_which_is_no_worker() {
    let runtime = Builder::new().workers(2).thread_name("ours").build().unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            runtime.handle().spawn_pinned(move || async move {
                let here = (thread::current().id(), Rc::new(number));
                for _ in 0..10 {
                    yield_now().await;
                    sleep(Duration::from_micros(10)).await;
                    assert_eq!(thread::current().id(), here.0);
                }
                let other = here.1.clone();
                let local = spawn_local(async move { (*other, thread::current().id()) });
                assert_eq!(local.await.unwrap(), (number, here.0));
                assert!(windlass::worker_index().is_none());
                thread::current().name().unwrap().to_owned()
            })
        })
        .collect();
    for task in tasks {
        let name = wait_for(task).unwrap();
        assert!(["ours-pinned-0", "ours-pinned-1"].contains(&&*name), "{name}");
    }
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

/// Why they are no workers.
#[test]
fn pinned_tasks_go_on_while_all_workers_are_stuck() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let (gate, stuck) = (Gate::new(), Count::new());
    let _release = OpenOnDrop(gate.clone());
    let pinned = runtime.spawn(async { (spawn_pinned(|| sleep(Duration::from_millis(1))),) });
    let (pinned,) = wait_for(pinned).unwrap();
    for _ in 0..2 {
        let (gate, stuck) = (gate.clone(), stuck.clone());
        drop(runtime.spawn(async move {
            stuck.add();
            gate.wait();
        }));
    }
    stuck.wait_for(2);
    wait_for(pinned).unwrap();
    wait_for(runtime.handle().spawn_pinned(|| sleep(Duration::from_millis(1)))).unwrap();
}

#[test]
fn shutdown_drops_pinned_tasks_on_their_thread() {
    let runtime = runtime(2);
    let (dropped, there) = (Count::new(), Count::new());
    let handles: Vec<_> = (0..4)
        .map(|_| {
            let (dropped, there) = (dropped.clone(), there.clone());
            runtime.handle().spawn_pinned(move || async move {
                let here = thread::current().id();
                let _check = OnDrop(move || {
                    if thread::current().id() == here {
                        dropped.add();
                    }
                });
                there.add();
                pending::<()>().await;
            })
        })
        .collect();
    there.wait_for(4);
    let handle = runtime.handle().clone();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert_eq!(dropped.get(), 4);
    for handle in handles {
        assert!(wait_for(handle).unwrap_err().is_cancelled());
    }
    assert!(wait_for(handle.spawn_pinned(|| async {})).unwrap_err().is_cancelled());
}

#[test]
fn a_pinned_task_that_blocks_is_named_as_a_straggler() {
    let runtime = runtime(1);
    let (gate, there) = (Gate::new(), Count::new());
    let _release = OpenOnDrop(gate.clone());
    drop(runtime.handle().spawn_pinned({
        let (gate, there) = (gate.clone(), there.clone());
        move || async move {
            there.add();
            gate.wait();
        }
    }));
    there.wait_for(1);
    let report = runtime.shutdown(Duration::from_millis(10));
    assert!(!report.is_clean());
    assert!(report.to_string().contains("local_tasks.rs"), "{report}");
}

#[test]
fn a_runtime_may_be_dropped_by_a_pinned_task() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    let ended = within_patience("a runtime that a pinned task drops", move || {
        wait_for(handle.spawn_pinned(move || async move { drop(runtime) }))
    });
    assert!(ended.is_ok() || ended.unwrap_err().is_cancelled());
}

#[test]
fn in_virtual_time_the_clock_waits_for_local_and_pinned_tasks() {
    let hour = Duration::from_secs(3600);
    for _ in 0..20 {
        let runtime = Builder::new().workers(1).virtual_time().build().unwrap();
        let times = runtime.block_on(async move {
            let start = now();
            let pinned = spawn_pinned(move || async move {
                sleep(hour).await;
                now() - start
            });
            let local = spawn_local(async move {
                sleep(hour * 2).await;
                now() - start
            });
            sleep(hour * 3).await;
            [pinned.await.unwrap(), local.await.unwrap(), now() - start]
        });
        assert_eq!(times, [hour, hour * 2, hour * 3]);
    }
}

#[test]
fn hooks_are_told_of_local_and_pinned_tasks() {
    let (spawned, ended) = (Count::new(), Count::new());
    let count = |count: &Count| {
        let count = count.clone();
        move |_: &windlass::TaskMeta<'_>| _ = count.add()
    };
    let runtime = Builder::new()
        .workers(1)
        .on_task_spawn(count(&spawned))
        .on_task_end(count(&ended))
        .build()
        .unwrap();
    runtime.block_on(async {
        spawn_local(async {}).await.unwrap();
        drop(spawn_local(pending::<()>()));
        spawn_pinned(|| async {}).await.unwrap();
    });
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert_eq!((spawned.get(), ended.get()), (3, 3));
}
