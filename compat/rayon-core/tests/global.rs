//! The global pool, which is the global runtime of windlass unless the program starts the threads itself.

mod common;

use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use common::{PATIENCE, child, is_child, succeeds};
use rayon::prelude::*;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use windlass::Runtime;

#[test]
fn the_global_pool_is_built_once() {
    const TEST: &str = "the_global_pool_is_built_once";
    if is_child(TEST) {
        let build = |threads| ThreadPoolBuilder::new().num_threads(threads).build_global();
        build(3).expect("the first is built");
        let again = build(5).expect_err("there is one");
        assert!(again.to_string().contains("already been initialized"), "{again}");
        assert_eq!(rayon::current_num_threads(), 3);
        assert_eq!((0..100).into_par_iter().count(), 100);
        return;
    }
    succeeds(&child(TEST, &[]));
}

#[test]
fn the_environment_sizes_the_global_runtime_and_there_is_one_pool() {
    const TEST: &str = "the_environment_sizes_the_global_runtime_and_there_is_one_pool";
    const EXPECTED: &str = "RAYON_CORE_TEST_EXPECTED";
    if is_child(TEST) {
        let expected = std::env::var(EXPECTED).expect("the parent sets it").parse();
        let expected: usize = expected.expect("a number");
        if std::env::var_os("RAYON_CORE_TEST_BUILT").is_some() {
            ThreadPoolBuilder::new().build_global().expect("there is none yet");
        }
        if std::env::var_os("RAYON_CORE_TEST_RUNTIME_FIRST").is_some() {
            assert_eq!(windlass::Handle::current().workers(), expected);
        }
        assert_eq!(rayon::current_num_threads(), expected);
        assert_eq!(windlass::Handle::current().workers(), expected);
        let thread = || std::thread::current().id();
        let of_rayon = rayon::broadcast(|_| thread());
        assert_eq!(windlass::Handle::current().broadcast(|_| thread()), of_rayon);
        return;
    }
    let default = Runtime::new().expect("a runtime starts").handle().workers().to_string();
    let [rayon, windlass] = ["RAYON_NUM_THREADS", "WINDLASS_WORKERS"];
    let [first, built] = ["RAYON_CORE_TEST_RUNTIME_FIRST", "RAYON_CORE_TEST_BUILT"];
    succeeds(&child(TEST, &[(rayon, "3"), (EXPECTED, "3")]));
    succeeds(&child(TEST, &[(rayon, "3"), (windlass, "5"), (EXPECTED, "5")]));
    succeeds(&child(TEST, &[(windlass, "5"), (EXPECTED, "5")]));
    succeeds(&child(TEST, &[(rayon, "3"), (built, "1"), (EXPECTED, "3")]));
    succeeds(&child(TEST, &[(rayon, "3"), (windlass, "5"), (built, "1"), (EXPECTED, "5")]));
    succeeds(&child(TEST, &[(rayon, "7"), (first, "1"), (EXPECTED, &default)]));
}

#[test]
fn a_global_pool_that_is_in_use_is_not_built_again() {
    const TEST: &str = "a_global_pool_that_is_in_use_is_not_built_again";
    if is_child(TEST) {
        assert_eq!((0..100).into_par_iter().count(), 100);
        assert!(ThreadPoolBuilder::new().num_threads(3).build_global().is_err());
        return;
    }
    succeeds(&child(TEST, &[]));
}

/// The threads of the global runtime, if it is what serves this thread, as rayon and as windlass see it.
fn threads_of_the_runtime() -> Vec<ThreadId> {
    let here = || thread::current().id();
    let of_rayon = rayon::broadcast(|_| here());
    assert_eq!(windlass::Handle::current().broadcast(|_| here()), of_rayon, "one pool");
    of_rayon
}

