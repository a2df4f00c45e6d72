//! What the tests share: a runtime with a deadline, directories of their own, and this binary as a child.

#![allow(dead_code, reason = "each test binary uses a part of it")]

#[cfg(unix)]
pub(crate) mod os;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::task::Poll;
use std::time::{Duration, Instant};

use windlass_os::process::Command;
use windlass_runtime::{Builder, Runtime};

/// Nothing here takes longer unless something hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

pub(crate) fn runtime() -> Runtime {
    Builder::new().workers(2).build().unwrap()
}

/// Runs a test on a runtime of its own; panics if it does not end in time.
pub(crate) fn run<Fut: Future<Output = ()>>(test: impl FnOnce() -> Fut + Send + 'static) {
    within_deadline(move || runtime().block_on(test()));
}

/// Runs a test on a thread of its own; panics if it does not end in time.
pub(crate) fn within_deadline(test: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _done = done;
        test();
    });
    match ended.recv_timeout(DEADLINE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Looks again and again until something is so.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "never so: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Polls a future once.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|cx| match Pin::new(&mut *future).poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// A directory that goes with the value.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("windlass-os-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The variable that tells a test that it is a child, and what to do.
const ROLE: &str = "WINDLASS_OS_TEST_ROLE";

/// What this process is to do, if a test has started it.
pub(crate) fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// This binary, to run the test `name` and nothing else, which finds its role.
pub(crate) fn this_binary(name: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(ROLE, role);
    command
}
