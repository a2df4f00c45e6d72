//! `Builder`: bad values are errors that say what to do, extreme ones work, names reach the
//! threads, and a runtime that can't start leaves nothing behind.

mod util;

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use util::{PATIENCE, is_child, passes_in_child, run_in_child, wait_for};
use windlass::Builder;

#[track_caller]
fn refused(builder: Builder, advice: &str) {
    let error = builder.build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let message = error.to_string();
    assert!(message.contains(advice), "{message:?} does not say {advice:?}");
}

#[test]
fn values_that_make_no_sense_are_refused_with_advice() {
    refused(Builder::new().workers(0), "between 1 and 1024");
    refused(Builder::new().workers(1025), "leave `workers` out");
    refused(Builder::new().workers(usize::MAX), "between 1 and 1024");
    refused(Builder::new().stack_size(0), "leave `stack_size` out");
    refused(Builder::new().stack_size(1), "between 64 KiB and 1 TiB");
    refused(Builder::new().stack_size(usize::MAX), "leave `stack_size` out");
    refused(Builder::new().max_blocking(0), "at least 1");
    refused(Builder::new().stuck_after(Duration::ZERO), "max_spares(0)");
    refused(Builder::new().max_spares(usize::MAX), "at most");
    refused(Builder::new().thread_name("a\0b"), "NUL");
}

#[test]
fn extreme_values_that_make_sense_work() {
    let extremes = [
        Builder::new().workers(1).stuck_after(Duration::MAX),
        Builder::new().workers(1).stuck_after(Duration::from_micros(100)),
        Builder::new().workers(1).blocking_keep_alive(Duration::ZERO),
        Builder::new().workers(1).blocking_keep_alive(Duration::MAX),
        Builder::new().workers(1).max_blocking(usize::MAX),
        Builder::new().workers(1).max_spares(1_000),
        Builder::new().workers(1).max_spares(0),
        Builder::new().workers(1).thread_name(""),
        Builder::new().workers(1).thread_name("größer als fünfzehn Zeichen"),
        Builder::new().workers(64),
    ];
    for builder in extremes {
        let what = format!("{builder:?}");
        let runtime = builder.build().unwrap();
        let task = runtime.spawn(async { windlass::spawn_blocking(|| 3).await.unwrap() });
        assert_eq!(wait_for(task).unwrap(), 3, "{what}");
        assert!(runtime.shutdown(PATIENCE).is_clean(), "{what}");
    }
}

/// In a process of its own, for a stack that is too small after all kills the process.
#[test]
fn the_smallest_stack_is_enough_for_small_tasks() {
    if !is_child() {
        return passes_in_child("the_smallest_stack_is_enough_for_small_tasks", &[]);
    }
    let runtime = Builder::new().workers(2).stack_size(64 << 10).build().unwrap();
    for _ in 0..100 {
        let task = runtime.spawn(async { windlass::spawn_blocking(|| 3).await.unwrap() });
        assert_eq!(wait_for(task).unwrap(), 3);
    }
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

/// The OS may or may not have that much address space; either way nothing crashes.
#[test]
fn the_largest_stack_is_an_error_of_the_os_or_works() {
    match Builder::new().workers(2).stack_size(1 << 40).build() {
        Ok(runtime) => assert_eq!(wait_for(runtime.spawn(async { 1 })).unwrap(), 1),
        Err(error) => assert_ne!(error.kind(), ErrorKind::InvalidInput),
    }
}

#[test]
fn the_threads_have_their_names() {
    let runtime = Builder::new()
        .workers(2)
        .thread_name("web")
        .stuck_after(Duration::from_millis(1))
        .build()
        .unwrap();
    let name = || thread::current().name().unwrap().to_owned();
    assert_eq!(runtime.handle().broadcast(|_| name()), ["web-0", "web-1"]);
    let blocking = wait_for(runtime.spawn_blocking(name)).unwrap();
    assert_eq!(blocking, "web-blocking-0");

    // Of three tasks that block at the same time, at least one does so on a spare.
    let (gate, names) = (util::Gate::new(), std::sync::mpsc::channel());
    let _release = util::OpenOnDrop(gate.clone());
    let stuck = [(); 3].map(|()| {
        let (gate, names) = (gate.clone(), names.0.clone());
        runtime.spawn(async move {
            names.send(name()).unwrap();
            gate.wait();
        })
    });
    let names = [(); 3].map(|()| names.1.recv_timeout(PATIENCE).unwrap());
    assert!(names.iter().any(|name| name.starts_with("web-spare-")), "{names:?}");
    gate.open();
    stuck.into_iter().for_each(|task| wait_for(task).unwrap());
}

#[cfg(target_os = "linux")]
fn threads_of_this_process() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// The parent limits the address space, so that some of the threads fit and the rest does not.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_cannot_be_started_is_an_error_and_the_others_end_again() {
    const NAME: &str = "a_thread_that_cannot_be_started_is_an_error_and_the_others_end_again";
    const LIMITED: &str = "the address space is limited";
    if !is_child() {
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 4000000 && exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
            .env("WINDLASS_TEST_CHILD", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        // Where programs can't start at all under the limit (a sanitizer's), nothing is shown.
        assert!(output.status.success() || !text.contains(LIMITED), "{text}{output:?}");
        return;
    }
    println!("{LIMITED}");
    let before = threads_of_this_process();
    let build = |workers| Builder::new().workers(workers).stack_size(256 << 20).build();
    let small = build(2).unwrap();
    assert!(threads_of_this_process() >= before + 3);
    drop(small);
    for _ in 0..3 {
        let error = build(100).unwrap_err();
        assert_ne!(error.kind(), ErrorKind::InvalidInput);
        util::wait_until("the threads end", || threads_of_this_process() == before);
    }
    // Blocking closures beyond what threads there are wait for those, or are cancelled.
    let runtime = build(2).unwrap();
    let closures: Vec<_> = (0..100).map(|_| runtime.spawn_blocking(|| 1)).collect();
    for closure in closures {
        match wait_for(closure) {
            Ok(output) => assert_eq!(output, 1),
            Err(error) => assert!(error.is_cancelled()),
        }
    }
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn the_environment_says_how_many_workers_there_are() {
    const NAME: &str = "the_environment_says_how_many_workers_there_are";
    if is_child() {
        return match windlass::Runtime::new() {
            Ok(runtime) => println!("[{} workers]", runtime.metrics().workers.len()),
            Err(error) => println!("[{error}]"),
        };
    }
    let says = |value: &str, expected: &str| {
        let output = run_in_child(NAME, &[("WINDLASS_WORKERS", value)]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(expected), "{value:?} gave {text}");
    };
    says("3", "[3 workers]");
    says(" 5 ", "[5 workers]");
    says("0", "0 workers: a runtime needs between 1 and 1024");
    says("many", "WINDLASS_WORKERS is \"many\", which is not a number");
    says("-1", "not a number");
}

#[test]
fn what_the_program_says_goes_before_the_environment() {
    const NAME: &str = "what_the_program_says_goes_before_the_environment";
    if !is_child() {
        return passes_in_child(NAME, &[("WINDLASS_WORKERS", "7")]);
    }
    let runtime = Builder::new().workers(2).build().unwrap();
    assert_eq!(runtime.metrics().workers.len(), 2);
}
