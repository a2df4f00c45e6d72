//! Dumps of the flight record that the runtime takes by itself.
//!
//! The monitor, on the poller's thread, notices a cause and calls
//! [`Dumper::trigger`], which starts a thread. The thread takes the record, lets go
//! of the runtime, and writes. There is one such thread at a time: a cause that comes
//! while it writes, or sooner than the settings allow, is ignored.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc as StdArc;
use std::time::{Duration, Instant, SystemTime};

use windlass_timer::in_nanos;

use super::dump_settings::{FlightDumps, Target};
use super::trace;
use crate::events;
use crate::primitives::plain::{AtomicU64, Ordering};
use crate::primitives::{Arc, Mutex};
use crate::sched::Pool;
use crate::task::quietly;

/// Numbers the files of this process.
static FILES: AtomicU64 = AtomicU64::new(0);

/// A flight record that the runtime has dumped by itself.
///
/// # Examples
///
/// ```
/// use windlass::observe::FlightDumps;
///
/// let dumps = FlightDumps::to_callback(|dump| {
///     println!("{}: {} bytes", dump.cause(), dump.trace().len());
/// });
/// # drop(dumps);
/// ```
#[derive(Clone)]
pub struct FlightDump {
    cause: DumpCause,
    trace: Vec<u8>,
}

impl FlightDump {
    /// Returns why the record was dumped.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::observe::{DumpCause, FlightDumps};
    ///
    /// let dumps = FlightDumps::to_callback(|dump| match dump.cause() {
    ///     DumpCause::LongPoll { worker, lasted } => eprintln!("worker {worker}: {lasted:?}"),
    ///     cause => eprintln!("{cause}"),
    /// });
    /// # drop(dumps);
    /// ```
    pub fn cause(&self) -> DumpCause {
        self.cause
    }

    /// Returns the record, as [`Handle::flight_record`](crate::Handle::flight_record) writes it.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::observe::FlightDumps;
    ///
    /// let dumps = FlightDumps::to_callback(|dump| {
    ///     if let Err(error) = std::fs::write("flight.json", dump.trace()) {
    ///         eprintln!("no flight record: {error}");
    ///     }
    /// });
    /// # drop(dumps);
    /// ```
    pub fn trace(&self) -> &[u8] {
        &self.trace
    }
}

impl fmt::Debug for FlightDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlightDump").field("cause", &self.cause).finish_non_exhaustive()
    }
}

/// Why a flight record was dumped.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use windlass::observe::DumpCause;
///
/// let cause = DumpCause::LongPoll { worker: 1, lasted: Duration::from_millis(120) };
/// assert_eq!(cause.to_string(), "a poll on worker 1 has not returned for 120.0ms");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DumpCause {
    /// A poll has not returned.
    LongPoll {
        /// The worker.
        worker: usize,
        /// For how long, so far.
        lasted: Duration,
    },
    /// A task was polled long after it had been woken.
    WakeLatency {
        /// The worker that polled it.
        worker: usize,
        /// The time between the two.
        waited: Duration,
    },
}

impl fmt::Display for DumpCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongPoll { worker, lasted } => {
                write!(f, "a poll on worker {worker} has not returned for {lasted:.1?}")
            }
            Self::WakeLatency { worker, waited } => {
                write!(f, "a task waited {waited:.1?} for worker {worker} after it was woken")
            }
        }
    }
}

/// Takes the dumps of one runtime.
pub(crate) struct Dumper {
    shared: Option<StdArc<Shared>>,
    thread_name: String,
}

struct Shared {
    settings: FlightDumps,
    /// When the runtime was started.
    started: SystemTime,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the last dump was begun.
    last: Option<Instant>,
    is_writing: bool,
    /// The files that are kept, the oldest first.
    files: VecDeque<PathBuf>,
}

impl Dumper {
    pub(crate) fn new(settings: Option<FlightDumps>, thread_name: &str) -> Self {
        let shared = |settings| {
            let started = SystemTime::now();
            StdArc::new(Shared { settings, started, state: Mutex::default() })
        };
        Self { shared: settings.map(shared), thread_name: format!("{thread_name}-dump") }
    }

    /// Returns the time after which a poll that has not returned causes a dump, if it does at all.
    pub(crate) fn long_polls(&self) -> Option<Duration> {
        let settings = &self.shared.as_ref()?.settings;
        Some(settings.long_polls).filter(|after| *after < Duration::MAX)
    }

    /// Returns the nanoseconds between a wake-up and the poll that cause a dump, or more than there can be if none do.
    pub(super) fn wake_latency(&self) -> u64 {
        self.shared.as_ref().map_or(u64::MAX, |shared| in_nanos(shared.settings.wake_latency))
    }

    /// Checks whether a task was polled late.
    pub(crate) fn look(&self, pool: &Arc<Pool>, now: Instant) {
        if self.shared.is_none() {
            return;
        }
        for (worker, slot) in pool.slots.iter().enumerate() {
            if let Some(waited) = slot.observed.get().and_then(|observed| observed.take_late()) {
                let waited = Duration::from_nanos(waited);
                self.trigger(pool, DumpCause::WakeLatency { worker, waited }, now);
            }
        }
    }

