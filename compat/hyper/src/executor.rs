//! The executor with which hyper spawns its tasks.

use std::future::Future;

/// Spawns hyper's tasks, such as those of HTTP/2 streams, on the current runtime, or on the global one outside of any.
///
/// The tasks are detached: a panic in one of them ends only that task, and shutting the runtime down cancels them.
///
/// # Examples
///
/// ```
/// use hyper::server::conn::http2;
/// use windlass_hyper::Executor;
///
/// let builder = http2::Builder::new(Executor);
/// # drop(builder);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Executor;

impl Executor {
    /// Returns an executor. The plain value `Executor` does the same.
    ///
    /// # Examples
    ///
    /// ```
    /// let executor = windlass_hyper::Executor::new();
    /// # let _ = executor;
    /// ```
    pub const fn new() -> Self {
        Self
    }
}

impl<F> hyper::rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        // A stream that was handed over keeps its connection busy until then.
        #[cfg(feature = "server")]
        if let Some(stream) = crate::server::take_stream() {
            drop(windlass_runtime::spawn(async move {
                let _stream = stream;
                future.await;
            }));
            return;
        }
        drop(windlass_runtime::spawn(future));
    }
}
