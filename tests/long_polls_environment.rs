//! What `WINDLASS_LONG_POLLS` sets, each time in a process of its own; and settings that are refused.

mod util;

use std::time::{Duration, Instant};

use util::{Gate, OpenOnDrop, is_child, run_in_child, wait_for, wait_until};
use windlass::Builder;

/// Runs the test `name` of this file again, in a process with another setting. Returns whether it passed, and what it
/// wrote to standard error.
fn run_again(name: &str, setting: &str) -> (bool, String) {
    let output = run_in_child(name, &[("WINDLASS_LONG_POLLS", setting)]);
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let error = Builder::new().report_long_polls(Duration::from_micros(10)).build().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("report_long_polls"), "{error}");
}

/// Run by the others here, with settings in the environment.
#[test]
fn child_with_stuck_polls_of_one_site() {
    if !is_child() {
        return;
    }
    let runtime = match Builder::new().workers(4).build() {
        Ok(runtime) => runtime,
        Err(error) => return eprintln!("refused: {error}"),
    };
    let gate = OpenOnDrop(Gate::new());
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let gate = gate.0.clone();
            runtime.spawn(async move { gate.wait() })
        })
        .collect();
    if std::env::var("WINDLASS_LONG_POLLS").unwrap() != "off" {
        // All that a report needs is done, and it is written next, before the thread takes on another.
        wait_until("all are reported", || runtime.handle().long_polls().len() >= 4);
        let name = runtime.handle().clone();
        let inner = gate.0.clone();
        let last = runtime.spawn(async move { inner.wait() }); // on a spare, from another site
        wait_until("the last one", || {
            name.long_polls().iter().any(|report| report.task() == Some(last.id()))
        });
    }
    gate.0.open();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
}

#[test]
fn the_environment_sets_the_time_and_what_is_written_is_limited() {
    let name = "child_with_stuck_polls_of_one_site";
    let start = Instant::now();
    let (passed, text) = run_again(name, "30ms");
    assert!(passed, "{text}");
    // With one of the features, there is nobody to listen.
    if cfg!(not(any(feature = "tracing", feature = "log"))) {
        let lines = text.lines().filter(|line| line.starts_with("windlass: task ")).count();
        // Two sites, each once a second.
        let most = if start.elapsed() < Duration::from_secs(1) { 2 } else { 5 };
        assert!((1..=most).contains(&lines), "{text}");
    }
    let (passed, text) = run_again(name, "off");
    assert!(passed && !text.contains("windlass: task "), "{text}");
}

#[test]
fn bad_settings_in_the_environment_are_refused_with_advice() {
    for setting in ["50", "soon", "0ms", ""] {
        let (passed, text) = run_again("child_with_stuck_polls_of_one_site", setting);
        assert!(
            passed && text.contains("refused: the environment variable WINDLASS_LONG_POLLS"),
            "{text}"
        );
    }
}