    /// Returns true if [`look`](Self::look) would find something.
    pub(crate) fn is_needed(&self, pool: &Pool) -> bool {
        let is_late = |observed: &super::Observed| observed.is_late();
        self.shared.is_some()
            && pool.slots.iter().any(|slot| slot.observed.get().is_some_and(is_late))
    }

    /// Dumps the record for this reason, unless that was done lately.
    #[cold]
    pub(crate) fn trigger(&self, pool: &Arc<Pool>, cause: DumpCause, now: Instant) {
        let thread = std::thread::Builder::new().name(self.thread_name.clone());
        self.begin(now, |writer| {
            let pool = pool.clone();
            thread.spawn(move || writer.dump(pool, cause)).map(drop)
        });
    }

    /// Starts a thread for a dump, unless that was done lately.
    fn begin(&self, now: Instant, start: impl FnOnce(StdArc<Shared>) -> io::Result<()>) {
        let Some(shared) = &self.shared else { return };
        let before = {
            let mut state = shared.state.lock();
            let every = shared.settings.every;
            let is_soon = |last| now.saturating_duration_since(last) < every;
            if state.is_writing || state.last.is_some_and(is_soon) {
                return;
            }
            state.is_writing = true;
            state.last.replace(now)
        };
        if start(shared.clone()).is_err() {
            // The next cause tries again.
            let mut state = shared.state.lock();
            state.last = before;
            state.is_writing = false;
        }
    }
}

impl Shared {
    /// Takes the record and writes it, on the thread for that.
    fn dump(&self, pool: Arc<Pool>, cause: DumpCause) {
        quietly(|| {
            let mut trace = Vec::new();
            // Writing to memory does not fail.
            let _ = trace::write(&pool, &mut trace);
            // The receiver of the dump may block forever, and the runtime must not wait for it to be freed.
            drop(pool);
            let dump = FlightDump { cause, trace };
            match &self.settings.target {
                Target::Dir(dir) => events::flight_dump(cause, &self.write(dir, &dump.trace)),
                Target::Callback(callback) => callback(&dump),
            }
        });
        self.state.lock().is_writing = false;
    }

    /// Writes a file, and deletes the oldest if there are too many.
    fn write(&self, dir: &Path, trace: &[u8]) -> io::Result<PathBuf> {
        fs::create_dir_all(dir)?;
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(file_name(self.started, number));
        write_whole(&path, trace)?;
        let mut state = self.state.lock();
        state.files.push_back(path.clone());
        let most = self.settings.files;
        let too_many = state.files.len().saturating_sub(most);
        let old: Vec<_> = state.files.drain(..too_many).collect();
        drop(state);
        old.iter().for_each(|old| drop(fs::remove_file(old)));
        Ok(path)
    }
}

/// Returns the name of a file. The start tells it from the files of processes that had the same number, as the first of
/// each container has.
fn file_name(started: SystemTime, number: u64) -> String {
    let start = started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("flight-{start}-{}-{number}.json", std::process::id())
}

/// Writes a file. A program that watches the directory sees only whole ones.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("json.part");
    // What is there is somebody else's.
    let mut file = File::create_new(&part)?;
    let written = file.write_all(bytes);
    drop(file);
    let written = written.and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A thread that was refused counted as a dump, and the next cause was passed over as too soon.
    #[test]
    fn the_next_cause_tries_again_if_a_thread_was_refused() {
        let settings = FlightDumps::to_callback(|_| {}).every(Duration::MAX);
        let dumper = Dumper::new(Some(settings), "test");
        let (now, tried) = (Instant::now(), Cell::new(0));
        let begin = |result: io::Result<()>| {
            dumper.begin(now, |_| {
                tried.set(tried.get() + 1);
                result
            });
        };
        begin(Err(io::ErrorKind::OutOfMemory.into()));
        begin(Ok(()));
        assert_eq!(tried.get(), 2);
        dumper.shared.as_ref().unwrap().state.lock().is_writing = false;
        begin(Ok(()));
        assert_eq!(tried.get(), 2, "that would be too soon");
    }

    /// In a container each program has the same number after a restart, and wrote over the files of the last one.
    #[test]
    fn a_restart_with_the_same_process_id_names_other_files() {
        let started = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        let later = started + Duration::from_millis(1);
        assert_ne!(file_name(started, 0), file_name(later, 0));
    }

    #[test]
    fn a_file_that_somebody_else_writes_is_left_alone() {
        let name = format!("windlass-dump-{}.json", std::process::id());
        let path = std::env::temp_dir().join(name);
        let part = path.with_extension("json.part");
        fs::write(&part, "theirs").unwrap();
        let refused = write_whole(&path, b"ours").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&part).unwrap(), b"theirs");
        fs::remove_file(&part).unwrap();
        write_whole(&path, b"ours").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        assert!(!part.exists());
        fs::remove_file(&path).unwrap();
    }
}
