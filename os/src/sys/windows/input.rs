//! The standard input. The OS has no way to wait for all that it may be, so a thread that may block reads.

use std::io::{self, Read};
use std::task::{Context, Poll};

/// Reads by way of std, which knows what a console wants.
#[derive(Debug)]
pub(crate) struct StandardInput;

/// What a thread that may block reads from.
#[derive(Debug)]
pub(crate) struct Input;

impl StandardInput {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn input(&self) -> Input {
        Input
    }

    /// Nobody can tell.
    pub(crate) fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        io::stdin().read(buf)
    }
}
