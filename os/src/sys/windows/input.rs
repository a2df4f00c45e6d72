//! The standard input. The OS cannot wait for every kind of input, so a blocking thread reads it.

use std::io::{self, Read};
use std::task::{Context, Poll};

/// Reads through std, which handles consoles.
#[derive(Debug)]
pub(crate) struct StandardInput;

/// The input that a blocking thread reads from.
#[derive(Debug)]
pub(crate) struct Input;

impl StandardInput {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn input(&self) -> Input {
        Input
    }

    /// Always ready, because the OS can't tell.
    pub(crate) fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        io::stdin().read(buf)
    }
}
