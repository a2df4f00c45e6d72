//! The wait of a task for the wall clock, through a timer of the OS's thread pool with an absolute time.

use std::io;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use windlass_runtime::io::{Descriptor, Direction, Registration};

#[derive(Debug)]
pub(crate) struct WallWait {
    /// `None` after it has fired.
    registration: Option<Registration>,
}

impl WallWait {
    pub(crate) fn new(time: SystemTime) -> io::Result<Self> {
        Ok(Self { registration: Some(Registration::unready(Descriptor::WallTime(time))?) })
    }

    /// Waits until the clock has to be checked again, for whatever reason.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, time: SystemTime) -> Poll<io::Result<()>> {
        if self.registration.is_none() {
            *self = Self::new(time)?;
        }
        if let Some(registration) = &self.registration {
            ready!(registration.poll_ready(Direction::Read, cx))?;
        }
        self.registration = None;
        Poll::Ready(Ok(()))
    }
}
