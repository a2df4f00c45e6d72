//! A thread that becomes one of a pool's: for fork-join, and for nothing else.

mod common;

use std::sync::mpsc;
use std::thread;

use common::PATIENCE;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Calls `f` on a thread of its own, which it may use up.
fn on_a_thread<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(f()));
    receiver.recv_timeout(PATIENCE).expect("it comes to an end, in time")
}

fn with_this_thread(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
    builder.build().expect("a pool starts")
}

#[test]
fn it_is_the_first_thread_of_the_pool() {
    for threads in [1, 2] {
        on_a_thread(move || {
            let here = thread::current().id();
            let pool = with_this_thread(threads);
            assert_eq!(rayon::current_thread_index(), Some(0));
            assert_eq!(rayon::current_num_threads(), threads);
            assert_eq!(pool.current_thread_index(), Some(0));
            assert_eq!(pool.install(|| thread::current().id()), here);
            assert_eq!((0..1_000_u64).into_par_iter().sum::<u64>(), 499_500);
            assert_eq!(rayon::join(|| 1, || 2), (1, 2));
            let on = rayon::broadcast(|_| thread::current().id());
            assert_eq!((on.len(), on[0]), (threads, here));
            let mut count = 0;
            rayon::scope(|s| s.spawn(|_| count += 1));
            assert_eq!(count, 1);
            let again = ThreadPoolBuilder::new().use_current_thread().build();
            let error = again.expect_err("it belongs to a pool");
            assert!(error.to_string().contains("already part of another"), "{error}");
        });
    }
}

#[test]
fn all_threads_are_asked_for_their_names_this_one_included() {
    let named = on_a_thread(|| {
        let (sender, receiver) = mpsc::channel();
        let name = move |index| {
            sender.send(index).expect("the test waits");
            format!("named-{index}")
        };
        let builder = ThreadPoolBuilder::new().num_threads(3).use_current_thread();
        drop(builder.thread_name(name).build().expect("a pool starts"));
        receiver.iter().collect::<Vec<usize>>()
    });
    assert_eq!(named, [0, 1, 2]);
}

/// The pool's runtime became the current one of the thread, and stayed it when it had ended: all tasks were refused.
#[test]
fn the_runtime_of_the_thread_s_tasks_stays_what_it_was() {
    on_a_thread(|| {
        let runs = |expected: Option<usize>| {
            let task = windlass::spawn(async { windlass::Handle::current().workers() });
            let workers = windlass::block_on(task).expect("the task is not refused");
            assert!(expected.is_none_or(|expected| workers == expected), "{workers}");
        };
        let runtime = windlass::Builder::new().workers(3).build().expect("a runtime starts");
        let pool = with_this_thread(2);
        assert!(windlass::Handle::try_current().is_none(), "nothing is entered");
        runs(None);
        {
            let _entered = runtime.enter();
            runs(Some(3));
        }
        pool.install(|| rayon::join(|| runs(None), || ()));
        drop(pool);
        runs(None);
        assert_eq!(windlass::Handle::current().install(|| rayon::join(|| 1, || 2)), (1, 2));
        let computed = windlass::block_on(windlass::compute(|| (0..10).into_par_iter().count()));
        assert_eq!(computed.expect("it is not refused"), 10);
        // The thread stays what it is for rayon, as with rayon's own core.
        assert_eq!(rayon::current_thread_index(), Some(0));
        assert_eq!((0..1_000_u64).into_par_iter().sum::<u64>(), 499_500);
    });
}
