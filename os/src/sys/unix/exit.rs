//! Waiting for the end of a child process: through a descriptor that reports it, or else through `SIGCHLD`.
//!
//! The descriptor may report the end shortly before the child can be reaped (macOS), and may be refused: by an old
//! kernel, by a sandbox, or because descriptors have run out. Then the waiter listens for `SIGCHLD`, and checks after
//! each one whether its own child has ended. The listener is created before the first check, so that no end is missed.

use std::io;
use std::process::{Child, ExitStatus};

use windlass_net::Async;

use super::exit_event::{ExitEvent, exit_event};
use super::signals::Listener;

/// A child that is not waited for stays in the table of processes.
pub(crate) const LEAVES_ZOMBIES: bool = true;

/// The state of waiting for a child's end.
#[derive(Debug, Default)]
pub(crate) enum Exit {
    /// Not waited for yet.
    #[default]
    Unknown,
    Event(Async<ExitEvent>),
    Signal(Listener),
}

impl Exit {
    /// Waits for the end, and reaps the child. Dropping the future loses nothing.
    pub(crate) async fn wait(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let result = self.wait_for_end(child).await;
        if result.is_err() {
            // The runtime may have shut down; the next wait may use another.
            *self = Self::Unknown;
        }
        result
    }

    async fn wait_for_end(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        if let Self::Unknown = self {
            *self = match exit_event(child.id()).and_then(Async::new_nonblocking) {
                Ok(event) => Self::Event(event),
                Err(_) => Self::Signal(Listener::new(libc::SIGCHLD)?),
            };
        }
        if let Self::Event(event) = self {
            event.readable().await?;
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            *self = Self::Signal(Listener::new(libc::SIGCHLD)?);
        }
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if let Self::Signal(listener) = self {
                listener.heard().await?;
            }
        }
    }
}
