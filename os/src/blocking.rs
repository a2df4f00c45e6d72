//! Blocking calls, made on the runtime's blocking pool.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use windlass_runtime::task::JoinHandle;
use windlass_sync::primitives::{Arc, Mutex, MutexGuard};

/// Runs a blocking call. It is made even if the future is dropped.
///
/// If the call never starts because the runtime shuts down, the result is also an I/O error.
pub(crate) async fn run<T: Send + 'static>(
    call: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    windlass_runtime::spawn_blocking(call).await?
}

/// Counts one result against the task's budget. If that is used up, returns pending and wakes the task.
pub(crate) fn poll_budget(cx: &mut Context<'_>) -> Poll<()> {
    pin!(windlass_runtime::task::consume_budget()).poll(cx)
}

/// A value on which blocking calls are made, one at a time.
///
/// The value is shared with the call instead of being moved into it, so that it is available again however the call
/// ends. The lock is held while a call runs; the methods take it only while none runs.
#[derive(Debug)]
pub(crate) struct Blocking<T> {
    value: Arc<Mutex<T>>,
    running: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Blocking<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Arc::new(Mutex::new(value)), running: None }
    }

    /// Returns true if a call is running, or has ended and was not polled since then.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Starts a call. [`poll_idle`](Self::poll_idle) must have returned ready before.
    pub(crate) fn start(&mut self, call: impl FnOnce(&mut T) + Send + 'static) {
        debug_assert!(!self.is_busy());
        let value = self.value.clone();
        self.running = Some(windlass_runtime::spawn_blocking(move || call(&mut value.lock())));
    }

    /// Waits for the running call, if any, and returns access to the value.
    ///
    /// # Errors
    ///
    /// Returns an error if the call panicked, or did not start because the runtime has shut down.
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

    /// Returns access to the value. Blocks if a call is running.
    pub(crate) fn value(&self) -> MutexGuard<'_, T> {
        debug_assert!(!self.is_busy());
        self.value.lock()
    }
}
