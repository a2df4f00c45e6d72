//! The blocking pool: growth, bound and queue, the end of idle threads, aborting, shutdown.

mod util;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use util::{Count, Gate, OpenOnDrop, PATIENCE, runtime, wait_for, wait_until, within_patience};
use windlass::{Builder, Runtime};

fn with_threads(threads: usize) -> Runtime {
    Builder::new().workers(1).max_blocking(threads).build().unwrap()
}

#[test]
fn the_pool_grows_to_its_bound_and_queues_beyond() {
    let runtime = with_threads(3);
    let (release, running) = (OpenOnDrop(Gate::new()), Count::new());
    let closures: Vec<_> = (0..10)
        .map(|number| {
            let (release, running) = (release.0.clone(), running.clone());
            runtime.spawn_blocking(move || {
                running.add();
                release.wait();
                number
            })
        })
        .collect();
    running.wait_for(3);
    let metrics = runtime.metrics();
    assert_eq!(metrics.blocking_threads, 3);
    assert_eq!(metrics.blocking_queued, 7);
    assert_eq!(metrics.blocking_idle, 0);
    release.0.open();
    for (number, closure) in closures.into_iter().enumerate() {
        assert_eq!(wait_for(closure).unwrap(), number);
    }
    wait_until("the threads are idle", || runtime.metrics().blocking_idle == 3);
    assert_eq!(runtime.metrics().blocking_queued, 0);
    assert_eq!(running.get(), 10);
}

#[test]
fn an_idle_thread_is_used_again_before_a_new_one_is_started() {
    let runtime = with_threads(100);
    for _ in 0..50 {
        wait_for(runtime.spawn_blocking(|| ())).unwrap();
        wait_until("the thread is idle", || runtime.metrics().blocking_idle == 1);
    }
    assert_eq!(runtime.metrics().blocking_threads, 1);
}

#[test]
fn closures_that_wait_for_each_other_get_a_thread_each() {
    let runtime = runtime(1);
    for _ in 0..20 {
        let (a, b) = (mpsc::channel::<()>(), mpsc::channel::<()>());
        let first = runtime.spawn_blocking(move || {
            a.0.send(()).unwrap();
            b.1.recv_timeout(PATIENCE).unwrap();
        });
        let second = runtime.spawn_blocking(move || {
            a.1.recv_timeout(PATIENCE).unwrap();
            b.0.send(()).unwrap();
        });
        wait_for(first).unwrap();
        wait_for(second).unwrap();
    }
}

#[test]
fn idle_threads_end_after_their_keep_alive_and_new_ones_come() {
    let runtime =
        Builder::new().workers(1).blocking_keep_alive(Duration::from_millis(5)).build().unwrap();
    for _ in 0..5 {
        let closures: Vec<_> = (0..4).map(|_| runtime.spawn_blocking(|| ())).collect();
        for closure in closures {
            wait_for(closure).unwrap();
        }
        wait_until("the threads end", || runtime.metrics().blocking_threads == 0);
        assert_eq!(runtime.metrics().blocking_idle, 0);
    }
}

/// A closure that comes when the idle thread's patience ends is taken by it or by a new one.
#[test]
fn a_closure_races_with_the_end_of_an_idle_thread() {
    for keep_alive in [0, 1, 20, 100] {
        let runtime = Builder::new()
            .workers(1)
            .blocking_keep_alive(Duration::from_micros(keep_alive))
            .build()
            .unwrap();
        for round in 0..300_u32 {
            wait_for(runtime.spawn_blocking(|| ())).unwrap();
            for _ in 0..round * 20 {
                std::hint::spin_loop();
            }
        }
    }
}

