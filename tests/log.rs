//! Records of `log` for what goes wrong, as a logger sees them.
#![cfg(feature = "log")]

mod util;

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use util::{Gate, OpenOnDrop, runtime, wait_for, wait_until};
use windlass::serve::{Drain, Listener};
use windlass::{Builder, task};

static RECORDS: Mutex<Vec<(log::Level, String, String)>> = Mutex::new(Vec::new());

struct Keep;

impl log::Log for Keep {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let kept = (record.level(), record.target().to_owned(), record.args().to_string());
        RECORDS.lock().unwrap().push(kept);
    }

    fn flush(&self) {}
}

#[track_caller]
fn wait_for_record(level: log::Level, target: &str, text: &str) {
    wait_until("it is logged", || {
        let records = RECORDS.lock().unwrap();
        records.iter().any(|(its_level, its_target, its_text)| {
            *its_level == level && its_target == target && its_text.contains(text)
        })
    });
}

fn keep_records() {
    // Fails if another test has set it.
    let _ = log::set_logger(&Keep);
    log::set_max_level(log::LevelFilter::Trace);
}

#[test]
fn panics_long_polls_stragglers_and_dumps_are_logged() {
    keep_records();

    let first = runtime(1);
    let panics = first.spawn(async { panic!("out of\npaper") });
    assert!(wait_for(panics).unwrap_err().is_panic());
    wait_for_record(log::Level::Error, "windlass::task", r#""out of\npaper""#);

    let soon = Duration::from_millis(20);
    let dir = std::env::temp_dir().join(format!("windlass-log-{}", std::process::id()));
    let dumps = windlass::observe::FlightDumps::to_dir(&dir).long_polls(soon);
    let builder = Builder::new().workers(1).report_long_polls(soon).dump_flight_record(dumps);
    let runtime = builder.build().unwrap();
    let gate = OpenOnDrop(Gate::new());
    let closed = gate.0.clone();
    let stuck = task::Builder::new().name("the stuck one");
    drop(stuck.spawn_on(async move { closed.wait() }, runtime.handle()));
    wait_for_record(log::Level::Warn, "windlass::long_poll", "the stuck one");
    wait_for_record(log::Level::Warn, "windlass::flight_record", "has not returned");
    assert_eq!(runtime.shutdown(soon).stragglers().len(), 1);
    wait_for_record(log::Level::Warn, "windlass::shutdown", "the stuck one");
    gate.0.open();
    let _ = std::fs::remove_dir_all(dir);
}

/// It warned of what it was not asked to wait for.
#[test]
fn a_shutdown_in_the_background_tells_of_no_stragglers() {
    keep_records();
    let (first, second) = (runtime(1), runtime(1));
    let gate = OpenOnDrop(Gate::new());
    for (runtime, name) in [(&first, "left behind"), (&second, "waited for in vain")] {
        let (closed, begun) = (gate.0.clone(), Gate::new());
        let begins = begun.clone();
        let healthy = task::Builder::new().name(name);
        let body = async move {
            begins.open();
            closed.wait();
        };
        drop(healthy.spawn_on(body, runtime.handle()));
        begun.wait();
    }
    first.shutdown_background();
    assert_eq!(second.shutdown(Duration::ZERO).stragglers().len(), 1);
    wait_for_record(log::Level::Warn, "windlass::shutdown", "waited for in vain");
    let texts: Vec<_> = RECORDS.lock().unwrap().iter().map(|record| record.2.clone()).collect();
    assert!(!texts.iter().any(|text| text.contains("left behind")));
}

#[test]
fn errors_of_accept_are_logged() {
    /// A listener without a descriptor for a connection.
    struct Exhausted;

    impl Listener for Exhausted {
        type Stream = ();
        type Addr = ();

        async fn accept(&self) -> io::Result<((), ())> {
            self.try_accept()
        }

        fn try_accept(&self) -> io::Result<((), ())> {
            Err(io::Error::from_raw_os_error(24))
        }

        fn refuse_new(&self) -> io::Result<bool> {
            Ok(true)
        }

        fn local_addr(&self) -> io::Result<()> {
            Ok(())
        }
    }

    keep_records();
    let runtime = runtime(1);
    let drain = Drain::new();
    let serving = runtime.spawn(drain.serve(Exhausted, |(), (), _| async {}));
    wait_for_record(log::Level::Warn, "windlass::serve", file!());
    wait_for_record(log::Level::Warn, "windlass::serve", "could not accept a connection");
    serving.abort();
    assert!(wait_for(serving).unwrap_err().is_cancelled());
}
