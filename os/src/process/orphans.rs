//! Children whose `Child` was dropped while they ran. They have to be waited for, or they stay zombies.
//!
//! A task of the runtime that started the child waits for it. If that runtime shuts down, the task is dropped and the
//! child is added to a list. The list is checked whenever the process starts or drops another child.

use windlass_runtime::Handle;
use windlass_sync::primitives::Mutex;

use super::child::Process;
use crate::sys;

/// Children without a runtime.
static LEFT: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// Makes sure that the end of the process is waited for.
pub(super) fn adopt(process: Process, runtime: &Handle) {
    if !sys::LEAVES_ZOMBIES {
        return;
    }
    look_after();
    let mut orphan = Orphan { process: Some(process) };
    // A runtime that has shut down drops the task at once.
    drop(runtime.spawn(async move { orphan.wait().await }));
}

/// Reaps the children in the list that have ended.
pub(super) fn look_after() {
    LEFT.lock().retain_mut(|process| !process.reap());
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
            if !process.reap() {
                LEFT.lock().push(process);
            }
        }
    }
}
