//! Spares, which come when a worker is stuck, run no code of rayon's: an index belongs to one thread.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use windlass::{Builder, Runtime};

const PATIENCE: Duration = Duration::from_secs(120);

/// A runtime whose only worker is soon given up when it blocks.
fn runtime() -> Runtime {
    let builder = Builder::new().workers(1).max_spares(2);
    builder.stuck_after(Duration::from_millis(1)).build().expect("a runtime starts")
}

/// A task on a spare, while `block` holds up the only worker until it gets a message.
fn beside(block: fn(mpsc::Receiver<()>)) {
    let start = Instant::now();
    // A spare is faster than the worker now and then, if that gets no CPU.
    while !has_tried_beside(block) {
        assert!(start.elapsed() < PATIENCE, "the worker never came first");
    }
}

/// Returns false if it was not the worker that is held up.
fn has_tried_beside(block: fn(mpsc::Receiver<()>)) -> bool {
    let runtime = runtime();
    let worker = runtime.handle().broadcast(|_| thread::current().id())[0];
    let (blocked, is_blocked) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let first = runtime.spawn(async move {
        blocked.send(thread::current().id()).expect("the test waits");
        block(released);
    });
    if is_blocked.recv_timeout(PATIENCE).expect("the worker blocks") != worker {
        release.send(()).expect("the spare waits");
        runtime.block_on(first).expect("the task ends");
        return false;
    }
    let second = runtime.spawn(async move {
        assert_ne!(thread::current().id(), worker, "the worker is stuck");
        assert_eq!(rayon::current_thread_index(), None, "the index is that of the worker");
        assert_eq!(rayon::current_num_threads(), 1);
        release.send(()).expect("the worker waits");
        let here = || (rayon::current_thread_index(), thread::current().id());
        // Each of them on the worker, one after the other.
        let (a, b) = rayon::join(here, here);
        let mut c = None;
        rayon::scope(|s| s.spawn(|_| c = Some(here())));
        let (sender, receiver) = mpsc::channel();
        rayon::spawn(move || sender.send(here()).expect("the task waits"));
        [Some(a), Some(b), c, receiver.recv_timeout(PATIENCE).ok()]
    });
    let all = runtime.block_on(async { windlass::timer::timeout(PATIENCE, second).await });
    let all = all.expect("it is in time").expect("the task ends");
    assert_eq!(all, [Some((Some(0), worker)); 4]);
    runtime.block_on(first).expect("the task ends");
    true
}

#[test]
fn a_spare_beside_a_task_that_blocks_shows_no_index_and_runs_no_job() {
    beside(|released| released.recv_timeout(PATIENCE).expect("the other task goes on"));
}

#[test]
fn a_spare_beside_a_job_that_blocks_shows_no_index_and_runs_no_job() {
    beside(|released| {
        rayon::scope(|s| {
            s.spawn(move |_| {
                assert_eq!(rayon::current_thread_index(), Some(0));
                released.recv_timeout(PATIENCE).expect("the other task goes on");
            });
        });
    });
}
