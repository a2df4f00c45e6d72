//! A blocked worker freezes nothing: spares take over, are bounded, and retire.

mod util;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use util::{AsyncGate, Count, Gate, OpenOnDrop, PATIENCE, wait_for, wait_until};
use windlass::task::JoinHandle;
use windlass::{Builder, Runtime};

fn with_spares(workers: usize, spares: usize) -> Runtime {
    Builder::new()
        .workers(workers)
        .max_spares(spares)
        .stuck_after(Duration::from_millis(2))
        .build()
        .unwrap()
}

/// Tasks that block their workers until the gate opens, one after the other.
fn block_workers(runtime: &Runtime, count: usize, release: &Gate) -> Vec<JoinHandle<()>> {
    let busy = Count::new();
    let tasks = (0..count)
        .map(|_| {
            let (busy, release) = (busy.clone(), release.clone());
            runtime.spawn(async move {
                busy.add();
                release.wait();
            })
        })
        .collect();
    busy.wait_for(count);
    tasks
}

/// Runs a task that sleeps for 10 ms again and again, and returns how often it has woken up.
fn ticks(runtime: &Runtime) -> Count {
    let ticks = Count::new();
    let inner = ticks.clone();
    drop(runtime.spawn(async move {
        loop {
            windlass::timer::sleep(Duration::from_millis(10)).await;
            inner.add();
        }
    }));
    ticks
}

/// With more such tasks than threads, timers were late by as long as it took until one was free.
#[test]
fn timers_go_on_beside_joins_that_block() {
    const TASKS: usize = 8;
    // Each join may block two threads.
    let runtime = with_spares(2, TASKS * 2);
    let ticks = ticks(&runtime);
    let release = OpenOnDrop(Gate::new());
    let busy = Count::new();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (busy, release) = (busy.clone(), release.0.clone());
            runtime.spawn(async move {
                let blocks = || {
                    busy.add();
                    release.wait();
                };
                windlass::join(blocks, blocks);
            })
        })
        .collect();
    busy.wait_for(TASKS);
    let before = ticks.get();
    ticks.wait_for(before + 10);
    assert!(tasks.iter().all(|task| !task.is_finished()));
    drop(release);
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
}

/// With fewer spares they are late, but get their turn.
#[test]
fn timers_get_their_turn_beside_joins_that_block_all_spares() {
    let runtime = Builder::new().workers(2).build().unwrap();
    let ticks = ticks(&runtime);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let ticks = ticks.clone();
            runtime.spawn(async move {
                let nap = || thread::sleep(Duration::from_millis(20));
                while ticks.get() < 10 {
                    windlass::join(nap, nap);
                    windlass::yield_now().await;
                }
            })
        })
        .collect();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
}

#[track_caller]
fn spares_go_home(runtime: &Runtime) {
    wait_until("the spares go home", || runtime.metrics().spares_active == 0);
}

#[test]
fn with_every_worker_blocked_tasks_still_run_and_the_spares_go_home_afterwards() {
    let runtime = with_spares(2, 4);
    for _ in 0..20 {
        let release = OpenOnDrop(Gate::new());
        let stuck = block_workers(&runtime, 2, &release.0);
        assert!(stuck.iter().all(|task| !task.is_finished()));
        // From outside, from a task, through a wake-up from a thread.
        let gate = AsyncGate::new();
        let inner = gate.clone();
        let task = runtime.spawn(async move {
            let child = windlass::spawn(async { 1 });
            inner.wait().await;
            child.await.unwrap()
        });
        wait_until("the task waits", || gate.waiting() == 1);
        assert!(runtime.metrics().spares_active > 0);
        gate.open();
        assert_eq!(wait_for(task).unwrap(), 1);
        release.0.open();
        stuck.into_iter().for_each(|task| wait_for(task).unwrap());
        spares_go_home(&runtime);
    }
}

#[test]
fn the_answer_to_a_channel_that_every_worker_blocks_on_comes_from_a_task() {
    let runtime = with_spares(2, 4);
    let (answer, question) = mpsc::channel::<u32>();
    let question = std::sync::Arc::new(std::sync::Mutex::new(question));
    let asking: Vec<_> = (0..2)
        .map(|_| {
            let question = question.clone();
            runtime.spawn(async move {
                let question = question.lock().unwrap();
                question.recv_timeout(PATIENCE).unwrap()
            })
        })
        .collect();
    let answering = runtime.spawn(async move {
        windlass::yield_now().await;
        answer.send(1).unwrap();
        answer.send(2).unwrap();
    });
    wait_for(answering).unwrap();
    let sum: u32 = asking.into_iter().map(|task| wait_for(task).unwrap()).sum();
    assert_eq!(sum, 3);
    spares_go_home(&runtime);
}

