//! What goes wrong in jobs and pools, and what becomes of the rest.

mod common;

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use common::{PATIENCE, child, is_child, succeeds};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use windlass::{Builder, Runtime};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool starts")
}

fn runtime() -> Runtime {
    Builder::new().workers(2).build().expect("a runtime starts")
}

/// The message of a panic in `f`.
fn panics<R>(f: impl FnOnce() -> R) -> String {
    let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f)) else {
        panic!("it has not panicked")
    };
    payload.downcast_ref::<&str>().map_or_else(String::new, |message| (*message).to_owned())
}

#[test]
fn a_panic_in_any_closure_of_an_iterator_comes_out_and_the_workers_go_on() {
    /// Panics when it is dropped for the 50th time.
    struct Grumpy<'a>(&'a AtomicUsize);
    impl Drop for Grumpy<'_> {
        fn drop(&mut self) {
            assert!(self.0.fetch_add(1, Ordering::Relaxed) != 50, "dropped");
        }
    }
    let runtime = runtime();
    runtime.handle().install(|| {
        let numbers = || (0..1_000).into_par_iter();
        let fails = |number: &i32| assert!(*number != 700, "in the closure");
        assert_eq!(panics(|| numbers().for_each(|number| fails(&number))), "in the closure");
        assert_eq!(panics(|| numbers().inspect(fails).sum::<i32>()), "in the closure");
        assert_eq!(panics(|| numbers().inspect(fails).collect::<Vec<_>>()), "in the closure");
        let reduce = |_: i32, _: i32| panic!("in the reduction");
        assert_eq!(panics(|| numbers().reduce(|| 0, reduce)), "in the reduction");
        let sorts = || [3, 1, 2].repeat(10_000).par_sort_by(|_, _| panic!("in the order"));
        assert_eq!(panics(sorts), "in the order");
        let next = (0..1_000).inspect(|number| assert!(*number != 700, "in next"));
        assert_eq!(panics(|| next.par_bridge().for_each(drop)), "in next");
        let dropped = AtomicUsize::new(0);
        assert_eq!(panics(|| numbers().map(|_| Grumpy(&dropped)).for_each(drop)), "dropped");
        assert_eq!(numbers().sum::<i32>(), 499_500, "the workers go on");
    });
    // What a task or a computation has called, its handle reports.
    let task =
        runtime.spawn(async { (0..1_000).into_par_iter().for_each(|_| panic!("in a task")) });
    assert!(runtime.block_on(task).expect_err("it panics").is_panic());
    let computed = runtime.block_on(async {
        windlass::compute(|| (0..1_000).into_par_iter().for_each(|_| panic!("in compute"))).await
    });
    assert!(computed.expect_err("it panics").is_panic());
    assert_eq!(runtime.handle().install(|| (0..10).into_par_iter().count()), 10);
}

#[test]
fn a_scope_whose_closure_unwinds_waits_for_its_jobs() {
    for fifo in [false, true] {
        let ran = AtomicUsize::new(0);
        let job = || _ = ran.fetch_add(1, Ordering::Relaxed);
        let message = panics(|| {
            pool(2).install(|| {
                if fifo {
                    rayon::scope_fifo(|scope| {
                        (0..100).for_each(|_| scope.spawn_fifo(|_| job()));
                        panic!("in the scope")
                    })
                } else {
                    rayon::scope(|scope| {
                        (0..100).for_each(|_| scope.spawn(|_| job()));
                        panic!("in the scope")
                    })
                }
            });
        });
        assert_eq!((message.as_str(), ran.into_inner()), ("in the scope", 100));
    }
}

#[test]
fn a_scope_in_place_whose_closure_unwinds_waits_for_its_jobs() {
    // On a thread outside, and on one of the pool.
    fn unwinds(pool: &ThreadPool, fifo: bool, ran: &AtomicUsize) -> String {
        let job = || _ = ran.fetch_add(1, Ordering::Relaxed);
        panics(|| {
            if fifo {
                pool.in_place_scope_fifo(|scope| {
                    (0..100).for_each(|_| scope.spawn_fifo(|_| job()));
                    panic!("in the scope")
                })
            } else {
                pool.in_place_scope(|scope| {
                    (0..100).for_each(|_| scope.spawn(|_| job()));
                    panic!("in the scope")
                })
            }
        })
    }
    let pool = pool(2);
    for fifo in [false, true] {
        let ran = AtomicUsize::new(0);
        assert_eq!(unwinds(&pool, fifo, &ran), "in the scope");
        assert_eq!(ran.load(Ordering::Relaxed), 100);
        assert_eq!(pool.install(|| unwinds(&pool, fifo, &ran)), "in the scope");
        assert_eq!(ran.load(Ordering::Relaxed), 200);
    }
}

