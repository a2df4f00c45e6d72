//! The methods of a handle that look into its runtime: tasks, workers, the flight record.

use std::io;

use super::{TaskInfo, listing, trace};
use crate::handle::Handle;
use crate::primitives::plain::Ordering;

impl Handle {
    /// Returns what each task of the runtime does, and what it waits for.
    ///
    /// Taking the list stops no worker and polls no task. It works while every worker is stuck, and during a shutdown.
    /// Each entry shows its task at one moment, but not all entries show the same moment.
    ///
    /// The list has every task that has waited at least once, was spawned from outside of a task or has a name, and
    /// every task that is being polled; closures of [`spawn_blocking`](crate::spawn_blocking), running or queued;
    /// tasks of [`spawn_local`](crate::task::spawn_local) and [`spawn_pinned`](crate::task::spawn_pinned); and the
    /// futures of [`block_on`](crate::block_on). [`TaskInfo::kind`] tells them apart.
    ///
    /// Tasks that were spawned in a task and wait for their first poll are listed if they wait behind a worker that the
    /// monitor has seen stuck. That worker's queue can't be read without taking from it, so they move, in their order,
    /// to the queue that all workers take from, as a thief would have moved them. A listing changes nothing else.
    /// Behind a worker that makes progress, such tasks are not listed, because their turn comes in a moment. Until
    /// then, [`Metrics::sites`](crate::Metrics::sites) counts them as `alive`, and `queue_len` of
    /// [`WorkerMetrics`](crate::WorkerMetrics) counts those of each worker.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let task = runtime.spawn(std::future::pending::<()>());
    /// for info in runtime.handle().tasks() {
    ///     println!("{} from {}: {:?}, waits for {:?}", info.id, info.location, info.state, info.waits_for);
    /// }
    /// assert!(runtime.handle().tasks().iter().any(|info| info.id == task.id()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn tasks(&self) -> Vec<TaskInfo> {
        listing::tasks(self.pool())
    }

    /// Writes what the workers did lately as a trace in Chrome's JSON format, which
    /// [Perfetto](https://ui.perfetto.dev) and `chrome://tracing` open.
    ///
    /// Each worker has a record of fixed size, in which the newest events replace the oldest. Reading it does not stop
    /// the workers; what they overwrite meanwhile is left out. See
    /// [`Builder::flight_recorder`](crate::Builder::flight_recorder) for what it contains.
    ///
    /// # Errors
    ///
    /// Returns the writer's error.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let mut trace = Vec::new();
    /// runtime.handle().flight_record(&mut trace)?;
    /// assert!(trace.starts_with(b"{\"traceEvents\":["));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn flight_record(&self, mut writer: impl io::Write) -> io::Result<()> {
        trace::write(self.pool(), &mut writer)
    }

    /// Sets whether the flight recorder also records each poll and each wake-up from now on, as
    /// [`Builder::flight_recorder`](crate::Builder::flight_recorder) does from the start.
    ///
    /// A worker notices within a millisecond or so while it runs tasks, and otherwise when it gets the next one.
    /// What was recorded before stays. Has no effect with [`Builder::observe(false)`](crate::Builder::observe).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// runtime.handle().set_flight_recorder(true);
    /// runtime.block_on(async { windlass::spawn(async {}).await.unwrap() });
    /// runtime.handle().set_flight_recorder(false);
    /// let mut trace = Vec::new();
    /// runtime.handle().flight_record(&mut trace)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_flight_recorder(&self, on: bool) {
        self.pool().full_flight_record.store(on, Ordering::Relaxed);
    }
}
