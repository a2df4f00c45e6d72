//! Work on a thread of its own: no worker is held up by it, and none is needed for it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use windlass_sync::AutoResetEvent;

/// Runs a closure on a thread of its own, and waits for its result. Returns an error if the OS refuses a thread, or if
/// the closure panics. Dropping the future does not stop the closure.
pub(crate) async fn aside<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> io::Result<R> {
    let answer = Arc::new((Mutex::new(None), AutoResetEvent::new(false)));
    let to = answer.clone();
    let thread = thread::Builder::new().name("windlass-inspector".to_owned());
    thread.spawn(move || {
        // Whatever happens, the client is told.
        let result = catch_unwind(AssertUnwindSafe(work));
        *to.0.lock().unwrap_or_else(PoisonError::into_inner) = result.ok();
        to.1.set();
    })?;
    answer.1.wait().await;
    let result = answer.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.ok_or_else(|| io::ErrorKind::Other.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_on_another_thread_and_a_panic_is_an_error() {
        let there = windlass_sync::block_on(aside(|| thread::current().id())).unwrap();
        assert_ne!(there, thread::current().id());
        let failed = windlass_sync::block_on(aside(|| panic!("as this test wants")));
        assert!(failed.is_err());
    }
}