/// A payload whose drop panics with another one, this many times in a row.
struct Grenade(u32);

impl Drop for Grenade {
    fn drop(&mut self) {
        if let Some(less) = self.0.checked_sub(1) {
            panic::panic_any(Grenade(less));
        }
    }
}

/// The second payload's drop panicked with a third, whose drop panicked too, outside of what catches; that job was
/// never counted, and the scope waited for ever.
#[test]
fn a_scope_ends_although_the_drops_of_payloads_panic() {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let result = panic::catch_unwind(|| {
            pool(1).scope(|scope| {
                (0..3).for_each(|_| scope.spawn(|_| panic::panic_any(Grenade(2))));
            });
        });
        let first = result.expect_err("it panics").downcast::<Grenade>().expect("the payload");
        let left = first.0;
        std::mem::forget(first);
        sender.send(left).expect("the test waits");
    });
    assert_eq!(receiver.recv_timeout(PATIENCE), Ok(2), "the first comes out as it is");
}

#[test]
fn a_panic_in_a_broadcast_comes_out_after_all_have_been_called() {
    let (pool, called) = (pool(3), AtomicUsize::new(0));
    let call = |index: usize| {
        called.fetch_add(1, Ordering::Relaxed);
        assert!(index != 1, "in the broadcast");
    };
    assert_eq!(panics(|| pool.broadcast(|context| call(context.index()))), "in the broadcast");
    assert_eq!(called.load(Ordering::Relaxed), 3);
    let inside = || pool.install(|| rayon::broadcast(|context| call(context.index())));
    assert_eq!(panics(inside), "in the broadcast");
    assert_eq!(called.load(Ordering::Relaxed), 6);
    let of_a_scope = || {
        pool.scope(|scope| scope.spawn_broadcast(|_, context| call(context.index())));
    };
    assert_eq!(panics(of_a_scope), "in the broadcast");
    assert_eq!(called.load(Ordering::Relaxed), 9);
    assert_eq!(pool.install(|| (0..10).into_par_iter().count()), 10, "the threads go on");
}

#[test]
fn jobs_and_exit_handlers_that_panic_are_reported() {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .exit_handler(|index| assert!(index != 1, "at the end"))
        .panic_handler(move |payload| {
            let message = payload.downcast_ref::<&str>().copied().unwrap_or_default();
            sender.lock().expect("nobody panics").send(message).expect("somebody waits");
        })
        .build()
        .expect("a pool starts");
    let report = || receiver.recv_timeout(PATIENCE).expect("in time");
    pool.spawn(|| panic!("in a job"));
    assert_eq!(report(), "in a job");
    pool.spawn_fifo(|| panic!("in a fifo job"));
    assert_eq!(report(), "in a fifo job");
    pool.spawn_broadcast(|context| assert!(context.index() != 0, "in a broadcast"));
    assert_eq!(report(), "in a broadcast");
    pool.install(|| rayon::spawn(|| panic!("in an inner job")));
    assert_eq!(report(), "in an inner job");
    drop(pool);
    assert_eq!(report(), "at the end");
}

#[test]
fn a_pool_may_be_dropped_while_its_jobs_run_and_by_one_of_them() {
    let (sender, receiver) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let dropped = pool(2);
    dropped.spawn({
        let sender = sender.clone();
        move || {
            // The pool is dropped by now, and serves what it has begun.
            released.recv().expect("it is told");
            sender.send((0..1_000_u64).into_par_iter().sum::<u64>()).expect("somebody waits");
        }
    });
    drop(dropped);
    release.send(()).expect("it waits");
    assert_eq!(receiver.recv_timeout(PATIENCE).expect("in time"), 499_500);

    let shared = Arc::new(pool(1));
    let last = shared.clone();
    shared.spawn(move || {
        // Waits until this is the only one, and drops the pool on its own thread.
        while Arc::strong_count(&last) > 1 {
            std::thread::yield_now();
        }
        drop(last);
        sender.send(1).expect("somebody waits");
    });
    drop(shared);
    assert_eq!(receiver.recv_timeout(PATIENCE).expect("in time"), 1);
}

