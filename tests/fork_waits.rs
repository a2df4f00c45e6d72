//! Workers that wait, or block, inside of joins: the second halves are run by others meanwhile.

mod util;

use util::{Count, Gate, runtime};
use windlass::task::block_in_place;
use windlass::{Runtime, join, scope};

/// Twice as many as are shared before anything is known about a computation.
const JOINS: usize = 16;

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Joins inside of each other, and calls `leaf` in the innermost. No second half ends before all have begun.
fn nest(joins: usize, halves: &Count, leaf: &(dyn Fn() + Sync)) {
    if joins == 0 {
        return leaf();
    }
    let half = || {
        halves.add();
        halves.wait_for(JOINS);
    };
    join(|| nest(joins - 1, halves, leaf), half);
}

/// Runs these on the workers of a runtime, in a computation whose joins have been close together so far.
fn nest_on(runtime: &Runtime, halves: &Count, leaf: &(dyn Fn() + Sync)) {
    runtime.handle().install(|| {
        assert_eq!(fib(22), 17_711);
        nest(JOINS, halves, leaf);
    });
}

/// The monitor saw a job and a thread to wake for it: the very one whose job it was, which could not take it. It woke
/// that one again and again, while another worker slept.
#[test]
fn a_scope_that_waits_inside_of_a_join_is_not_woken_in_place_of_a_thief() {
    let runtime = runtime(3);
    for _ in 0..5 {
        let (begun, half) = (Gate::new(), Gate::new());
        runtime.handle().install(|| {
            let a = || {
                scope(|s| {
                    s.spawn(|_| {
                        begun.open();
                        half.wait();
                    });
                    begun.wait();
                });
            };
            join(a, || half.open());
        });
    }
}

/// The worker offered one of its joins before it slept, and no other when that was taken.
#[test]
fn all_joins_around_a_scope_that_waits_are_run_by_others() {
    let runtime = runtime(JOINS + 2);
    let (begun, halves) = (Gate::new(), Count::new());
    let leaf = || {
        scope(|s| {
            s.spawn(|_| {
                begun.open();
                halves.wait_for(JOINS);
            });
            begun.wait();
        });
    };
    nest_on(&runtime, &halves, &leaf);
}

/// As above, of a worker that waits for another runtime.
#[test]
fn all_joins_around_a_call_of_another_runtime_are_run_by_others() {
    let (runtime, other) = (runtime(JOINS + 1), runtime(1));
    let halves = Count::new();
    let leaf = || other.handle().install(|| halves.wait_for(JOINS));
    nest_on(&runtime, &halves, &leaf);
}

/// As above, of a worker that blocks and has said so: it handed over its tasks alone.
#[test]
fn all_joins_around_a_closure_that_blocks_in_place_are_run_by_others() {
    let runtime = runtime(JOINS + 1);
    let halves = Count::new();
    let leaf = || block_in_place(|| halves.wait_for(JOINS));
    nest_on(&runtime, &halves, &leaf);
}
