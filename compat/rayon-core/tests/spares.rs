//! Spares, which come when a worker is stuck, run no code of rayon's: an index belongs to one thread.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use windlass::{Builder, Runtime};

const PATIENCE: Duration = Duration::from_secs(30);

/// A runtime whose only worker is soon given up when it blocks.
fn runtime() -> Runtime {
    let builder = Builder::new().workers(1).max_spares(2);
    builder.stuck_after(Duration::from_millis(1)).build().expect("a runtime starts")
}

/// A task on a spare, while `block` holds up the only worker until it gets a message.
fn beside(block: fn(mpsc::Receiver<()>)) {
    let runtime = runtime();
    let worker = runtime.handle().broadcast(|_| thread::current().id())[0];
    let (blocked, is_blocked) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let first = runtime.spawn(async move {
        blocked.send(()).expect("the test waits");
        block(released);
    });
    is_blocked.recv_timeout(PATIENCE).expect("the worker blocks");
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
