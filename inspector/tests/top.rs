//! The terminal view, as a program of its own.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::Served;
use windlass::task;

fn top(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_windlass-inspector"))
        .arg("top")
        .args(arguments)
        .env_remove("WINDLASS_INSPECTOR")
        .output()
        .unwrap()
}

#[test]
fn one_frame_is_printed_and_that_is_the_end() {
    let served = Served::new();
    let name = "night \x1b[2Jwatch";
    let task = task::Builder::new()
        .name(name)
        .spawn_on(std::future::pending::<()>(), served.runtime.handle());
    common::wait_until("it is listed", || {
        served.get("/snapshot?filter=night").json()["tasks"]["matching"] == 1
    });
    let output = top(&[
        "--once",
        "--rows",
        "5",
        "--sort",
        "age",
        "--filter",
        "night",
        &served.inspector.url(),
    ]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("windlass seen"), "{text}");
    assert!(text.contains("worker  0 ["), "{text}");
    assert!(text.contains("night  [2Jwatch"), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
    task.abort();
}

/// Arguments are there for every user of the machine to read, and the token was among them.
#[test]
fn the_url_with_its_token_need_not_be_an_argument() {
    let served = Served::new();
    let url = served.inspector.url();
    let top = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-inspector"));
        command.args(["top", "--once"]).stdout(Stdio::piped());
        command
    };
    let by_environment = top().env("WINDLASS_INSPECTOR", &url).output().unwrap();
    let mut child = top().arg("-").stdin(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{url}").unwrap();
    for output in [by_environment, child.wait_with_output().unwrap()] {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.starts_with(b"windlass seen"));
    }
}

#[test]
fn a_refusal_is_passed_on() {
    let served = Served::new();
    let url = format!("http://{}/?token=wrong", served.address());
    let output = top(&["--once", &url]);
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("403") && error.contains("the token is missing or wrong"), "{error}");
}

#[test]
fn arguments_that_make_no_sense_print_the_usage() {
    for arguments in
        [&[][..], &["--rows"], &["--rows", "x", "http://a/?token=b"], &["a", "b"], &["--what"]]
    {
        let output = top(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("usage:"));
    }
}
