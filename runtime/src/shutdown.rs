//! Shutting a runtime down, and the report on it.

use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use crate::blocking;
use crate::companion::{self, ThreadKind};
use crate::entered::EnteredScope;
use crate::events;
use crate::handle::Handle;
use crate::local::pinned;
use crate::poller;
use crate::primitives::{Arc, Condvar, Mutex};
use crate::sched::policy::{BEGINS_WITHIN, DROP_DEADLINE};
use crate::sched::{self, Pool};
use crate::task::Origin;

/// Refuses new tasks and cancels all others. Calls no code of the program, which may take any time.
pub(crate) fn begin(pool: &Arc<Pool>) {
    pool.threads.begin_end();
    pool.reports.close();
    pool.close();
    let unstarted = pool.blocking.close();
    pinned::close(pool);
    let has_wakers = pool.poller().close();
    pool.poller().kick();
    // The wakers do not wait for what closures drop, nor the other way round.
    if has_wakers {
        aside(pool, |pool| poller::call_wakers(pool));
    }
    if !unstarted.is_empty() {
        aside(pool, |pool| blocking::cancel(pool, unstarted));
    }
}

/// Calls code of the program on a thread of the runtime's, which is waited for as all others are. If no thread can be
/// started, or it does not begin, it is called here: Windows lets no thread begin while another runs its destructors, and
/// one of these may wait for just this call.
fn aside(pool: &Arc<Pool>, call: impl FnOnce(&Arc<Pool>) + Send + 'static) {
    // A manual loop ends where it is dropped, and in models no waker blocks.
    if pool.poller().is_manual() || cfg!(loom) {
        return call(pool);
    }
    // Behind a lock: whichever thread takes the call out makes it.
    let call = Arc::new((Mutex::new(Some(call)), Condvar::new()));
    let calls = call.clone();
    let name = format!("{}-end", pool.config.thread_name);
    let started = sched::start_thread(pool, name, move |pool| {
        companion::surround(pool, ThreadKind::Blocking, || {
            let _entered = EnteredScope::enter(Handle::new(pool.clone()));
            let (call, begun) = &*calls;
            let call = call.lock().take();
            begun.notify_one();
            call.into_iter().for_each(|call| call(pool));
        });
    });
    let (call, begun) = &*call;
    let mut call = call.lock();
    let deadline = Instant::now() + BEGINS_WITHIN;
    while started.is_ok() && call.is_some() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        call = begun.wait_timeout(call, left).0;
    }
    let left = call.take();
    drop(call);
    left.into_iter().for_each(|call| call(pool));
}

/// Waits for the threads to end, and names the tasks and closures that did not end in time.
pub(crate) fn finish(pool: &Arc<Pool>, start: Instant, timeout: Duration) -> ShutdownReport {
    finish_with_grace(pool, start, timeout, None).tell()
}

/// Does the work of [`finish`] for a runtime that nobody waits for. That something still runs then is no fault.
pub(crate) fn finish_in_background(pool: &Arc<Pool>, start: Instant) -> ShutdownReport {
    finish_with_grace(pool, start, Duration::ZERO, None)
}

/// Does the work of [`finish`] for a runtime that is dropped, which may happen on any thread.
pub(crate) fn finish_dropped(pool: &Arc<Pool>, start: Instant) -> ShutdownReport {
    finish_with_grace(pool, start, DROP_DEADLINE, poller::DROP_GRACE).tell()
}

fn finish_with_grace(
    pool: &Arc<Pool>,
    start: Instant,
    timeout: Duration,
    grace: Option<Duration>,
) -> ShutdownReport {
    let deadline = start.checked_add(timeout);
    let joined = pool.threads.join_all(deadline, grace);
    // Last, because tasks that still run may rely on it.
    let alone = companion::end(pool, deadline);
    let complete = joined && alone && pool.poller().end(deadline);
    let mut stragglers = Vec::new();
    if !joined {
        stragglers.extend(pool.running().into_iter().map(Straggler::task));
        stragglers.extend(pinned::running(pool).into_iter().map(Straggler::task));
        stragglers.extend(pool.blocking.running().into_iter().map(Straggler::blocking));
    }
    pinned::forget(pool);
    ShutdownReport { elapsed: start.elapsed(), complete, stragglers }
}

