//! What several test files use: patience, and tests that run in a process of their own.

// Each file uses a part of it.
#![allow(dead_code, unreachable_pub)]

use std::process::{Command, Output};
use std::time::Duration;

pub const PATIENCE: Duration = Duration::from_secs(120);

/// Names the test that a child process runs.
const CHILD: &str = "RAYON_CORE_TEST_CHILD";

pub fn is_child(test: &str) -> bool {
    std::env::var(CHILD).is_ok_and(|name| name == test)
}

/// Runs one test of this program in a process of its own.
pub fn child(test: &str, environment: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, test);
    command.env_remove("RAYON_NUM_THREADS").env_remove("WINDLASS_WORKERS");
    command.envs(environment.iter().copied()).output().expect("a child starts")
}

pub fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
