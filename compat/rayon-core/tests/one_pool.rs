//! rayon's iterators and the tasks of a runtime share the runtime's workers.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use windlass::{Builder, Runtime};

const PATIENCE: Duration = Duration::from_secs(120);

fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).build().expect("a runtime starts")
}

/// The threads that a loop of rayon's runs on.
fn threads() -> HashSet<thread::ThreadId> {
    let seen = Mutex::new(HashSet::new());
    (0..10_000).into_par_iter().for_each(|_| {
        seen.lock().expect("nobody panics").insert(thread::current().id());
    });
    seen.into_inner().expect("nobody panics")
}

#[test]
fn iterators_run_on_the_workers_of_the_task_s_runtime() {
    // A spare, which comes if the OS keeps a worker from running, is none of rayon's threads.
    let runtime = Builder::new().workers(2).max_spares(0).build().expect("a runtime starts");
    let workers: HashSet<_> =
        runtime.handle().broadcast(|_| thread::current().id()).into_iter().collect();
    let in_task = runtime.block_on(runtime.spawn(async {
        assert_eq!(rayon::current_num_threads(), 2);
        assert!(rayon::current_thread_index().is_some_and(|index| index < 2));
        threads()
    }));
    assert!(in_task.expect("the task ends").is_subset(&workers));
    let computed = runtime.block_on(async { windlass::compute(threads).await });
    assert!(computed.expect("the computation ends").is_subset(&workers));
    // On a thread that has entered the runtime, its workers serve too.
    let _entered = runtime.enter();
    assert!(threads().is_subset(&workers));
    assert_eq!(rayon::current_num_threads(), 2);
    assert_eq!(rayon::current_thread_index(), None);
}

#[test]
fn tasks_go_on_while_iterators_compute_on_the_only_worker() {
    let runtime = runtime(1);
    let (sender, receiver) = mpsc::channel();
    let computing = runtime.spawn(async move {
        // Ends when a task has been polled meanwhile.
        let told = Mutex::new(receiver);
        while told.lock().expect("nobody panics").try_recv().is_err() {
            assert_eq!((0..10_000_u64).into_par_iter().sum::<u64>(), 49_995_000);
        }
    });
    drop(runtime.spawn(async move { sender.send(()).expect("somebody waits") }));
    let done = runtime.block_on(async { windlass::timer::timeout(PATIENCE, computing).await });
    done.expect("it is in time").expect("it does not panic");
}

/// They are run at the end of a poll. The worker ran them all, and came to nothing else before the last.
#[test]
fn tasks_get_their_turn_between_jobs_that_nobody_waits_for() {
    const JOBS: usize = 5_000;
    let runtime = Builder::new().workers(1).max_spares(0).build().expect("a runtime starts");
    let (sender, receiver) = mpsc::channel();
    let (polled, first) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    drop(runtime.spawn(async move {
        for _ in 0..JOBS {
            let (sender, polled, first) = (sender.clone(), polled.clone(), first.clone());
            rayon::spawn(move || {
                if first.swap(false, Ordering::Relaxed) {
                    let polled = polled.clone();
                    drop(windlass::spawn(async move { polled.store(true, Ordering::Relaxed) }));
                }
                let start = Instant::now();
                while !polled.load(Ordering::Relaxed)
                    && start.elapsed() < Duration::from_micros(150)
                {
                    std::hint::spin_loop();
                }
                let _ = sender.send(polled.load(Ordering::Relaxed));
            });
        }
    }));
    let after = (0..JOBS).filter(|_| receiver.recv_timeout(PATIENCE).expect("all are run")).count();
    assert!(after > 0, "the task was polled after the last of them");
}

#[test]
fn pools_of_rayon_and_runtimes_call_each_other() {
    fn down(pool: &rayon::ThreadPool, handle: &windlass::Handle, depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        pool.install(|| handle.install(|| 1 + down(pool, handle, depth - 1)))
    }
    let runtime = runtime(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool starts");
    assert_eq!(down(&pool, runtime.handle(), 8), 8);
}

#[test]
fn a_pool_that_is_dropped_runs_what_was_spawned() {
    let (sender, receiver) = mpsc::channel();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool starts");
    for number in 0..100 {
        let sender = sender.clone();
        pool.spawn(move || sender.send(number).expect("somebody waits"));
    }
    drop((pool, sender));
    let mut numbers: Vec<u32> = receiver.iter().collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..100));
}
