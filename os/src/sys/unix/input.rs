//! The standard input. It stays in blocking mode, because other processes share it. The poller
//! reports when there is something to read, and a blocking thread reads it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::task::{Context, Poll};

use windlass_net::Async;
use windlass_sync::primitives::Arc;

use super::check;

/// Reads from a duplicate of the descriptor.
#[derive(Debug)]
pub(crate) struct StandardInput {
    file: Input,
    watch: Polled,
}

#[derive(Debug)]
enum Polled {
    /// Not waited for yet.
    Unknown,
    Poller(Async<Arc<File>>),
    /// A file, or something else that the OS can't poll: reading may block at any time.
    Impossible,
}

/// The input that a blocking thread reads from.
#[derive(Clone, Debug)]
pub(crate) struct Input(Option<Arc<File>>);

impl StandardInput {
    pub(crate) fn new() -> Self {
        // A closed input counts as ended.
        let file = io::stdin().as_fd().try_clone_to_owned().ok().map(File::from).map(Arc::new);
        Self { file: Input(file), watch: Polled::Unknown }
    }

    pub(crate) fn input(&self) -> Input {
        self.file.clone()
    }

    /// Polls until there is something to read, as far as the OS can tell.
    pub(crate) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(file) = &self.file.0 else { return Poll::Ready(Ok(())) };
        if let Polled::Unknown = self.watch {
            self.watch = match Async::new_nonblocking(file.clone()) {
                Ok(watch) => Polled::Poller(watch),
                Err(_) => Polled::Impossible,
            };
        }
        match &self.watch {
            Polled::Poller(watch) => watch.poll_read_with(cx, |file| is_readable(file.as_fd())),
            _ => Poll::Ready(Ok(())),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(0), |file| file.read(buf))
    }
}

/// Returns `WouldBlock` if there is nothing to read, and no end or error to report.
fn is_readable(fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: there is one entry.
    match check(unsafe { libc::poll(&mut entry, 1, 0) })? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(()),
    }
}