/// Reports how a runtime ended. See [`Runtime::shutdown`](crate::Runtime::shutdown).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// let runtime = windlass::Runtime::new()?;
/// let (sender, receiver) = std::sync::mpsc::channel::<()>();
/// let (started, has_started) = std::sync::mpsc::channel();
/// runtime.spawn_blocking(move || {
///     started.send(()).unwrap();
///     receiver.recv()
/// });
/// has_started.recv().unwrap();
///
/// let report = runtime.shutdown(Duration::from_millis(1));
/// assert!(!report.is_clean());
/// let straggler = &report.stragglers()[0];
/// assert!(straggler.is_blocking() && straggler.name().is_none());
/// println!("{report}, spawned at line {}", straggler.location().line());
/// drop(sender); // lets the closure end
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a report may name work that did not end in time"]
pub struct ShutdownReport {
    elapsed: Duration,
    complete: bool,
    stragglers: Vec<Straggler>,
}

impl ShutdownReport {
    /// Returns the report of a shutdown that did not wait.
    pub(crate) fn unfinished(elapsed: Duration) -> Self {
        Self { elapsed, complete: false, stragglers: Vec::new() }
    }

    /// Tells `tracing` and `log` of what was not waited for.
    fn tell(self) -> Self {
        self.stragglers.iter().for_each(events::straggler);
        self
    }

    /// Returns true if everything ended before the deadline.
    ///
    /// It is never true for a runtime that was shut down by one of its own threads, which can't wait for itself. On
    /// Windows, it is also false if the OS's thread pool is in a waker that does not return.
    ///
    /// # Examples
    ///
    /// ```
    /// let report = windlass::Runtime::new()?.shutdown(std::time::Duration::from_secs(30));
    /// assert!(report.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn is_clean(&self) -> bool {
        self.complete
    }

    /// Returns the tasks and closures that were still running at the deadline, and that continue to run.
    ///
    /// # Examples
    ///
    /// ```
    /// let report = windlass::Runtime::new()?.shutdown(std::time::Duration::from_secs(30));
    /// for straggler in report.stragglers() {
    ///     eprintln!("{straggler} is still running");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn stragglers(&self) -> &[Straggler] {
        &self.stragglers
    }

    /// Returns the time that the shutdown took.
    ///
    /// # Examples
    ///
    /// ```
    /// let report = windlass::Runtime::new()?.shutdown(std::time::Duration::from_secs(30));
    /// println!("it took {:?}", report.elapsed());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return write!(f, "everything ended within {:?}", self.elapsed);
        }
        write!(f, "not everything ended within {:?}", self.elapsed)?;
        for (index, straggler) in self.stragglers.iter().enumerate() {
            let before = if index == 0 { "; still running: " } else { ", " };
            write!(f, "{before}{straggler}")?;
        }
        Ok(())
    }
}

/// A task or a blocking closure that did not end before the deadline.
#[derive(Debug, Clone)]
pub struct Straggler {
    name: Option<String>,
    location: &'static Location<'static>,
    is_blocking: bool,
}

impl Straggler {
    pub(crate) fn task(Origin { name, location }: Origin) -> Self {
        Self { name, location, is_blocking: false }
    }

    pub(crate) fn blocking(Origin { name, location }: Origin) -> Self {
        Self { name, location, is_blocking: true }
    }

    /// Returns a straggler that a companion has waited for, rather than the runtime.
    #[doc(hidden)]
    pub fn named(name: String, location: &'static Location<'static>) -> Self {
        Self { name: Some(name), location, is_blocking: false }
    }

    /// Returns the name given with [`task::Builder`](crate::task::Builder), if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// let report = windlass::Runtime::new()?.shutdown(std::time::Duration::from_secs(30));
    /// let names: Vec<&str> = report.stragglers().iter().filter_map(|it| it.name()).collect();
    /// assert!(names.is_empty());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns where the task or closure was spawned.
    ///
    /// # Examples
    ///
    /// ```
    /// let report = windlass::Runtime::new()?.shutdown(std::time::Duration::from_secs(30));
    /// for straggler in report.stragglers() {
    ///     eprintln!("look at {}", straggler.location());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Returns true for a closure of `spawn_blocking`, and false for a task.
    ///
    /// # Examples
    ///
    /// ```
    /// let report = windlass::Runtime::new()?.shutdown(std::time::Duration::from_secs(30));
    /// let blocking = report.stragglers().iter().filter(|it| it.is_blocking()).count();
    /// assert_eq!(blocking, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn is_blocking(&self) -> bool {
        self.is_blocking
    }
}

impl fmt::Display for Straggler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_blocking { "blocking closure" } else { "task" };
        match self.name() {
            Some(name) => write!(f, "{kind} \"{name}\" spawned at {}", self.location),
            None => write!(f, "{kind} spawned at {}", self.location),
        }
    }
}
