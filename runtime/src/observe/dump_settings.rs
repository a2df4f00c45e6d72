//! The settings of automatic dumps of the flight record.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::dump::FlightDump;
use super::policy::{DUMP_AFTER, DUMP_EVERY, DUMP_FILES, SHORTEST_DUMP_AFTER};
use crate::builder::Builder;
use crate::builder_check;

/// A callback for dumps.
type Callback = Arc<dyn Fn(&FlightDump) + Send + Sync>;

/// Describes when a runtime dumps its flight record by itself, and where to. See
/// [`Builder::dump_flight_record`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::observe::FlightDumps;
///
/// let dumps = FlightDumps::to_dir(std::env::temp_dir().join("flights"))
///     .long_polls(Duration::from_millis(500))
///     .wake_latency(Duration::from_millis(50))
///     .every(Duration::from_secs(60));
/// let runtime = windlass::Builder::new().dump_flight_record(dumps).build()?;
/// # drop(runtime);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "it does nothing until it is handed to a builder"]
pub struct FlightDumps {
    pub(super) target: Target,
    pub(super) long_polls: Duration,
    pub(super) wake_latency: Duration,
    pub(super) every: Duration,
    pub(super) files: usize,
}

/// The destination of dumps.
#[derive(Clone)]
pub(super) enum Target {
    Dir(PathBuf),
    Callback(Callback),
}

impl FlightDumps {
    fn to(target: Target) -> Self {
        Self {
            target,
            long_polls: DUMP_AFTER,
            wake_latency: DUMP_AFTER,
            every: DUMP_EVERY,
            files: DUMP_FILES,
        }
    }

    /// Writes each dump to a file of its own in the directory, which is created when it is needed. The files are called
    /// `flight-START-PID-NUMBER.json`, with the start of the runtime in milliseconds since 1970. Each file, or the error if it can't be written, is reported to `tracing` or `log` with
    /// the feature of that name, or else to standard error.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::observe::FlightDumps;
    ///
    /// let dumps = FlightDumps::to_dir(std::env::temp_dir().join("flights"));
    /// let runtime = windlass::Builder::new().dump_flight_record(dumps).build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn to_dir(dir: impl Into<PathBuf>) -> Self {
        Self::to(Target::Dir(dir.into()))
    }

    /// Calls `f` with each dump, on a thread that does nothing else. It may block, but there is no other dump
    /// meanwhile. If it panics, the next dump is made nevertheless.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::observe::FlightDumps;
    ///
    /// let dumps = FlightDumps::to_callback(|dump| {
    ///     eprintln!("{}: {} bytes", dump.cause(), dump.trace().len());
    /// });
    /// let runtime = windlass::Builder::new().dump_flight_record(dumps).build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn to_callback(f: impl Fn(&FlightDump) + Send + Sync + 'static) -> Self {
        Self::to(Target::Callback(Arc::new(f)))
    }

    /// Sets the time after which a poll that has not returned causes a dump; 100 ms by default, at least 1 ms.
    /// `Duration::MAX` means never. Computations and time in [`block_in_place`](crate::task::block_in_place) do not
    /// count.
    ///
    /// This is independent of [`report_long_polls`](Builder::report_long_polls).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::observe::FlightDumps;
    ///
    /// let dumps = FlightDumps::to_dir("/tmp/flights").long_polls(Duration::from_secs(1));
    /// # drop(dumps);
    /// ```
    pub fn long_polls(mut self, after: Duration) -> Self {
        self.long_polls = after;
        self
    }

    /// Sets the time between a task's wake-up and its poll that causes a dump; 100 ms by default, at least 1 ms.
    /// `Duration::MAX` means never.
    ///
    /// Wake-ups are sampled (see [`WakeLatency`](super::WakeLatency)), so a single late one may go unnoticed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::observe::FlightDumps;
    ///
    /// let dumps = FlightDumps::to_dir("/tmp/flights").wake_latency(Duration::from_millis(20));
    /// # drop(dumps);
    /// ```
    pub fn wake_latency(mut self, above: Duration) -> Self {
        self.wake_latency = above;
        self
    }

    /// Sets the shortest time between two dumps; 10 s by default. Causes that come sooner are ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::observe::FlightDumps;
    ///
    /// let dumps = FlightDumps::to_dir("/tmp/flights").every(Duration::from_secs(3600));
    /// # drop(dumps);
    /// ```
    pub fn every(mut self, time: Duration) -> Self {
        self.every = time;
        self
    }

    /// Sets how many files are kept; 16 by default, at least 1. The oldest of this runtime's files are deleted; those
    /// of others, also of an earlier run of the same program, stay.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::observe::FlightDumps;
    ///
    /// let dumps = FlightDumps::to_dir("/tmp/flights").files(100);
    /// # drop(dumps);
    /// ```
    pub fn files(mut self, files: usize) -> Self {
        self.files = files;
        self
    }

    /// Returns `InvalidInput` with advice for settings that make no sense.
    pub(crate) fn check(&self, observe: bool) -> io::Result<()> {
        builder_check::check(
            observe,
            format_args!(
                "dump_flight_record without observation: there is no flight record with `observe(false)`"
            ),
        )?;
        for (name, time) in [("long_polls", self.long_polls), ("wake_latency", self.wake_latency)] {
            builder_check::check(
                time >= SHORTEST_DUMP_AFTER,
                format_args!(
                    "dump_flight_record with {name} of {time:?}: give at least {SHORTEST_DUMP_AFTER:?}, or `Duration::MAX` for never"
                ),
            )?;
        }
        builder_check::check(
            self.files > 0,
            format_args!("dump_flight_record with 0 files: give at least 1"),
        )
    }
}

// A panic of the callback leaves no broken invariant that could be observed through the settings.
impl std::panic::UnwindSafe for FlightDumps {}
impl std::panic::RefUnwindSafe for FlightDumps {}

impl fmt::Debug for FlightDumps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlightDumps")
            .field("long_polls", &self.long_polls)
            .field("wake_latency", &self.wake_latency)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Has the runtime dump its [flight record](crate::Handle::flight_record) by itself when a poll does not return, or
    /// when a ready task had to wait a long time to be polled.
    ///
    /// The dump shows what led to it. It is taken and written on a thread that is started for it, so no worker waits. A
    /// shutdown does not wait for it either. A [manual loop](crate::manual) dumps nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use windlass::observe::{DumpCause, FlightDumps};
    ///
    /// let (send, dumps) = mpsc::channel();
    /// let to_channel = FlightDumps::to_callback(move |dump| drop(send.send(dump.clone())));
    /// let runtime = windlass::Builder::new()
    ///     .dump_flight_record(to_channel.long_polls(Duration::from_millis(10)))
    ///     .build()?;
    /// let (release, wait) = mpsc::channel::<()>();
    /// runtime.spawn(async move { wait.recv() }); // blocks its worker
    ///
    /// let dump = dumps.recv().unwrap();
    /// assert!(matches!(dump.cause(), DumpCause::LongPoll { .. }));
    /// assert!(dump.trace().starts_with(b"{\"traceEvents\":["));
    /// drop(release);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn dump_flight_record(mut self, dumps: FlightDumps) -> Self {
        self.flight_dumps = Some(dumps);
        self
    }
}
