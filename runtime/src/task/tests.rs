//! Tests of counters that no program brings to their limit in its lifetime.

use std::process::Command;

use super::state::State;

const CHILD: &str = "WINDLASS_TEST_CHILD";

/// Wakers that are cloned and forgotten until the count of references would wrap end the process,
/// as with `Arc`: a count that wrapped would free a task in use.
#[test]
fn too_many_references_end_the_process() {
    if std::env::var_os(CHILD).is_some() {
        let state = State::with_too_many_references();
        state.retain();
        println!("the process has survived");
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "task::tests::too_many_references_end_the_process", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("running 1 test"), "{text}");
    assert!(!output.status.success() && !text.contains("survived"), "{text}");
}
