//! `scope`: jobs that borrow, spawn further jobs and panic.

mod util;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use util::{Count, Gate, PATIENCE, runtime, text_of, throw, wait_for};
use windlass::{Runtime, Scope, join, scope};

fn on_worker<T: Send + 'static>(runtime: &Runtime, f: impl FnOnce() -> T + Send + 'static) -> T {
    wait_for(runtime.spawn(async { f() })).unwrap()
}

#[test]
fn jobs_borrow_from_the_frame_around_the_scope() {
    let runtime = runtime(2);
    let squares = on_worker(&runtime, || {
        let mut squares = vec![0; 1000];
        scope(|s| {
            for (i, square) in squares.iter_mut().enumerate() {
                s.spawn(move |_| *square = i * i);
            }
        });
        squares
    });
    assert!(squares.iter().enumerate().all(|(i, &square)| square == i * i));
}

#[test]
fn the_scope_gives_what_its_closure_gives() {
    assert_eq!(scope(|_| "done"), "done");
}

fn tree<'s>(s: &Scope<'s>, depth: u32, leaves: &'s AtomicUsize) {
    if depth == 0 {
        leaves.fetch_add(1, Ordering::Relaxed);
        return;
    }
    for _ in 0..2 {
        s.spawn(move |s| tree(s, depth - 1, leaves));
    }
}

#[test]
fn jobs_spawn_jobs_and_the_scope_waits_for_all() {
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        for _ in 0..20 {
            let leaves = on_worker(&runtime, || {
                let leaves = AtomicUsize::new(0);
                scope(|s| tree(s, 10, &leaves));
                leaves.into_inner()
            });
            assert_eq!(leaves, 1 << 10);
        }
    }
}

#[test]
fn scopes_and_joins_nest_in_each_other() {
    fn both(depth: u32) -> usize {
        if depth == 0 {
            return 1;
        }
        let (mut a, mut b) = (0, 0);
        scope(|s| {
            s.spawn(|_| a = both(depth - 1));
            s.spawn(|_| {
                let (x, y) = windlass::join(|| both(depth - 1), || 0);
                b = x + y;
            });
        });
        a + b
    }
    let runtime = runtime(3);
    for _ in 0..10 {
        assert_eq!(on_worker(&runtime, || both(9)), 1 << 9);
    }
}

/// A join that ends inside a scope leaves the scope's jobs where they are.
#[test]
fn a_join_between_spawns_does_not_disturb_them() {
    let runtime = runtime(2);
    let count = on_worker(&runtime, || {
        let count = AtomicUsize::new(0);
        let one = || {
            count.fetch_add(1, Ordering::Relaxed);
        };
        scope(|s| {
            windlass::join(|| s.spawn(|_| one()), || s.spawn(|_| one()));
            s.spawn(|_| one());
        });
        count.into_inner()
    });
    assert_eq!(count, 3);
}

