//! `join`: results, borrowing, panics, depth, and every kind of thread it may be called on.

mod util;

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::thread;

use util::{Count, Gate, PATIENCE, runtime, text_of, throw, wait_for, within_patience};
use windlass::{Builder, Runtime, join};

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Runs `f` on a worker, and gives what it gives.
fn on_worker<T: Send + 'static>(runtime: &Runtime, f: impl FnOnce() -> T + Send + 'static) -> T {
    wait_for(runtime.spawn(async { f() })).unwrap()
}

#[test]
fn both_results_come_back_in_their_places() {
    let runtime = runtime(2);
    assert_eq!(on_worker(&runtime, || join(|| 1, || "two")), (1, "two"));
}

#[test]
fn recursion_is_right_whoever_steals() {
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        for _ in 0..20 {
            assert_eq!(on_worker(&runtime, || fib(18)), 2584);
        }
    }
}

#[test]
fn closures_borrow_and_move() {
    let mut left = vec![1, 2, 3];
    let right = vec![4];
    let mut sum = 0;
    let (_, moved) = join(|| left.push(sum), move || right);
    sum += left.len() + moved.len();
    assert_eq!(sum, 5);
}

/// Closures that wait for each other must not be written, but while one blocks, the other is taken by
/// an idle worker. The root has hardly run when it offers: it is the watch that wakes the thief.
#[test]
fn a_thief_comes_for_a_coarse_pair() {
    let runtime = runtime(2);
    let first = thread::current().id();
    let (a, b) = on_worker(&runtime, move || {
        let gate = Gate::new();
        join(
            || {
                gate.wait();
                thread::current().id()
            },
            || {
                gate.open();
                thread::current().id()
            },
        )
    });
    assert_ne!(a, b);
    assert_ne!(a, first);
}

#[test]
fn outside_threads_take_part_and_workers_steal_from_them() {
    let runtime = runtime(2);
    let _entered = runtime.enter();
    let here = thread::current().id();
    let gate = Gate::new();
    let first = || {
        gate.wait();
        thread::current().id()
    };
    let second = || {
        gate.open();
        // Joins of its own, on a worker.
        (thread::current().id(), fib(10))
    };
    let (a, (b, sum)) = join(first, second);
    assert_eq!(a, here);
    assert_ne!(b, here);
    assert_eq!(sum, 55);
}

#[test]
fn outside_threads_for_which_there_is_no_slot_block_until_a_worker_is_done() {
    const PLACES: usize = 4;
    let runtime = runtime(2);
    let (gate, taking_part, moved) = (Gate::new(), Count::new(), Count::new());
    thread::scope(|threads| {
        for _ in 0..2 * PLACES {
            threads.spawn(|| {
                let _entered = runtime.enter();
                let here = thread::current().id();
                let first = || {
                    if thread::current().id() == here {
                        taking_part.add();
                        gate.wait();
                    } else {
                        moved.add();
                    }
                };
                join(first, || ());
            });
        }
        taking_part.wait_for(PLACES);
        moved.wait_for(PLACES);
        gate.open();
    });
}

/// A guest may hold a lock that a stranger's job waits for.
#[test]
fn outside_threads_run_nothing_but_their_own_jobs() {
    let runtime = runtime(2);
    let _entered = runtime.enter();
    let here = thread::current().id();
    let (begun, gate) = (Gate::new(), Gate::new());
    let (begin, open) = (begun.clone(), gate.clone());
    // A stranger with a job for anybody.
    let stranger = windlass::compute(move || {
        join(
            || {
                begin.open();
                open.wait();
            },
            || thread::current().id(),
        )
        .1
    });
    begun.wait();
    let (_, ()) = join(|| begun.wait(), || gate.open());
    assert_ne!(wait_for(stranger).unwrap(), here);
}

#[test]
fn a_guest_enters_and_spawns_and_blocks_as_any_thread_outside() {
    let runtime = runtime(1);
    let _entered = runtime.enter();
    let both = || {
        let task = windlass::spawn(async { thread::current().id() });
        windlass::block_on(task).unwrap()
    };
    let (a, ()) = join(both, || ());
    assert_ne!(a, thread::current().id());
}

#[test]
fn the_global_runtime_serves_outside_of_any() {
    assert_eq!(within_patience("join", || fib(12)), 144);
}

#[test]
fn block_on_and_blocking_threads_may_join() {
    let runtime = runtime(1);
    assert_eq!(runtime.block_on(async { fib(15) }), 610);
    let handle = runtime.spawn_blocking(|| fib(15));
    assert_eq!(wait_for(handle).unwrap(), 610);
}

/// Each outside thread waits for a worker, and the only worker for none of them.
#[test]
fn many_outside_threads_share_one_worker() {
    let runtime = runtime(1);
    let handle = runtime.handle();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let _entered = handle.enter();
                assert_eq!(fib(12), 144);
            });
        }
    });
}

#[test]
fn two_runtimes_join_within_each_other_without_a_deadlock() {
    let (a, b) = (runtime(1), runtime(1));
    let (in_a, in_b) = (a.handle().clone(), b.handle().clone());
    let compute = |own: &Runtime, other: windlass::Handle| {
        own.spawn(async move {
            // On a worker it is the worker's own runtime that serves.
            let _entered = other.enter();
            fib(16)
        })
    };
    let (x, y) = (compute(&a, in_b), compute(&b, in_a));
    assert_eq!((wait_for(x).unwrap(), wait_for(y).unwrap()), (987, 987));
}