/// There were two pools, which competed for the CPUs.
#[test]
fn the_pool_that_is_built_is_the_global_runtime() {
    const TEST: &str = "the_pool_that_is_built_is_the_global_runtime";
    if !is_child(TEST) {
        return succeeds(&child(TEST, &[("WINDLASS_WORKERS", "7")]));
    }
    let (started, starts) = mpsc::channel();
    let (reports, reported) = mpsc::channel();
    let (started, reports) = (Mutex::new(started), Mutex::new(reports));
    // It need not be `Send`.
    let prefix = std::rc::Rc::new("ray".to_owned());
    let builder = ThreadPoolBuilder::new().num_threads(3);
    let builder = builder.thread_name(move |index| format!("{prefix}-{index}"));
    let builder = builder.start_handler(move |index| {
        assert_eq!(rayon::current_thread_index(), Some(index));
        started.lock().expect("nobody panics").send(index).expect("the test waits");
    });
    let builder = builder.panic_handler(move |payload| {
        let message = payload.downcast_ref::<&str>().copied().unwrap_or_default();
        reports.lock().expect("nobody panics").send(message).expect("the test waits");
    });
    builder.build_global().expect("nothing is there yet");

    assert_eq!(threads_of_the_runtime().len(), 3);
    assert_eq!(rayon::current_num_threads(), 3);
    assert_eq!(windlass::Handle::current().workers(), 3, "what is asked for comes first");
    let name = |_: rayon::BroadcastContext<'_>| thread::current().name().map(str::to_owned);
    let names: Vec<_> = rayon::broadcast(name).into_iter().flatten().collect();
    assert_eq!(names, ["ray-0", "ray-1", "ray-2"]);
    let mut all: Vec<_> = (0..3).map(|_| starts.recv_timeout(PATIENCE)).collect();
    all.sort_unstable_by_key(|index| index.ok());
    assert_eq!(all, [Ok(0), Ok(1), Ok(2)]);

    rayon::spawn(|| panic!("from outside"));
    assert_eq!(reported.recv_timeout(PATIENCE), Ok("from outside"));
    let in_task = windlass::spawn(async {
        rayon::spawn(|| panic!("in a task"));
        rayon::current_num_threads()
    });
    assert_eq!(windlass::block_on(in_task).expect("the task ends"), 3);
    assert_eq!(reported.recv_timeout(PATIENCE), Ok("in a task"));
}

#[test]
fn stacks_of_the_global_pool_are_as_large_as_asked_for() {
    const TEST: &str = "stacks_of_the_global_pool_are_as_large_as_asked_for";
    fn down(depth: u32) -> u32 {
        match depth {
            0 => 0,
            _ => rayon::join(|| down(depth - 1), || 1).0 + 1,
        }
    }
    if !is_child(TEST) {
        return succeeds(&child(TEST, &[]));
    }
    // What a test build takes for each; the pages that are not needed are never touched.
    let builder = ThreadPoolBuilder::new().num_threads(2).stack_size(20_000 * 8 * 1024);
    builder.build_global().expect("nothing is there yet");
    assert_eq!(rayon::join(|| down(20_000), || 1), (20_000, 1));
    assert_eq!(threads_of_the_runtime().len(), 2);
}

fn is_refused(built: Result<(), ThreadPoolBuildError>) {
    let error = built.expect_err("there is a pool");
    assert!(error.to_string().contains("already been initialized"), "{error}");
}

#[test]
fn a_global_runtime_that_runs_is_the_global_pool() {
    const TEST: &str = "a_global_runtime_that_runs_is_the_global_pool";
    if !is_child(TEST) {
        return succeeds(&child(TEST, &[("WINDLASS_WORKERS", "2")]));
    }
    windlass::block_on(windlass::spawn(async {})).expect("the task ends");
    is_refused(ThreadPoolBuilder::new().num_threads(3).build_global());
    assert_eq!(rayon::current_num_threads(), 2);
}

#[test]
fn no_global_pool_is_built_beside_the_current_runtime() {
    const TEST: &str = "no_global_pool_is_built_beside_the_current_runtime";
    if !is_child(TEST) {
        return succeeds(&child(TEST, &[]));
    }
    let runtime = windlass::Builder::new().workers(2).build().expect("a runtime starts");
    runtime.block_on(async {
        is_refused(ThreadPoolBuilder::new().num_threads(3).build_global());
        assert_eq!(rayon::current_num_threads(), 2);
    });
}

