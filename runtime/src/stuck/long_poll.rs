//! The report on something that is stuck.

use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use super::reports::Culprit;
use super::stack_trace::StackTrace;
use crate::task::Id;

/// Describes a poll that has not returned for a long time, or something else that holds up others, while it lasts. See
/// [`Builder::report_long_polls`](crate::Builder::report_long_polls).
///
/// Its `Display` form is the text that is written to standard error: a line, and the stack if there is one. Names are
/// escaped.
///
/// # Examples
///
/// ```
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// let (reports, received) = mpsc::channel();
/// let runtime = windlass::Builder::new()
///     .report_long_polls(Duration::from_millis(20))
///     .on_long_poll(move |report| drop(reports.send(report.clone())))
///     .build()?;
/// let (release, wait) = mpsc::channel::<()>();
/// let stuck = windlass::task::Builder::new()
///     .name("stuck")
///     .spawn_on(async move { wait.recv() }, runtime.handle()); // blocks its worker
///
/// let report = received.recv().unwrap();
/// assert_eq!(report.name(), Some("stuck"));
/// assert_eq!(report.task(), Some(stuck.id()));
/// assert!(report.worker().is_some() && report.elapsed() >= Duration::from_millis(20));
/// println!("{report}");
/// drop(release);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LongPoll {
    pub(super) kind: LongPollKind,
    pub(super) what: Culprit,
    pub(super) since: Instant,
    pub(super) lasts: bool,
    pub(super) task: Option<Id>,
    pub(super) name: Option<String>,
    pub(super) location: Option<&'static Location<'static>>,
    pub(super) worker: Option<usize>,
    pub(super) elapsed: Duration,
    pub(super) stack: Option<StackTrace>,
    pub(super) waiting: usize,
    /// The worker or guest that waits for it in a join; the stuck worker itself, if it runs this on top of its wait.
    pub(super) joiner: Option<usize>,
}

/// The kind of thing that is stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LongPollKind {
    /// The poll of a task has not returned.
    Task,
    /// A task or a closure of [`compute`](crate::compute) is between two split points of a computation: a `join`, or a
    /// `spawn` of a scope.
    Leaf,
    /// A job of a computation, taken from another worker, has not come to a split point.
    Job,
    /// A task that shares its thread with others, of [`spawn_local`](crate::task::spawn_local) or
    /// [`spawn_pinned`](crate::task::spawn_pinned), has called [`block_on`](crate::block_on). Reported at the call,
    /// once for each place in the program. On a worker, `block_on` panics instead.
    BlockOn,
    /// All threads of the blocking pool are in use, and closures wait for one.
    BlockingPool,
}

impl LongPoll {
    /// Returns what is stuck.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     if report.kind() == windlass::LongPollKind::BlockingPool {
    ///         println!("raise `max_blocking`?");
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn kind(&self) -> LongPollKind {
        self.kind
    }

    /// Returns the id of the task, if it is one.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     if let Some(task) = report.task() {
    ///         println!("task {task} is stuck");
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn task(&self) -> Option<Id> {
        self.task
    }

    /// Returns the task's name, if it has one.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     println!("{} is stuck", report.name().unwrap_or("a task"));
    /// });
    /// # drop(builder);
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns where the task was spawned; for [`BlockOn`](LongPollKind::BlockOn), the place of the call.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     if let Some(site) = report.location() {
    ///         println!("spawned at {}:{}", site.file(), site.line());
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// Returns the index of the worker that is stuck. Spares come after the workers.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     if let Some(worker) = report.worker() {
    ///         println!("worker {worker} is stuck");
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn worker(&self) -> Option<usize> {
        self.worker
    }

    /// Returns true if it had not ended when it was reported, or, for one that
    /// [`Handle::long_polls`](crate::Handle::long_polls) has returned, when that was called. The end of a
    /// [`BlockOn`](LongPollKind::BlockOn) is not noticed: it counts as ended once it has been reported.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(1).build()?;
    /// for report in runtime.handle().long_polls() {
    ///     let state = if report.lasts() { "is" } else { "was" };
    ///     println!("{} {state} stuck", report.name().unwrap_or("a task"));
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn lasts(&self) -> bool {
        self.lasts
    }

    /// Returns how long it has lasted so far. The time is counted from when it was first seen, so the true time is a
    /// little longer.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     println!("for {:?} so far", report.elapsed());
    /// });
    /// # drop(builder);
    /// ```
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns the stack of the thread, on Linux on x86-64 and arm64, with the feature `stack-traces`. Returns `None`
    /// elsewhere, and if the thread did not answer, or continued before it did.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     if let Some(stack) = report.stack() {
    ///         println!("{stack}");
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn stack(&self) -> Option<&StackTrace> {
        self.stack.as_ref()
    }

    /// Returns the number of closures that wait, for [`BlockingPool`](LongPollKind::BlockingPool); 0 otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     println!("{} closures wait for a thread", report.waiting());
    /// });
    /// # drop(builder);
    /// ```
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns true if a thread waits in a `join` or `scope` until this has ended. It is another thread, if this is a
    /// job that was taken from it, or the same thread, if that runs this meanwhile.
    ///
    /// If what is stuck waits for a lock, the waiting thread may hold that lock across the `join`, so that neither ever
    /// continues. Which locks a thread holds can't be seen, but [`stack`](Self::stack) shows whether it waits for one.
    ///
    /// # Examples
    ///
    /// ```
    /// let builder = windlass::Builder::new().on_long_poll(|report| {
    ///     if report.is_joined() {
    ///         println!("is a lock held across a join?");
    ///     }
    /// });
    /// # drop(builder);
    /// ```
    pub fn is_joined(&self) -> bool {
        self.joiner.is_some()
    }

    /// Writes the task's id, name and spawn site, as far as they are known.
    fn write_task(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(id) => write!(f, "task {id}")?,
            None => f.write_str("a task")?,
        }
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        match self.location {
            Some(location) => write!(f, ", spawned at {location},"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for LongPoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elapsed = self.elapsed;
        match self.kind {
            LongPollKind::Task => {
                self.write_task(f)?;
                f.write_str(" has not returned from a poll")?;
            }
            LongPollKind::Leaf => {
                self.write_task(f)?;
                f.write_str(" has not come to a split point of its computation")?;
            }
            LongPollKind::Job => {
                f.write_str("a fork-join job has not come to a split point")?;
            }
            LongPollKind::BlockOn => {
                f.write_str("block_on was called within ")?;
                match self.task {
                    Some(id) => write!(f, "task {id}")?,
                    None => f.write_str("a task")?,
                }
                if let Some(location) = self.location {
                    write!(f, " at {location}")?;
                }
                return f.write_str(", and holds up the other tasks of its thread");
            }
            LongPollKind::BlockingPool => {
                let closures = if self.waiting == 1 { "closure waits" } else { "closures wait" };
                write!(f, "the blocking pool is full, and {} {closures}", self.waiting)?;
            }
        }
        write!(f, " for {elapsed:.1?}")?;
        if let Some(worker) = self.worker {
            write!(f, ", on worker {worker}")?;
        }
        if let Some(joiner) = self.joiner {
            if self.worker == Some(joiner) {
                f.write_str(", inside of a join that waits on the same thread")?;
            } else {
                f.write_str(", while another thread waits for it in a join")?;
            }
            f.write_str(": if it waits for a lock, is that lock held across the join?")?;
        }
        if let Some(stack) = &self.stack {
            write!(f, "\n{stack}")?;
        }
        Ok(())
    }
}
