//! Work that moves between workers: from one that is in a long poll, in bursts, and from many threads.

mod util;

use std::future::Future;
use std::thread;

use util::{AsyncGate, Count, Gate, OpenOnDrop, runtime, wait_for, wait_until};
use windlass::Builder;

/// The spawner blocks in the same poll, so the other worker must come by itself.
#[test]
fn what_a_task_spawns_runs_elsewhere_while_its_spawner_is_in_a_long_poll() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    for round in 0..50 {
        let task = runtime.spawn(async move {
            let ran = Gate::new();
            for _ in 0..round % 3 + 1 {
                let ran = ran.clone();
                drop(windlass::spawn(async move { ran.open() }));
            }
            ran.wait();
        });
        wait_for(task).unwrap();
    }
}

#[test]
fn what_a_task_wakes_runs_elsewhere_while_its_waker_is_in_a_long_poll() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    for _ in 0..50 {
        let (start, ran) = (AsyncGate::new(), Gate::new());
        let sleeper = {
            let (start, ran) = (start.clone(), ran.clone());
            runtime.spawn(async move {
                start.wait().await;
                ran.open();
            })
        };
        wait_until("it sleeps", || start.waiting() == 1);
        let waker = runtime.spawn(async move {
            start.open();
            ran.wait();
        });
        wait_for(waker).unwrap();
        wait_for(sleeper).unwrap();
    }
}

#[test]
fn tasks_behind_a_stuck_worker_are_taken_by_the_other() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let (busy, release) = (Gate::new(), OpenOnDrop(Gate::new()));
    let (woken, ran) = (AsyncGate::new(), Count::new());
    let sleeper = {
        let (woken, ran) = (woken.clone(), ran.clone());
        runtime.spawn(async move {
            woken.wait().await;
            ran.add();
        })
    };
    wait_until("it sleeps", || woken.waiting() == 1);
    let stuck = {
        let (busy, release, ran) = (busy.clone(), release.0.clone(), ran.clone());
        runtime.spawn(async move {
            for _ in 0..100 {
                let ran = ran.clone();
                drop(windlass::spawn(async move {
                    ran.add();
                }));
            }
            // This one goes into the LIFO slot.
            woken.open();
            busy.open();
            release.wait();
        })
    };
    busy.wait();
    ran.wait_for(101);
    assert!(!stuck.is_finished());
    release.0.open();
    wait_for(stuck).unwrap();
    wait_for(sleeper).unwrap();
}

#[test]
fn both_workers_take_part_in_a_burst_of_work() {
    let runtime = runtime(2);
    let meet = |here: Gate, there: Gate| async move {
        here.open();
        there.wait();
    };
    // Each blocks until the other runs: it takes two workers.
    for _ in 0..50 {
        let (a, b) = (Gate::new(), Gate::new());
        let tasks = [runtime.spawn(meet(a.clone(), b.clone())), runtime.spawn(meet(b, a))];
        for task in tasks {
            wait_for(task).unwrap();
        }
    }
}

#[test]
fn spawns_from_many_threads_all_run() {
    const THREADS: usize = 4;
    const TASKS: usize = 10_000;
    let runtime = runtime(2);
    let ran = Count::new();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..TASKS {
                    let ran = ran.clone();
                    drop(runtime.spawn(async move {
                        ran.add();
                    }));
                }
            });
        }
    });
    ran.wait_for(THREADS * TASKS);
    wait_until("all are counted", || runtime.metrics().tasks_alive == 0);
    assert_eq!(runtime.metrics().tasks_finished, (THREADS * TASKS) as u64);
}

#[test]
fn a_tree_of_tasks_that_spawn_and_await_tasks_ends() {
    fn tree(depth: u32) -> std::pin::Pin<Box<dyn Future<Output = u32> + Send>> {
        Box::pin(async move {
            if depth == 0 {
                return 1;
            }
            let (a, b) = (windlass::spawn(tree(depth - 1)), windlass::spawn(tree(depth - 1)));
            a.await.unwrap() + b.await.unwrap()
        })
    }
    let runtime = runtime(2);
    assert_eq!(wait_for(runtime.spawn(tree(14))).unwrap(), 1 << 14);
}
