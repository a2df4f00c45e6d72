//! Children where the kernel, or a sandbox, has no pidfd to give: by SIGCHLD.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../net/tests/common/seccomp.rs"]
mod seccomp;

use common::os::is_known;
use common::{runtime, wait_until, within_deadline};
use windlass_os::process::Command;

#[test]
fn children_are_waited_for_by_signals() {
    for error in [libc::ENOSYS, libc::EPERM] {
        within_deadline(move || {
            // For this thread, and those of the runtime.
            seccomp::refuse(&[libc::SYS_pidfd_open], error);
            runtime().block_on(async {
                let tasks: Vec<_> = (0..50)
                    .map(|i| {
                        windlass_runtime::spawn(async move {
                            let mut command = Command::new("sh");
                            let status = command.args(["-c", &format!("exit {i}")]).status().await;
                            assert_eq!(status.unwrap().code(), Some(i));
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
                let child = Command::new("sleep").arg("100000").kill_on_drop(true).spawn().unwrap();
                let id = child.id().unwrap();
                drop(child);
                wait_until("the OS has forgotten the child", || !is_known(id));
            });
        });
    }
}
