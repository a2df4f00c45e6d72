//! Calls that block, on the runtime's blocking pool.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use windlass_runtime::task::JoinHandle;
use windlass_sync::primitives::{Arc, Mutex, MutexGuard};

/// Runs a call that blocks. It is carried out also if the future is dropped.
///
/// The error of a call that never began, because the runtime shuts down, is an I/O error like any other.
pub(crate) async fn run<T: Send + 'static>(
    call: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    windlass_runtime::spawn_blocking(call).await?
}

/// Counts one result against the task's budget; pending if that is used up, and then the task is woken.
pub(crate) fn poll_budget(cx: &mut Context<'_>) -> Poll<()> {
    pin!(windlass_runtime::task::consume_budget()).poll(cx)
}

/// A value that calls which block are made on, one at a time.
///
/// The value is shared with the call, and not moved to it, so that it is there again whatever becomes of the call.
/// Its lock is held for as long as a call runs; here it is only taken when none does.
#[derive(Debug)]
pub(crate) struct Blocking<T> {
    value: Arc<Mutex<T>>,
    running: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Blocking<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Arc::new(Mutex::new(value)), running: None }
    }

    /// True while a call is under way, or has ended and nobody has asked.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Begins a call. The last one must have ended, by [`poll_idle`](Self::poll_idle).
    pub(crate) fn start(&mut self, call: impl FnOnce(&mut T) + Send + 'static) {
        debug_assert!(!self.is_busy());
        let value = self.value.clone();
        self.running = Some(windlass_runtime::spawn_blocking(move || call(&mut value.lock())));
    }

    /// Waits for the call under way, if any, and gives access to the value.
    ///
    /// # Errors
    ///
    /// If the call did not begin because the runtime has shut down, or panicked.
    pub(crate) fn poll_idle(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<MutexGuard<'_, T>>> {
        if let Some(running) = &mut self.running {
            let ended = ready!(Pin::new(running).poll(cx));
            self.running = None;
            ended?;
        }
        Poll::Ready(Ok(self.value()))
    }

    /// Access to the value while no call is under way; blocks otherwise.
    pub(crate) fn value(&self) -> MutexGuard<'_, T> {
        debug_assert!(!self.is_busy());
        self.value.lock()
    }
}