#[test]
fn a_closure_aborted_before_it_begins_never_runs_and_one_that_has_begun_goes_on() {
    let runtime = with_threads(1);
    let (release, begun) = (OpenOnDrop(Gate::new()), Gate::new());
    let running = {
        let (release, begun) = (release.0.clone(), begun.clone());
        runtime.spawn_blocking(move || {
            begun.open();
            release.wait();
            5
        })
    };
    begun.wait();
    let (ran, dropped) = (Count::new(), Count::new());
    let queued = {
        let (ran, guard) = (ran.clone(), dropped.on_drop());
        runtime.spawn_blocking(move || {
            let _guard = guard;
            ran.add();
        })
    };
    queued.abort();
    running.abort();
    release.0.open();
    assert_eq!(wait_for(running).unwrap(), 5);
    assert!(wait_for(queued).unwrap_err().is_cancelled());
    assert_eq!((ran.get(), dropped.get()), (0, 1));
}

#[test]
fn shutdown_cancels_what_has_not_begun_and_awaits_what_has() {
    let runtime = with_threads(2);
    let (release, begun) = (OpenOnDrop(Gate::new()), Count::new());
    let (ran, dropped) = (Count::new(), Count::new());
    let running: Vec<_> = (0..2)
        .map(|_| {
            let (release, begun) = (release.0.clone(), begun.clone());
            runtime.spawn_blocking(move || {
                begun.add();
                release.wait();
                7
            })
        })
        .collect();
    begun.wait_for(2);
    let queued: Vec<_> = (0..10)
        .map(|_| {
            let (ran, guard) = (ran.clone(), dropped.on_drop());
            runtime.spawn_blocking(move || {
                let _guard = guard;
                ran.add();
            })
        })
        .collect();
    let ending = thread::spawn(move || runtime.shutdown(PATIENCE));
    for closure in queued {
        assert!(wait_for(closure).unwrap_err().is_cancelled());
    }
    assert_eq!((ran.get(), dropped.get()), (0, 10));
    assert!(!ending.is_finished());
    release.0.open();
    assert!(ending.join().unwrap().is_clean());
    for closure in running {
        assert_eq!(wait_for(closure).unwrap(), 7);
    }
}

#[test]
fn dropping_the_runtime_awaits_what_has_begun() {
    for _ in 0..20 {
        let runtime = with_threads(4);
        let (begun, ended) = (Count::new(), Count::new());
        for _ in 0..4 {
            let (begun, ended) = (begun.clone(), ended.clone());
            drop(runtime.spawn_blocking(move || {
                begun.add();
                thread::sleep(Duration::from_millis(2));
                ended.add();
            }));
        }
        begun.wait_for(4);
        drop(runtime);
        assert_eq!(ended.get(), 4);
    }
}

#[test]
fn closures_spawned_while_the_runtime_shuts_down_run_or_are_cancelled() {
    for _ in 0..200 {
        let runtime = with_threads(2);
        let handle = runtime.handle().clone();
        let (go, dropped) = (Gate::new(), Count::new());
        let spawners: Vec<_> = (0..2)
            .map(|_| {
                let (handle, go, dropped) = (handle.clone(), go.clone(), dropped.clone());
                thread::spawn(move || {
                    go.wait();
                    for _ in 0..20 {
                        let guard = dropped.on_drop();
                        let result = wait_for(handle.spawn_blocking(move || drop(guard)));
                        assert!(
                            result.is_ok_and(|()| true) || handle.spawn(async {}).is_finished()
                        );
                    }
                })
            })
            .collect();
        go.open();
        let report = within_patience("shutdown", move || runtime.shutdown(PATIENCE));
        assert!(report.is_clean());
        for spawner in spawners {
            spawner.join().unwrap();
        }
        assert_eq!(dropped.get(), 40);
    }
}

#[test]
fn a_thousand_short_closures_from_tasks_all_run() {
    let runtime = with_threads(8);
    let sum: usize = runtime.block_on(async {
        let mut set = windlass::task::JoinSet::new();
        for number in 0..1_000 {
            set.spawn(async move { windlass::spawn_blocking(move || number).await.unwrap() });
        }
        set.join_all().await.into_iter().sum()
    });
    assert_eq!(sum, 499_500);
    assert!(runtime.metrics().blocking_threads <= 8);
}
