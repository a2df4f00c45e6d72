//! Children when descriptors run out. Alone in its process, since that is for all of it.
#![cfg(unix)]

mod common;

use std::fs::File;
use std::process::Stdio;

use common::os::limit_descriptors;
use common::run;
use windlass_os::process::Command;

#[test]
fn descriptors_run_out_at_a_spawn_and_come_back() {
    run(|| async {
        // The runtime has all that it needs for itself.
        assert!(Command::new("true").status().await.unwrap().success());
        let before = limit_descriptors(64);
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        // Nothing free, and then a few, which are too few somewhere on the way.
        let mut refused = 0;
        let mut cat = Command::new("cat");
        cat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        loop {
            match cat.spawn() {
                Err(_) => refused += 1,
                Ok(mut child) => {
                    // Whether there is a descriptor left to wait with or not.
                    match child.wait().await {
                        Ok(status) => assert!(status.success()),
                        Err(_) => {
                            files.pop();
                            continue;
                        }
                    }
                    break;
                }
            }
            files.pop();
        }
        assert!(refused > 0);
        drop(files);
        limit_descriptors(before);
        assert_eq!(Command::new("echo").arg("x").output().await.unwrap().stdout, b"x\n");
    });
}
