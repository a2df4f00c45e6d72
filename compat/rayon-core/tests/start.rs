//! Pools whose threads can't all be started.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until nothing is left of a pool that has held this.
fn is_gone(held: &Arc<()>) {
    let end = Instant::now() + PATIENCE;
    while Arc::strong_count(held) > 1 {
        assert!(Instant::now() < end, "the pool is not gone");
        thread::yield_now();
    }
}

/// The settings of a pool that holds this until its last thread ends, and of whose threads the first two may start.
fn builder(held: &Arc<()>) -> ThreadPoolBuilder {
    let held = held.clone();
    ThreadPoolBuilder::new().num_threads(4).start_handler(move |index| {
        assert!(index < 2, "no thread stands in for one that is not started");
        assert!(Arc::strong_count(&held) > 0);
    })
}

/// Threads of this process, the poller's among them.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("Linux has it").count()
}

#[test]
fn a_pool_whose_threads_fail_to_start_ends() {
    fn fails(held: &Arc<()>) -> Result<(), ThreadPoolBuildError> {
        let spawn = |thread: rayon::ThreadBuilder| match thread.index() {
            // That one is dropped, and so are those after it.
            1 => Err(io::Error::other("no more threads")),
            _ => thread::Builder::new().spawn(|| thread.run()).map(drop),
        };
        builder(held).spawn_handler(spawn).build().map(drop)
    }
    let held = Arc::new(());
    let error = fails(&held).expect_err("a thread is missing");
    assert!(error.to_string().contains("no more threads"), "{error}");
    is_gone(&held);
}

#[test]
fn a_pool_whose_names_panic_ends() {
    let held = Arc::new(());
    let name = |index| {
        assert!(index != 2, "no name");
        format!("named-{index}")
    };
    let built = panic::catch_unwind(AssertUnwindSafe(|| builder(&held).thread_name(name).build()));
    assert!(built.is_err(), "the panic comes out");
    is_gone(&held);
}

/// In a process with one thread besides its tests: the poller's threads end too.
#[cfg(target_os = "linux")]
#[test]
fn all_threads_of_pools_that_fail_end() {
    const CHILD: &str = "RAYON_CORE_TEST_CHILD";
    const TEST: &str = "all_threads_of_pools_that_fail_end";
    if std::env::var_os(CHILD).is_none() {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = std::process::Command::new(program);
        command.args([TEST, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
        let output = command.output().expect("a child starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let before = threads();
    a_pool_whose_names_panic_ends();
    a_pool_whose_threads_fail_to_start_ends();
    let end = Instant::now() + PATIENCE;
    while threads() > before {
        assert!(Instant::now() < end, "{} threads are left", threads() - before);
        thread::yield_now();
    }
}
