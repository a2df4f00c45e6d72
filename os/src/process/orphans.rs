//! Children whose `Child` was dropped while they ran: somebody has to wait for them, or they stay zombies.
//!
//! A task of the runtime that the child was started on does it. If that runtime shuts down the task is dropped, and the
//! child gets into a list, which is gone through whenever the process starts another child or drops one.

use windlass_runtime::Handle;
use windlass_sync::primitives::Mutex;

use super::child::Process;
use crate::sys;

/// Children without a runtime.
static LEFT: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// Has somebody wait for the process's end.
pub(super) fn adopt(process: Process, runtime: &Handle) {
    if !sys::LEAVES_ZOMBIES {
        return;
    }
    look_after();
    let mut orphan = Orphan { process: Some(process) };
    // Refused by a runtime that has shut down, the task is dropped at once.
    drop(runtime.spawn(async move { orphan.wait().await }));
}

/// Has the OS forget those that have ended.
pub(super) fn look_after() {
    LEFT.lock().retain_mut(|process| !process.has_ended());
}

struct Orphan {
    process: Option<Process>,
}

impl Orphan {
    async fn wait(&mut self) {
        if let Some(process) = &mut self.process {
            if process.wait().await.is_ok() {
                self.process = None;
            }
        }
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            if !process.has_ended() {
                LEFT.lock().push(process);
            }
        }
    }
}
