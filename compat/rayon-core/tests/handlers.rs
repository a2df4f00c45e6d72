//! Handlers run on the threads of the pool, and may use it.

mod common;

use std::sync::{Arc, mpsc};
use std::thread;

use common::PATIENCE;
use rayon::prelude::*;
use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// What a handler finds: its index, as it is told and as it asks, and what came of a computation and of a job.
fn uses_the_pool(
    index: usize,
    sender: &mpsc::Sender<(&'static str, usize, u64)>,
    name: &'static str,
) {
    assert_eq!(rayon::current_thread_index(), Some(index));
    assert_eq!(rayon::current_num_threads(), 1);
    let (a, b) = rayon::join(|| 1, || 2);
    let sum = (0..100_u64).into_par_iter().sum::<u64>();
    let mut spawned = 0;
    rayon::scope(|s| s.spawn(|_| spawned = 10));
    sender.send((name, index, a + b + sum + spawned)).expect("the test waits");
}

#[test]
fn start_and_exit_handlers_of_the_only_thread_may_compute() {
    let (sender, receiver) = mpsc::channel();
    let (start, exit) = (sender.clone(), sender);
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .start_handler(move |index| uses_the_pool(index, &start, "start"))
        .exit_handler(move |index| uses_the_pool(index, &exit, "exit"))
        .build()
        .expect("a pool starts");
    assert_eq!(receiver.recv_timeout(PATIENCE), Ok(("start", 0, 4963)));
    assert_eq!(pool.install(|| 7), 7);
    drop(pool);
    assert_eq!(receiver.recv_timeout(PATIENCE), Ok(("exit", 0, 4963)));
}

#[test]
fn what_handlers_spawn_is_run() {
    let (sender, receiver) = mpsc::channel();
    let (start, exit) = (sender.clone(), sender);
    let spawn = |sender: &mpsc::Sender<usize>, index| {
        let sender = sender.clone();
        rayon::spawn(move || sender.send(index).expect("the test waits"));
    };
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(move |index| spawn(&start, index))
        .exit_handler(move |index| spawn(&exit, 10 + index))
        .build()
        .expect("a pool starts");
    drop(pool);
    let mut all: Vec<_> =
        (0..4).map(|_| receiver.recv_timeout(PATIENCE).expect("it is run")).collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 10, 11]);
}

/// Checks that the current thread belongs to no pool.
fn belongs_to_none() {
    assert_eq!((rayon::current_thread_index(), windlass::worker_index()), (None, None));
    assert_eq!(rayon::current_num_threads(), windlass::Handle::current().workers());
    let here = thread::current().id();
    let (sender, receiver) = mpsc::channel();
    rayon::spawn(move || sender.send(thread::current().id()).expect("the thread waits"));
    assert_ne!(receiver.recv_timeout(PATIENCE), Ok(here), "spawned jobs are run by the others");
    assert_eq!((0..1_000_u64).into_par_iter().sum::<u64>(), 499_500);
}

/// It went on as a thread of the pool that had ended: spawned jobs ran at once, in the call.
#[test]
fn a_thread_that_goes_on_after_its_pool_belongs_to_none() {
    let builder = ThreadPoolBuilder::new().num_threads(3);
    let wrapper = |thread: ThreadBuilder| {
        thread.run();
        belongs_to_none();
    };
    let sum = builder.build_scoped(wrapper, |pool| pool.install(|| (0..10).into_par_iter().sum()));
    assert_eq!(sum.ok(), Some(45));
}

/// It kept what it had of each pool until it ended itself.
#[test]
fn a_thread_may_serve_one_pool_after_the_other_and_keeps_none() {
    let (give, threads) = mpsc::channel::<ThreadBuilder>();
    let (done, is_done) = mpsc::channel();
    let serving = thread::spawn(move || {
        for thread in threads {
            thread.run();
            belongs_to_none();
            done.send(()).expect("the test waits");
        }
    });
    for round in 0..3 {
        let (give, held) = (give.clone(), Arc::new(()));
        let holds = held.clone();
        let spawn = move |thread| {
            give.send(thread).expect("it serves");
            Ok(())
        };
        let builder = ThreadPoolBuilder::new().num_threads(1).spawn_handler(spawn);
        let builder = builder.start_handler(move |_| drop(holds.clone()));
        let pool = builder.build().expect("a pool starts");
        let here = || (rayon::current_thread_index(), windlass::worker_index());
        assert_eq!(pool.install(here), (Some(0), Some(0)));
        pool.install(|| assert_eq!(rayon::join(|| round, || 1), (round, 1)));
        drop(pool);
        is_done.recv_timeout(PATIENCE).expect("the pool ends");
        // The poller's thread may hold it for a moment.
        let end = std::time::Instant::now() + PATIENCE;
        while Arc::strong_count(&held) > 1 {
            assert!(std::time::Instant::now() < end, "the pool is not gone");
            thread::yield_now();
        }
    }
    drop(give);
    serving.join().expect("it does not panic");
}
