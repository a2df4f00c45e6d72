//! Aborting tasks: idle, running, finished, not yet polled, and in a race with their end.

mod util;

use std::future::pending;

use util::{AsyncGate, Count, Gate, OnDrop, OpenOnDrop, runtime, wait_for, wait_until};
use windlass::task::JoinError;

#[test]
fn aborting_an_idle_task_drops_its_future_and_tells_the_handle() {
    // A spare has no index.
    let runtime = windlass::Builder::new().workers(1).max_spares(0).build().unwrap();
    let (started, dropped, dropped_on_worker) = (Count::new(), Count::new(), Count::new());
    let task = {
        let (started, dropped, on_worker) =
            (started.clone(), dropped.clone(), dropped_on_worker.clone());
        let guard = OnDrop(move || {
            dropped.add();
            if windlass::worker_index().is_some() {
                on_worker.add();
            }
        });
        runtime.spawn(async move {
            let _guard = guard;
            started.add();
            pending::<()>().await;
        })
    };
    started.wait_for(1);
    task.abort();
    task.abort();
    let error = wait_for(task).unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!((dropped.get(), dropped_on_worker.get()), (1, 1));
}

#[test]
fn aborting_a_running_task_takes_effect_after_its_poll() {
    let runtime = runtime(1);
    let (busy, release) = (Gate::new(), OpenOnDrop(Gate::new()));
    let (dropped, passed) = (Count::new(), Count::new());
    let task = {
        let (busy, release) = (busy.clone(), release.0.clone());
        let (guard, passed) = (dropped.on_drop(), passed.clone());
        runtime.spawn(async move {
            let _guard = guard;
            busy.open();
            release.wait();
            windlass::yield_now().await;
            passed.add();
        })
    };
    busy.wait();
    task.abort();
    assert!(!task.is_finished());
    assert_eq!(dropped.get(), 0);
    release.0.open();
    assert!(wait_for(task).unwrap_err().is_cancelled());
    assert_eq!((dropped.get(), passed.get()), (1, 0));
}

#[test]
fn a_task_that_ends_with_the_poll_in_which_it_is_aborted_gives_its_output() {
    let runtime = runtime(1);
    let (busy, release) = (Gate::new(), OpenOnDrop(Gate::new()));
    let task = {
        let (busy, release) = (busy.clone(), release.0.clone());
        runtime.spawn(async move {
            busy.open();
            release.wait();
            5
        })
    };
    busy.wait();
    task.abort();
    release.0.open();
    assert_eq!(wait_for(task).unwrap(), 5);
}

#[test]
fn aborting_a_finished_task_leaves_its_output_alone() {
    let runtime = runtime(1);
    let task = runtime.spawn(async { 5 });
    wait_until("the task ends", || task.is_finished());
    let abort = task.abort_handle();
    assert!(abort.is_finished());
    abort.clone().abort();
    task.abort();
    assert_eq!(wait_for(task).unwrap(), 5);
    abort.abort();
}

#[test]
fn a_task_aborted_before_its_first_poll_is_never_polled() {
    let runtime = windlass::Builder::new().workers(1).max_spares(0).build().unwrap();
    let (busy, release) = (Gate::new(), OpenOnDrop(Gate::new()));
    let hog = {
        let (busy, release) = (busy.clone(), release.0.clone());
        runtime.spawn(async move {
            busy.open();
            release.wait();
        })
    };
    busy.wait();
    let (polled, dropped) = (Count::new(), Count::new());
    let task = {
        let (polled, guard) = (polled.clone(), dropped.on_drop());
        runtime.spawn(async move {
            let _guard = guard;
            polled.add();
        })
    };
    task.abort_handle().abort();
    release.0.open();
    wait_for(hog).unwrap();
    assert!(wait_for(task).unwrap_err().is_cancelled());
    assert_eq!((polled.get(), dropped.get()), (0, 1));
}

#[test]
fn abort_races_with_completion_and_with_wakes() {
    let runtime = runtime(2);
    let dropped = Count::new();
    for round in 0..3_000_usize {
        let gate = AsyncGate::new();
        let task = {
            let (gate, guard) = (gate.clone(), dropped.on_drop());
            runtime.spawn(async move {
                let _guard = guard;
                gate.wait().await;
                round
            })
        };
        let abort = task.abort_handle();
        gate.open();
        for _ in 0..round % 64 {
            std::hint::spin_loop();
        }
        abort.abort();
        match wait_for(task) {
            Ok(output) => assert_eq!(output, round),
            Err(error) => assert!(error.is_cancelled()),
        }
        assert_eq!(dropped.get(), round + 1);
    }
}

#[test]
fn a_task_can_abort_itself() {
    let runtime = runtime(1);
    let (handles, inbox) = windlass::channel::bounded::<windlass::task::AbortHandle>(1);
    let task = runtime.spawn(async move {
        inbox.recv().await.unwrap().abort();
        windlass::yield_now().await;
        unreachable!("it was aborted");
    });
    handles.send_blocking(task.abort_handle()).unwrap();
    let result: Result<(), JoinError> = wait_for(task);
    assert!(result.unwrap_err().is_cancelled());
}
