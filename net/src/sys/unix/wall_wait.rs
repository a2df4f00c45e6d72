//! The wait of a task for the wall clock, through a timer that is a descriptor.

use std::io;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use super::WallClock;
use crate::Async;

#[derive(Debug)]
pub(crate) struct WallWait(Async<WallClock>);

impl WallWait {
    pub(crate) fn new(time: SystemTime) -> io::Result<Self> {
        let clock = Async::new_nonblocking(WallClock::new()?)?;
        clock.get_ref().set(time)?;
        Ok(Self(clock))
    }

    /// Waits until the clock has to be checked again, for whatever reason.
    pub(crate) fn poll(&self, cx: &mut Context<'_>, time: SystemTime) -> Poll<io::Result<()>> {
        ready!(self.0.poll_read_with(cx, WallClock::take))?;
        Poll::Ready(self.0.get_ref().set(time))
    }
}
