//! Closures of scopes that wait for their own jobs: with rayon's own core, another thread runs these.

mod common;

use std::sync::mpsc;
use std::thread;

use common::PATIENCE;
use rayon::ThreadPoolBuilder;

/// More than what is shared before anything is known about a computation.
const JOBS: usize = 64;

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Spawns jobs in the closure of a scope, and waits there until all have run.
fn wait_in_a_scope() {
    let (sender, receiver) = mpsc::channel();
    rayon::scope(move |s| {
        for _ in 0..JOBS {
            let sender = sender.clone();
            s.spawn(move |_| sender.send(()).expect("the closure waits"));
        }
        for _ in 0..JOBS {
            receiver.recv_timeout(PATIENCE).expect("another thread runs the job");
        }
    });
}

/// A thread whose joins had once been close together kept to itself what it spawned, in every later computation.
#[test]
fn a_closure_may_wait_for_its_jobs_whatever_was_computed_before() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().expect("a pool starts");
    pool.install(wait_in_a_scope);
    pool.broadcast(|_| fib(28));
    pool.install(wait_in_a_scope);
}

/// As above. Nor did such a thread come to its jobs by itself, as others do at the end of what they were called for.
#[test]
fn jobs_of_the_current_thread_are_run_by_others() {
    let waits = || {
        let builder = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
        let _pool = builder.build().expect("a pool starts");
        fib(28);
        wait_in_a_scope();
        let (sender, receiver) = mpsc::channel();
        for _ in 0..JOBS {
            let sender = sender.clone();
            rayon::spawn(move || sender.send(()).expect("the thread waits"));
        }
        for _ in 0..JOBS {
            receiver.recv_timeout(PATIENCE).expect("another thread runs the job");
        }
    };
    thread::spawn(waits).join().expect("all jobs have run");
}
