//! Handlers run on the threads of the pool, and may use it.

use std::sync::mpsc;
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

const PATIENCE: Duration = Duration::from_secs(30);

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
