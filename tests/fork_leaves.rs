//! Computations with long leaves: the work spreads to all workers, whatever was computed before.

mod util;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use util::{PATIENCE, runtime, wait_for, wait_until};
use windlass::{compute, join, scope};

/// Waits until this many are inside of it at once.
struct Crowd {
    wanted: usize,
    inside: AtomicUsize,
}

impl Crowd {
    fn new(wanted: usize) -> Self {
        Self { wanted, inside: AtomicUsize::new(0) }
    }

    fn come_in(&self) {
        self.inside.fetch_add(1, Ordering::SeqCst);
        wait_until("all leaves run at once", || self.inside.load(Ordering::SeqCst) >= self.wanted);
    }
}

/// Leaves of which none ends before all have begun.
fn halves(leaves: usize, crowd: &Crowd) {
    if leaves == 1 {
        crowd.come_in();
        // Far longer than what counts as a short leaf.
        thread::sleep(Duration::from_millis(1));
    } else {
        join(|| halves(leaves / 2, crowd), || halves(leaves - leaves / 2, crowd));
    }
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// A worker used to offer one of its joins and the next at its next split point, which those with a long leaf did not
/// come to.
#[test]
fn long_leaves_spread_to_all_workers() {
    for (workers, fine_before) in [(8, false), (32, false), (8, true)] {
        let runtime = runtime(workers);
        wait_for(runtime.spawn(async move {
            if fine_before {
                assert_eq!(fib(22), 17_711);
            }
            halves(workers, &Crowd::new(workers));
        }))
        .unwrap();
    }
}

/// The joins on the way down to a leaf are close together. After two of them the computation used to count as
/// fine-grained, and the others were kept back.
#[test]
fn long_leaves_spread_again_and_again() {
    let runtime = runtime(8);
    let _entered = runtime.enter();
    let again_and_again = || (0..8).for_each(|_| halves(8, &Crowd::new(8)));
    // On a thread outside, with nothing in between that would tell one computation from the next; and on a worker.
    scope(|_| again_and_again());
    wait_for(compute(again_and_again)).unwrap();
}

/// A computation is not fine-grained for ever because it began so.
#[test]
fn long_leaves_spread_after_short_ones() {
    let runtime = runtime(8);
    let _entered = runtime.enter();
    let both = || {
        for _ in 0..4 {
            assert_eq!(fib(20), 6765);
            halves(8, &Crowd::new(8));
        }
    };
    scope(|_| both());
    wait_for(compute(both)).unwrap();
}

/// A worker whose split points had once been close together kept to itself what it spawned, in every later computation,
/// while others slept.
#[test]
fn jobs_of_a_scope_spread_after_short_leaves() {
    const JOBS: usize = 64;
    let runtime = runtime(2);
    runtime.handle().broadcast(|_| fib(28));
    let (sender, receiver) = mpsc::channel();
    runtime.handle().scope(move |s| {
        for _ in 0..JOBS {
            let sender = sender.clone();
            s.spawn(move |_| sender.send(()).unwrap());
        }
        // A long leaf, in which the worker comes to none of them.
        for _ in 0..JOBS {
            receiver.recv_timeout(PATIENCE).expect("the other worker runs the job");
        }
    });
}
