//! What the tests share: a runtime with a deadline.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use windlass_runtime::Builder;

/// Nothing here takes longer unless something hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Runs a test on a runtime of its own; panics if it does not end in time.
pub(crate) fn run<Fut: Future<Output = ()>>(test: impl FnOnce() -> Fut + Send + 'static) {
    let (done, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _done = done;
        Builder::new().workers(2).build().unwrap().block_on(test());
    });
    match ended.recv_timeout(DEADLINE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}
