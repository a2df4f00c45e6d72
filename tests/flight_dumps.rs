//! The runtime dumps its flight record by itself when a poll is stuck or a ready task has waited for long.

mod util;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use util::{Gate, OpenOnDrop, PATIENCE, wait_for, wait_until};
use windlass::observe::{DumpCause, FlightDump, FlightDumps, TaskState};
use windlass::sync::AutoResetEvent;
use windlass::{Builder, Runtime};

const NEVER: Duration = Duration::MAX;
const SOON: Duration = Duration::from_millis(20);

fn to_channel() -> (FlightDumps, Receiver<FlightDump>) {
    let (send, dumps) = mpsc::channel();
    (FlightDumps::to_callback(move |dump| drop(send.send(dump.clone()))), dumps)
}

fn one_worker(dumps: FlightDumps) -> Runtime {
    Builder::new().workers(1).max_spares(0).dump_flight_record(dumps).build().unwrap()
}

/// An empty directory, which goes with the test.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("windlass-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        Self(dir)
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let is_whole = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
        entries.map(|entry| entry.unwrap().path()).filter(is_whole).collect()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_stuck_poll_dumps_the_record_into_a_file_while_it_lasts() {
    let dir = Dir::new("stuck-dump");
    let runtime = one_worker(FlightDumps::to_dir(dir.0.join("new")).long_polls(SOON));
    let gate = OpenOnDrop(Gate::new());
    let closed = gate.0.clone();
    let stuck = runtime.spawn(async move { closed.wait() });
    let dir = Dir(dir.0.join("new"));
    wait_until("a file is there", || !dir.files().is_empty());
    assert!(!stuck.is_finished());
    let [file] = &dir.files()[..] else { panic!("{:?}", dir.files()) };
    let trace = fs::read_to_string(file).unwrap();
    assert!(trace.starts_with("{\"traceEvents\":[") && trace.contains("in a poll"), "{trace}");
    gate.0.open();
    wait_for(stuck).unwrap();
}

#[test]
fn a_task_that_is_polled_late_dumps_the_record() {
    let (dumps, received) = to_channel();
    let runtime = one_worker(dumps.long_polls(NEVER).wake_latency(SOON));
    let event = Arc::new(AutoResetEvent::new(false));
    let waits = event.clone();
    let late = runtime.spawn(async move { waits.wait().await });
    wait_until("it waits", || {
        runtime.handle().tasks().iter().any(|info| info.state == TaskState::Idle)
    });
    let gate = OpenOnDrop(Gate::new());
    let (inside, closed) = (Gate::new(), gate.0.clone());
    let tell = inside.clone();
    let stuck = runtime.spawn(async move {
        tell.open();
        closed.wait();
    });
    inside.wait();
    // The first wake-up of a thread is a sample.
    let woken = std::thread::spawn(move || {
        event.set();
        Instant::now()
    });
    let woken = woken.join().unwrap();
    wait_until("it has waited for long", || woken.elapsed() > SOON);
    assert!(received.try_recv().is_err(), "a stuck poll is no cause here");
    gate.0.open();
    wait_for(late).unwrap();
    wait_for(stuck).unwrap();
    let dump = received.recv_timeout(PATIENCE).unwrap();
    let DumpCause::WakeLatency { worker: 0, waited } = dump.cause() else { panic!("{dump:?}") };
    assert!(waited >= SOON, "{waited:?}");
    assert!(dump.trace().ends_with(b"}\n"));
}

/// Has the only worker stuck for long enough to be reported, this often.
fn get_stuck(runtime: &Runtime, reports: &Receiver<()>, times: usize) {
    for _ in 0..times {
        let gate = OpenOnDrop(Gate::new());
        let closed = gate.0.clone();
        let stuck = runtime.spawn(async move { closed.wait() });
        reports.recv_timeout(PATIENCE).unwrap();
        gate.0.open();
        wait_for(stuck).unwrap();
    }
}

/// A runtime that reports long polls too: what is reported was a cause for a dump at the same look, or an earlier one.
fn reporting(dumps: FlightDumps) -> (Runtime, Receiver<()>) {
    let (send, reports) = mpsc::channel();
    let builder = Builder::new().workers(1).max_spares(0).report_long_polls(SOON);
    let builder = builder.on_long_poll(move |_| {
        let _ = send.send(());
    });
    (builder.dump_flight_record(dumps.long_polls(SOON)).build().unwrap(), reports)
}

#[test]
fn dumps_are_not_closer_together_than_was_asked_for() {
    let (dumps, received) = to_channel();
    let (runtime, reports) = reporting(dumps.every(Duration::from_secs(3600)));
    get_stuck(&runtime, &reports, 3);
    received.recv_timeout(PATIENCE).unwrap();
    drop(runtime);
    assert!(received.recv_timeout(PATIENCE).is_err(), "and there is no other");
}

#[test]
fn a_callback_that_panics_is_called_again_and_one_that_blocks_holds_up_nobody() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (counted, gate) = (calls.clone(), OpenOnDrop(Gate::new()));
    let closed = gate.0.clone();
    let dumps = FlightDumps::to_callback(move |_| match counted.fetch_add(1, SeqCst) {
        0 => std::panic::panic_any("a test's own panic"),
        _ => closed.wait(),
    });
    let (runtime, reports) = reporting(dumps.every(Duration::ZERO));
    wait_until("it was called again", || {
        get_stuck(&runtime, &reports, 1);
        calls.load(SeqCst) == 2
    });
    get_stuck(&runtime, &reports, 2);
    assert_eq!(calls.load(SeqCst), 2, "there is one at a time");
    assert!(runtime.shutdown(PATIENCE).stragglers().is_empty());
}

#[test]
fn no_more_files_are_kept_than_was_asked_for() {
    let dir = Dir::new("kept-dumps");
    let dumps = FlightDumps::to_dir(&dir.0).every(Duration::ZERO).files(2);
    let (runtime, reports) = reporting(dumps);
    let mut seen = std::collections::BTreeSet::new();
    wait_until("there were five", || {
        get_stuck(&runtime, &reports, 1);
        seen.extend(dir.files());
        seen.len() >= 5
    });
    wait_until("two are left", || dir.files().len() == 2);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let error = |dumps, observe| {
        let builder = Builder::new().observe(observe).dump_flight_record(dumps);
        builder.build().unwrap_err().to_string()
    };
    let dumps = || FlightDumps::to_dir("nowhere");
    assert!(error(dumps(), false).contains("observe(false)"));
    assert!(error(dumps().long_polls(Duration::ZERO), true).contains("long_polls of 0ns"));
    assert!(error(dumps().wake_latency(Duration::ZERO), true).contains("wake_latency of 0ns"));
    assert!(error(dumps().files(0), true).contains("0 files"));
}