#[test]
fn threads_that_the_program_starts_are_a_second_pool() {
    const TEST: &str = "threads_that_the_program_starts_are_a_second_pool";
    if !is_child(TEST) {
        return succeeds(&child(TEST, &[("WINDLASS_WORKERS", "2")]));
    }
    windlass::block_on(windlass::spawn(async {})).expect("the task ends");
    let spawn =
        |thread: rayon::ThreadBuilder| thread::Builder::new().spawn(|| thread.run()).map(drop);
    let builder = ThreadPoolBuilder::new().num_threads(3).spawn_handler(spawn);
    builder.build_global().expect("nothing of rayon's is there yet");
    assert_eq!(rayon::current_num_threads(), 3);
    let in_task = windlass::spawn(async { rayon::current_num_threads() });
    assert_eq!(windlass::block_on(in_task).expect("the task ends"), 2);
}

/// Both started their threads, and only then one of them learnt that the other had been faster.
#[test]
fn of_two_threads_that_build_at_once_one_starts_its_threads() {
    const TEST: &str = "of_two_threads_that_build_at_once_one_starts_its_threads";
    if !is_child(TEST) {
        return succeeds(&child(TEST, &[]));
    }
    let (begin, begun) = mpsc::channel();
    let (second, seconds) = mpsc::channel::<()>();
    let other = thread::spawn(move || {
        begun.recv_timeout(PATIENCE).expect("the first has begun");
        let spawn = move |_: rayon::ThreadBuilder| {
            let _ = second.send(());
            Err(io::Error::other("it is not to start any"))
        };
        ThreadPoolBuilder::new().num_threads(1).spawn_handler(spawn).build_global()
    });
    let spawn = move |thread: rayon::ThreadBuilder| {
        let _ = begin.send(());
        // Long enough for the other to come to it, were it not kept waiting.
        let other = seconds.recv_timeout(Duration::from_millis(500));
        assert_ne!(other, Ok(()), "the other has not waited");
        thread::Builder::new().spawn(|| thread.run()).map(drop)
    };
    let builder = ThreadPoolBuilder::new().num_threads(1).spawn_handler(spawn);
    builder.build_global().expect("it was the first");
    is_refused(other.join().expect("it does not panic"));
}

#[test]
fn who_computes_while_the_global_pool_is_built_waits_for_it() {
    const TEST: &str = "who_computes_while_the_global_pool_is_built_waits_for_it";
    if !is_child(TEST) {
        return succeeds(&child(TEST, &[("WINDLASS_WORKERS", "2")]));
    }
    let (begin, begun) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    let other = thread::spawn(move || {
        begun.recv_timeout(PATIENCE).expect("it has begun");
        let threads = rayon::current_num_threads();
        let _ = done.send(());
        threads
    });
    let spawn = move |thread: rayon::ThreadBuilder| {
        let _ = begin.send(());
        // What this thread calls of rayon meanwhile, the runtime serves.
        assert_eq!(rayon::current_num_threads(), 2);
        let other = is_done.recv_timeout(Duration::from_millis(100));
        assert_ne!(other, Ok(()), "the other has not waited");
        thread::Builder::new().spawn(|| thread.run()).map(drop)
    };
    let builder = ThreadPoolBuilder::new().num_threads(3).spawn_handler(spawn);
    builder.build_global().expect("it is the first");
    assert_eq!(other.join().expect("it does not panic"), 3);
}

#[test]
fn a_build_that_fails_leaves_it_to_the_next() {
    const TEST: &str = "a_build_that_fails_leaves_it_to_the_next";
    if !is_child(TEST) {
        return succeeds(&child(TEST, &[]));
    }
    let spawn = |_: rayon::ThreadBuilder| Err(io::Error::other("no more threads"));
    let failed = ThreadPoolBuilder::new().num_threads(1).spawn_handler(spawn).build_global();
    assert!(failed.expect_err("no thread starts").to_string().contains("no more threads"));
    let named = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "\0".to_owned());
    assert!(named.build_global().is_err());
    let held = Arc::new(());
    let holds = held.clone();
    let builder = ThreadPoolBuilder::new().num_threads(3);
    builder.start_handler(move |_| drop(holds.clone())).build_global().expect("there is none yet");
    assert_eq!(threads_of_the_runtime().len(), 3);
    assert_eq!(Arc::strong_count(&held), 2, "the pool has it");
}