/// One after the other, the jobs would wait for each other in vain.
#[test]
fn long_jobs_spread_over_all_workers() {
    let runtime = runtime(4);
    let most = on_worker(&runtime, || {
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        scope(|s| {
            for _ in 0..8 {
                s.spawn(|_| {
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let since = Instant::now();
                    while most.load(Ordering::SeqCst) < 4 && since.elapsed() < PATIENCE / 4 {
                        thread::sleep(Duration::from_micros(100));
                    }
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        most.into_inner()
    });
    assert!(most >= 4, "{most} at once");
}

/// A joiner that waits may run what was spawned before on top of its frame, but not all of it.
#[test]
fn jobs_that_join_do_not_pile_up_on_each_other() {
    thread_local!(static DEPTH: Cell<usize> = const { Cell::new(0) });
    let runtime = runtime(4);
    let deepest = on_worker(&runtime, || {
        let deepest = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..500 {
                s.spawn(|_| {
                    let depth = DEPTH.get() + 1;
                    DEPTH.set(depth);
                    deepest.fetch_max(depth, Ordering::SeqCst);
                    let wait = |micros| move || thread::sleep(Duration::from_micros(micros));
                    join(wait(20), wait(60));
                    DEPTH.set(depth - 1);
                });
            }
        });
        deepest.into_inner()
    });
    assert!(deepest < 50, "{deepest} deep");
}

/// A task helps with a job of another's scope while it waits in its own, and then blocks until that
/// scope is over: it must not keep what the job has spawned.
#[test]
fn what_a_helper_has_spawned_is_not_left_behind() {
    for jobs in [1, 3, 1, 3] {
        let runtime = runtime(3);
        let [own_begun, other_begun] = [(); 2].map(|()| Gate::new());
        let (over, is_over) = mpsc::channel();
        let helper = {
            let (own_begun, other_begun) = (own_begun.clone(), other_begun.clone());
            runtime.spawn(async move {
                // Known to be fine-grained from here on.
                let since = Instant::now();
                while since.elapsed() < Duration::from_millis(5) {
                    tree_of_joins(10);
                }
                scope(|s| {
                    s.spawn(|_| {
                        own_begun.open();
                        other_begun.wait();
                    });
                    own_begun.wait();
                });
                is_over.recv_timeout(PATIENCE / 2).is_ok()
            })
        };
        own_begun.wait();
        let _entered = runtime.enter();
        let other = windlass::compute(move || {
            scope(|s| {
                let begun = &other_begun;
                s.spawn(move |s| {
                    begun.open();
                    // The others fall asleep meanwhile.
                    thread::sleep(Duration::from_millis(5));
                    for _ in 0..jobs {
                        s.spawn(|_| ());
                    }
                });
                begun.wait();
            });
            _ = over.send(());
        });
        assert!(wait_for(helper).unwrap(), "the other scope waits for this task");
        wait_for(other).unwrap();
    }
}

fn tree_of_joins(depth: u32) {
    if depth > 0 {
        join(|| tree_of_joins(depth - 1), || tree_of_joins(depth - 1));
    }
}

#[test]
fn outside_threads_may_open_scopes_and_spawn_on_others() {
    let runtime = runtime(2);
    let _entered = runtime.enter();
    let count = AtomicUsize::new(0);
    scope(|s| {
        let count = &count;
        // This thread is none of the pool's: its job runs there and then.
        thread::scope(|threads| {
            threads.spawn(move || {
                s.spawn(move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                })
            });
        });
        s.spawn(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
    });
    assert_eq!(count.into_inner(), 2);
}

#[test]
fn after_shutdown_jobs_run_on_the_calling_thread() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    let _entered = handle.enter();
    let (here, mut there) = (thread::current().id(), None);
    scope(|s| s.spawn(|_| there = Some(thread::current().id())));
    assert_eq!(there, Some(here));
}

#[test]
fn the_first_panic_is_passed_on_when_all_jobs_have_ended() {
    let runtime = runtime(2);
    let ended = Count::new();
    let counted = ended.clone();
    let caught = on_worker(&runtime, move || {
        panic::catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                for _ in 0..100 {
                    s.spawn(|_| {
                        counted.add();
                    });
                }
                s.spawn(|_| throw("job"));
                for _ in 0..100 {
                    s.spawn(|_| {
                        counted.add();
                    });
                }
            });
        }))
    });
    assert_eq!(text_of(&*caught.unwrap_err()), "job");
    assert_eq!(ended.get(), 200);
}

#[test]
fn a_panic_of_the_closure_waits_for_its_jobs() {
    let runtime = runtime(2);
    let ended = Count::new();
    let counted = ended.clone();
    let caught = on_worker(&runtime, move || {
        let (begun, release) = (Gate::new(), Gate::new());
        panic::catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                s.spawn(|_| {
                    begun.open();
                    release.wait();
                    counted.add();
                });
                // By now a thief has it.
                begun.wait();
                release.open();
                throw("closure");
            });
        }))
    });
    assert_eq!(text_of(&*caught.unwrap_err()), "closure");
    assert_eq!(ended.get(), 1);
}

/// A worker that searched while the job was spawned, and had looked for jobs before, used to fall
/// asleep beside it. That was a runtime's first scope more often than not.
#[test]
fn no_worker_sleeps_while_a_job_waits() {
    for round in 0..100 {
        let runtime = runtime(1 + round % 4);
        let jobs = 1 + round % 4;
        on_worker(&runtime, move || {
            let inside = AtomicUsize::new(0);
            let come_in = |_: &Scope<'_>| {
                inside.fetch_add(1, Ordering::SeqCst);
                let all = || inside.load(Ordering::SeqCst) == jobs;
                util::wait_until("all jobs run at once", all);
            };
            scope(|s| (0..jobs).for_each(|_| s.spawn(come_in)));
        });
    }
}
