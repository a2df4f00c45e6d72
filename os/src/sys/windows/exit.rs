//! Waiting for the end of a child process: the OS's thread pool waits for its handle.

use std::io;
use std::os::windows::io::AsHandle;
use std::process::{Child, ExitStatus};

use windlass_net::WaitHandle;

/// A process is forgotten when its last handle is closed.
pub(crate) const LEAVES_ZOMBIES: bool = false;

/// Waits for a child's end through its handle, with a new wait each time.
#[derive(Debug, Default)]
pub(crate) struct Exit;

impl Exit {
    /// Waits for the end. Dropping the future loses nothing.
    pub(crate) async fn wait(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        WaitHandle::new(child.as_handle()).wait().await?;
        child.wait()
    }
}