#[test]
fn a_broadcast_reaches_a_thread_in_a_long_job_although_the_pool_is_dropped() {
    let (sender, receiver) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    let dropped = pool(2);
    dropped.spawn(move || {
        begin.send(()).expect("the test waits");
        released.recv().expect("it is told");
    });
    begun.recv_timeout(PATIENCE).expect("the job begins");
    dropped.spawn_broadcast(move |context| {
        assert_eq!(rayon::current_thread_index(), Some(context.index()));
        sender.send(context.index()).expect("the test waits");
    });
    drop(dropped);
    let free = receiver.recv_timeout(PATIENCE).expect("the other thread is free");
    release.send(()).expect("it waits");
    let busy = receiver.recv_timeout(PATIENCE).expect("in time");
    assert_eq!(free + busy, 1, "one each");
    assert!(receiver.recv_timeout(PATIENCE).is_err(), "and no more");
}

#[test]
fn pools_call_each_other_three_deep() {
    let pools = [pool(1), pool(2), pool(1)];
    let [first, second, third] = &pools;
    let sum = first.install(|| {
        let numbers = (0..8_u64).into_par_iter();
        let inner = |number| third.install(|| (0..number).into_par_iter().sum::<u64>());
        numbers.map(|number| second.install(|| inner(number) + first.install(|| 1))).sum::<u64>()
    });
    assert_eq!(sum, (0..8).map(|number| number * u64::saturating_sub(number, 1) / 2 + 1).sum());
}

#[test]
fn a_recursion_100_000_joins_deep_comes_back() {
    fn down(depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        let (below, one) = rayon::join(|| down(depth - 1), || 1);
        below + one
    }
    // What a test build takes for each; the pages that are not needed are never touched.
    let stack = 100_000 * 8 * 1024;
    let deep = ThreadPoolBuilder::new().num_threads(2).stack_size(stack).build();
    assert_eq!(deep.expect("a pool starts").install(|| down(100_000)), 100_000);
}

#[test]
fn a_start_handler_that_panics_is_reported_and_its_thread_serves() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = reports.clone();
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(|index| assert!(index != 1, "cannot start"))
        .panic_handler(move |payload| {
            let message = payload.downcast_ref::<&str>().copied().unwrap_or_default();
            seen.lock().expect("nobody panics").push(message.to_owned());
        })
        .build()
        .expect("a pool starts");
    assert_eq!(pool.broadcast(|context| context.index()), [0, 1]);
    assert_eq!(*reports.lock().expect("nobody panics"), ["cannot start"]);
}

#[test]
fn a_start_handler_that_panics_with_nobody_to_report_to_ends_the_process() {
    const TEST: &str = "a_start_handler_that_panics_with_nobody_to_report_to_ends_the_process";
    if is_child(TEST) {
        let builder = ThreadPoolBuilder::new().num_threads(1);
        let pool = builder.start_handler(|_| panic!("cannot start")).build();
        pool.expect("threads start").install(|| ());
        return;
    }
    let output = child(TEST, &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("unexpected panic; aborting"), "{said}");
}

#[test]
fn a_stack_overflow_in_a_job_ends_the_process() {
    const TEST: &str = "a_stack_overflow_in_a_job_ends_the_process";
    #[allow(unconditional_recursion)]
    fn down(depth: u64) -> u64 {
        let room = std::hint::black_box([depth; 64]);
        down(depth + 1) + room[depth as usize % 64]
    }
    if is_child(TEST) {
        pool(2).install(|| rayon::join(|| down(0), || down(1)));
        println!("it has come back");
        return;
    }
    let output = child(TEST, &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{:?}", output.status);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("it has come back"));
    assert!(said.contains("overflowed its stack"), "{said}");
}

#[test]
fn zero_threads_means_the_default() {
    const TEST: &str = "zero_threads_means_the_default";
    if is_child(TEST) {
        let asked = std::env::var("RAYON_NUM_THREADS").expect("the parent sets it");
        let expected = match asked.as_str() {
            "3" => 3,
            _ => std::thread::available_parallelism().map_or(1, usize::from),
        };
        assert_eq!(pool(0).current_num_threads(), expected);
        assert_eq!(pool(2).current_num_threads(), 2, "what is asked for comes first");
        return;
    }
    for asked in ["0", "3", "many"] {
        succeeds(&child(TEST, &[("RAYON_NUM_THREADS", asked)]));
    }
}
