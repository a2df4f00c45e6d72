//! Files where the kernel, or a sandbox, can't tell what is in memory: the blocking pool reads everything.
#![cfg(target_os = "linux")]

mod common;
#[path = "../../net/tests/common/seccomp.rs"]
mod seccomp;

use common::{TempDir, runtime, within_deadline};
use windlass_os::fs::{self, File};
use windlass_runtime::Handle;

#[test]
fn what_is_in_memory_is_read_by_the_blocking_pool() {
    for error in [libc::ENOSYS, libc::EPERM, libc::EOPNOTSUPP] {
        within_deadline(move || {
            // For this thread, and those of the runtime.
            seccomp::refuse(&[libc::SYS_preadv2], error);
            runtime().block_on(async {
                let directory = TempDir::new();
                let path = directory.path("file");
                fs::write(&path, b"what was just written").await.unwrap();
                let file = File::open(&path).await.unwrap();
                let before = Handle::current().metrics().blocking_wait.count();
                let mut whole = Vec::new();
                file.read_to_end(&mut whole).await.unwrap();
                assert_eq!(whole, b"what was just written");
                let mut part = [0; 4];
                assert_eq!(file.read_at(&mut part, 9).await.unwrap(), 4);
                assert_eq!(&part, b"just");
                assert!(Handle::current().metrics().blocking_wait.count() >= before + 2);
            });
        });
    }
}
