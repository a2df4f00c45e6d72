//! Metrics tell what happened.

mod util;

use std::future::pending;

use util::{AsyncGate, Count, Gate, OpenOnDrop, runtime, throw, wait_for, wait_until};
use windlass::Builder;
use windlass::task::JoinHandle;

#[test]
fn tasks_are_counted_however_they_end() {
    let runtime = runtime(2);
    assert_eq!(runtime.metrics().tasks_spawned, 0);
    let finished: Vec<_> = (0..10).map(|_| runtime.spawn(async {})).collect();
    let panicked: Vec<JoinHandle<()>> =
        (0..5).map(|_| runtime.spawn(async { throw("counted") })).collect();
    let aborted: Vec<_> = (0..3).map(|_| runtime.spawn(pending::<()>())).collect();
    let alive: Vec<_> = (0..7).map(|_| runtime.spawn(pending::<()>())).collect();
    aborted.iter().for_each(JoinHandle::abort);
    wait_until("18 tasks end", || runtime.metrics().tasks_finished == 18);
    let metrics = runtime.metrics();
    assert_eq!(metrics.tasks_spawned, 25);
    assert_eq!(metrics.tasks_alive, 7);
    assert_eq!(metrics.tasks_panicked, 5);
    drop((finished, panicked, alive));
}

#[test]
fn tasks_spawned_by_tasks_count_like_those_from_outside() {
    let runtime = runtime(2);
    let task = runtime.spawn(async {
        for _ in 0..100 {
            windlass::spawn(async {}).await.unwrap();
        }
    });
    wait_for(task).unwrap();
    wait_until("all are counted", || runtime.metrics().tasks_finished == 101);
    assert_eq!(runtime.metrics().tasks_spawned, 101);
    assert_eq!(runtime.handle().metrics().tasks_alive, 0);
}

#[test]
fn every_poll_is_counted_once() {
    let runtime = runtime(2);
    let task = runtime.spawn(async {
        for _ in 0..999 {
            windlass::yield_now().await;
        }
    });
    wait_for(task).unwrap();
    let polls = || {
        let metrics = runtime.metrics();
        // A worker that the OS keeps from running for long looks stuck, and a spare polls in its place.
        metrics.workers.iter().chain(&metrics.spares).map(|worker| worker.polls).sum::<u64>()
    };
    wait_until("the last poll is counted", || polls() >= 1_000);
    assert_eq!(polls(), 1_000);
}

#[test]
fn sleeping_and_waking_are_counted_and_an_idle_runtime_counts_no_further() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let sums = || {
        let metrics = runtime.metrics();
        let parks: u64 = metrics.workers.iter().map(|worker| worker.parks).sum();
        let wakeups: u64 = metrics.workers.iter().map(|worker| worker.wakeups).sum();
        (parks, wakeups)
    };
    for _ in 0..100 {
        wait_for(runtime.spawn(async {})).unwrap();
        // Both sleep: each went to sleep once more than it was woken.
        wait_until("both sleep", || sums().0 == sums().1 + 2);
    }
    let (parks, wakeups) = sums();
    assert!(parks >= 100 && wakeups >= 98, "{parks} parks, {wakeups} wake-ups");
}

#[test]
fn queues_show_what_waits() {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let (release, busy) = (OpenOnDrop(Gate::new()), Gate::new());
    let hog = {
        let (release, busy) = (release.0.clone(), busy.clone());
        runtime.spawn(async move {
            for _ in 0..10 {
                drop(windlass::spawn(async {}));
            }
            busy.open();
            release.wait();
        })
    };
    busy.wait();
    let tasks: Vec<_> = (0..20).map(|_| runtime.spawn(async {})).collect();
    let metrics = runtime.metrics();
    assert_eq!(metrics.workers[0].queue_len, 10);
    assert_eq!(metrics.injector_len, 20);
    assert_eq!(metrics.lane_len, 0);
    assert_eq!(metrics.tasks_alive, 31);
    release.0.open();
    wait_for(hog).unwrap();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
    wait_until("the queues are empty", || {
        let metrics = runtime.metrics();
        metrics.injector_len == 0 && metrics.workers[0].queue_len == 0 && metrics.tasks_alive == 0
    });
}

#[test]
fn steals_are_counted() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let ran = Count::new();
    let task = {
        let ran = ran.clone();
        runtime.spawn(async move {
            for _ in 0..10 {
                let ran = ran.clone();
                drop(windlass::spawn(async move {
                    ran.add();
                }));
            }
            // Until the other worker has run them.
            ran.wait_for(10);
        })
    };
    wait_for(task).unwrap();
    assert!(runtime.metrics().workers.iter().any(|worker| worker.steals > 0));
}

#[test]
fn spares_and_blocking_threads_are_visible() {
    let runtime = Builder::new().workers(1).max_spares(3).max_blocking(2).build().unwrap();
    let metrics = runtime.metrics();
    assert_eq!((metrics.workers.len(), metrics.spares.len()), (1, 3));
    assert_eq!((metrics.spares_active, metrics.blocking_threads), (0, 0));
    let (release, gate) = (OpenOnDrop(Gate::new()), AsyncGate::new());
    let stuck = {
        let release = release.0.clone();
        runtime.spawn(async move { release.wait() })
    };
    let waiting = {
        let gate = gate.clone();
        runtime.spawn(async move { gate.wait().await })
    };
    wait_until("a spare runs it", || gate.waiting() == 1);
    let metrics = runtime.metrics();
    assert!(metrics.spares_active >= 1);
    assert!(metrics.spares.iter().map(|spare| spare.polls).sum::<u64>() >= 1);
    gate.open();
    wait_for(waiting).unwrap();
    release.0.open();
    wait_for(stuck).unwrap();
    wait_until("it goes home", || runtime.metrics().spares_active == 0);
    wait_for(runtime.spawn_blocking(|| ())).unwrap();
    assert_eq!(runtime.metrics().blocking_threads, 1);
}