#[test]
fn after_shutdown_the_calling_thread_does_it_all() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    let _entered = handle.enter();
    let here = thread::current().id();
    let (a, b) = join(|| thread::current().id(), || thread::current().id());
    assert_eq!((a, b), (here, here));
}

#[test]
fn a_shutdown_that_races_with_outside_joins_leaves_nobody_behind() {
    for _ in 0..20 {
        let runtime = runtime(2);
        let handle = runtime.handle().clone();
        let callers: Vec<_> = (0..3)
            .map(|_| {
                let handle = handle.clone();
                thread::spawn(move || {
                    let _entered = handle.enter();
                    (0..20).map(|_| fib(8)).sum::<u64>()
                })
            })
            .collect();
        let _ = runtime.shutdown(PATIENCE);
        for caller in callers {
            assert_eq!(within_patience("join", move || caller.join().unwrap()), 20 * 21);
        }
    }
}

/// The payload that a pair of closures throws on a worker.
fn payload_of(
    runtime: &Runtime,
    a: impl FnOnce() + Send + 'static,
    b: impl FnOnce() + Send + 'static,
) -> String {
    let caught = on_worker(runtime, || panic::catch_unwind(AssertUnwindSafe(|| join(a, b))));
    text_of(&*caught.unwrap_err()).to_owned()
}

#[test]
fn both_closures_end_before_a_panic_is_passed_on() {
    let runtime = runtime(2);
    for _ in 0..50 {
        let ended = Count::new();
        let (a, b) = (ended.clone(), ended.clone());
        let text = payload_of(
            &runtime,
            || throw("a"),
            move || {
                b.add();
            },
        );
        assert_eq!((text.as_str(), ended.get()), ("a", 1));
        let text = payload_of(
            &runtime,
            move || {
                a.add();
            },
            || throw("b"),
        );
        assert_eq!((text.as_str(), ended.get()), ("b", 2));
    }
    assert_eq!(on_worker(&runtime, || fib(15)), 610, "the pool is as good as before");
}

#[test]
fn of_two_panics_the_first_closures_is_passed_on() {
    let runtime = runtime(2);
    assert_eq!(payload_of(&runtime, || throw("a"), || throw("b")), "a");
}

#[test]
fn a_panic_in_a_stolen_closure_reaches_its_joiner() {
    let runtime = runtime(2);
    let gate = Gate::new();
    let open = gate.clone();
    let text = payload_of(
        &runtime,
        move || gate.wait(),
        move || {
            open.open();
            throw("stolen")
        },
    );
    assert_eq!(text, "stolen");
}

#[test]
fn a_panic_waits_for_a_closure_that_was_stolen() {
    let runtime = runtime(2);
    let ended = Count::new();
    let (begun, release, counted) = (Gate::new(), Gate::new(), ended.clone());
    let (begins, released) = (begun.clone(), release.clone());
    let text = payload_of(
        &runtime,
        move || {
            begun.wait();
            release.open();
            throw("a")
        },
        move || {
            begins.open();
            released.wait();
            counted.add();
        },
    );
    assert_eq!((text.as_str(), ended.get()), ("a", 1));
}

#[test]
fn outside_threads_get_the_panic_too() {
    let runtime = runtime(1);
    let _entered = runtime.enter();
    let caught = panic::catch_unwind(|| join(|| throw("far"), || ()));
    assert_eq!(text_of(&*caught.unwrap_err()), "far");
}

#[test]
fn a_hundred_thousand_levels_fit_the_documented_stack() {
    fn down(levels: u32) -> u32 {
        if levels == 0 {
            return 0;
        }
        let (below, one) = join(|| down(levels - 1), || 1);
        below + one
    }
    for workers in [1, 2] {
        let runtime = Builder::new().workers(workers).stack_size(512 << 20).build().unwrap();
        assert_eq!(on_worker(&runtime, || down(100_000)), 100_000);
    }
}

/// A lock that is free again before `join` is called is nobody's trouble.
#[test]
fn jobs_may_take_locks_one_after_the_other() {
    fn count(n: u32, total: &Mutex<u32>) {
        if n == 0 {
            *total.lock().unwrap() += 1;
        } else {
            join(|| count(n - 1, total), || count(n - 1, total));
        }
    }
    let runtime = runtime(3);
    let total = on_worker(&runtime, || {
        let total = Mutex::new(0);
        count(12, &total);
        total.into_inner().unwrap()
    });
    assert_eq!(total, 1 << 12);
}

/// A storm of roots of all kinds, from all sides.
#[test]
fn roots_from_everywhere_at_once() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let _entered = handle.enter();
                for _ in 0..30 {
                    assert_eq!(fib(10), 55);
                    assert_eq!(wait_for(windlass::compute(|| fib(10))).unwrap(), 55);
                    assert_eq!(wait_for(handle.spawn(async { fib(10) })).unwrap(), 55);
                }
            });
        }
    });
}
