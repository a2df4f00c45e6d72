//! A thread that yields runs what it has pending itself.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::{Yield, yield_local, yield_now};

/// More than any thread has pending here.
const LIMIT: usize = 1_000;

/// Runs `f` on the only thread of a pool.
fn alone<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool starts");
    pool.install(f)
}

/// Yields until `done`.
fn yield_until(yields: fn() -> Option<Yield>, done: impl Fn() -> bool) {
    for _ in 0..LIMIT {
        if done() {
            return;
        }
        assert_eq!(yields(), Some(Yield::Executed), "there is something to run");
    }
    panic!("it is not run");
}

#[test]
fn the_second_half_of_a_join_is_run_by_a_yield_of_the_first() {
    for yields in [yield_now, yield_local] {
        let flag = AtomicBool::new(false);
        let set = || flag.store(true, Ordering::Relaxed);
        alone(|| {
            rayon::join(|| yield_until(yields, || flag.load(Ordering::Relaxed)), set);
            assert_eq!(yields(), Some(Yield::Idle));
        });
    }
}

#[test]
fn all_joins_around_a_yield_are_run_once_each() {
    /// Opens joins, and yields until the second halves of all have run.
    fn down(depth: usize, ran: &AtomicUsize, all: usize) -> usize {
        if depth == 0 {
            assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(true));
            yield_until(yield_local, || ran.load(Ordering::Relaxed) == all);
            assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(false));
            return 0;
        }
        let count = || {
            // With joins of its own, and one of them yielding too.
            let (_, one) = rayon::join(yield_local, || 1);
            ran.fetch_add(one, Ordering::Relaxed);
            one
        };
        let (below, one) = rayon::join(|| down(depth - 1, ran, all), count);
        below + one
    }
    for depth in [1, 2, 10, 300] {
        let ran = AtomicUsize::new(0);
        assert_eq!(alone(|| down(depth, &ran, depth)), depth);
        assert_eq!(ran.into_inner(), depth);
    }
}

#[test]
fn a_panic_in_a_half_that_a_yield_has_run_comes_out_of_its_join() {
    let result = std::panic::catch_unwind(|| {
        alone(|| {
            rayon::join(
                || assert_eq!(yield_now(), Some(Yield::Executed), "the panic stays in its half"),
                || panic!("the second half"),
            );
        });
    });
    let payload = result.expect_err("it panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"the second half"));
}

#[test]
fn jobs_and_joins_are_run_by_yields() {
    let ran = AtomicUsize::new(0);
    let count = || _ = ran.fetch_add(1, Ordering::Relaxed);
    alone(|| {
        rayon::scope(|s| {
            s.spawn(|_| count());
            let first = || {
                s.spawn(|_| count());
                yield_until(yield_now, || ran.load(Ordering::Relaxed) == 3);
            };
            rayon::join(first, count);
        });
    });
}

#[test]
fn a_broadcast_is_served_by_a_local_yield() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool starts");
    let ran = std::sync::Arc::new(AtomicUsize::new(0));
    pool.install(|| {
        let (index, count) = (rayon::current_thread_index(), ran.clone());
        rayon::spawn_broadcast(move |context| {
            if Some(context.index()) == index {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        yield_until(yield_local, || ran.load(Ordering::Relaxed) == 1);
    });
}