#[test]
fn spares_that_block_are_relieved_in_turn_up_to_the_bound() {
    const SPARES: usize = 3;
    let runtime = with_spares(1, SPARES);
    for _ in 0..5 {
        let release = OpenOnDrop(Gate::new());
        let stuck = block_workers(&runtime, 1 + SPARES, &release.0);
        assert_eq!(runtime.metrics().spares_active, SPARES);
        let waiting = runtime.spawn(async { 1 });
        // Nobody is left to run it: ten times `stuck_after` later it still waits.
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            assert!(!waiting.is_finished());
            assert_eq!(runtime.metrics().spares_active, SPARES);
            thread::yield_now();
        }
        release.0.open();
        assert_eq!(wait_for(waiting).unwrap(), 1);
        stuck.into_iter().for_each(|task| wait_for(task).unwrap());
        spares_go_home(&runtime);
    }
}

/// The first to come back is not the first that got stuck.
#[test]
fn stuck_workers_come_back_in_any_order() {
    let runtime = with_spares(2, 4);
    for round in 0..10 {
        let releases: Vec<_> = (0..4).map(|_| OpenOnDrop(Gate::new())).collect();
        let mut stuck: Vec<_> = releases
            .iter()
            .map(|release| Some(block_workers(&runtime, 1, &release.0).remove(0)))
            .collect();
        for step in 0..4 {
            let index = (step * 3 + round) % 4;
            assert_eq!(wait_for(runtime.spawn(async { 1 })).unwrap(), 1);
            releases[index].0.open();
            wait_for(stuck[index].take().unwrap()).unwrap();
        }
        spares_go_home(&runtime);
    }
}

#[test]
fn without_spares_tasks_wait_for_the_worker() {
    let runtime = with_spares(1, 0);
    let release = OpenOnDrop(Gate::new());
    let stuck = block_workers(&runtime, 1, &release.0);
    let waiting = runtime.spawn(async { 1 });
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(20) {
        assert!(!waiting.is_finished());
        thread::yield_now();
    }
    assert_eq!(runtime.metrics().spares_active, 0);
    release.0.open();
    assert_eq!(wait_for(waiting).unwrap(), 1);
    stuck.into_iter().for_each(|task| wait_for(task).unwrap());
}

/// What the stuck worker had in its own queue and in its LIFO slot is run by the spare.
#[test]
fn a_spare_takes_over_the_queue_of_the_worker_it_stands_in_for() {
    let runtime = with_spares(1, 2);
    let (release, woken, ran) = (OpenOnDrop(Gate::new()), AsyncGate::new(), Count::new());
    let sleeper = {
        let (woken, ran) = (woken.clone(), ran.clone());
        runtime.spawn(async move {
            woken.wait().await;
            ran.add();
        })
    };
    wait_until("it sleeps", || woken.waiting() == 1);
    let stuck = {
        let (release, ran) = (release.0.clone(), ran.clone());
        runtime.spawn(async move {
            for _ in 0..100 {
                let ran = ran.clone();
                drop(windlass::spawn(async move {
                    ran.add();
                }));
            }
            woken.open();
            release.wait();
        })
    };
    ran.wait_for(101);
    assert!(!stuck.is_finished());
    release.0.open();
    wait_for(stuck).unwrap();
    wait_for(sleeper).unwrap();
    spares_go_home(&runtime);
}

/// Polls that last about as long as `stuck_after`, so that relief comes just when they end.
#[test]
fn relief_that_comes_as_the_worker_returns_leaves_no_spare_behind() {
    let runtime =
        Builder::new().workers(2).stuck_after(Duration::from_micros(100)).build().unwrap();
    for round in 0..400_u64 {
        let done = Count::new();
        for number in 0..6 {
            let done = done.clone();
            drop(runtime.spawn(async move {
                let until = Instant::now() + Duration::from_micros(60 + (round + number) % 150);
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                done.add();
            }));
        }
        done.wait_for(6);
        if round % 20 == 0 {
            spares_go_home(&runtime);
        }
    }
    spares_go_home(&runtime);
}

#[test]
fn shutdown_with_spares_at_work_is_clean_once_all_come_back() {
    for _ in 0..20 {
        let runtime = with_spares(2, 4);
        let release = OpenOnDrop(Gate::new());
        let stuck = block_workers(&runtime, 3, &release.0);
        let dropped = Count::new();
        for _ in 0..100 {
            let guard = dropped.on_drop();
            drop(runtime.spawn(async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }));
        }
        let ending = thread::spawn(move || runtime.shutdown(PATIENCE));
        dropped.wait_for(100);
        release.0.open();
        assert!(ending.join().unwrap().is_clean());
        stuck.into_iter().for_each(|task| wait_for(task).unwrap());
    }
}
