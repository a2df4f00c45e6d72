//! Records of `log` for what goes wrong, as a logger sees them.
#![cfg(feature = "log")]

mod util;

use std::sync::Mutex;
use std::time::Duration;

use util::{Gate, OpenOnDrop, runtime, wait_for, wait_until};
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

#[test]
fn panics_long_polls_stragglers_and_dumps_are_logged() {
    log::set_logger(&Keep).unwrap();
    log::set_max_level(log::LevelFilter::Trace);

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
