//! Pipes and FIFOs.

use std::fs::{File, OpenOptions as FileOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use windlass::net::Interest;

use super::super::{descriptor, readiness, try_reads, try_writes};
use crate::io::{impl_read, impl_write};

#[derive(Debug)]
pub struct Sender(windlass::net::unix::pipe::Sender);
#[derive(Debug)]
pub struct Receiver(windlass::net::unix::pipe::Receiver);

descriptor!(Sender);
descriptor!(Receiver);

pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (sender, receiver) = windlass::net::unix::pipe()?;
    Ok((Sender(sender), Receiver(receiver)))
}

fn check_fifo(file: &File) -> io::Result<()> {
    if file.metadata()?.file_type().is_fifo() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a pipe"))
}

/// What both ends have.
macro_rules! end_of_pipe {
    ($end:ident, $interest:ident) => {
        pub fn from_file(file: File) -> io::Result<Self> {
            check_fifo(&file)?;
            Self::from_file_unchecked(file)
        }

        pub fn from_file_unchecked(file: File) -> io::Result<Self> {
            windlass::net::unix::pipe::$end::from_std(file).map(Self)
        }

        pub fn from_owned_fd(fd: OwnedFd) -> io::Result<Self> {
            Self::from_file(fd.into())
        }

        pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
            self.0.into_std().map(Into::into)
        }

        pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
            Ok(self.0.into())
        }

        pub fn try_io<R>(&self, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
            self.0.try_io(Interest::$interest, operation)
        }

        readiness!();
    };
}

impl Sender {
    end_of_pipe!(Sender, WRITABLE);
    try_writes!();
}

impl Receiver {
    end_of_pipe!(Receiver, READABLE);
    try_reads!();
}

impl_read!([] Receiver, |this| &this.0);
impl_write!([] Sender, |this| &this.0);

/// How a FIFO is opened. In windlass, std does that, and `from_std` takes the file.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    read_write: bool,
    unchecked: bool,
}

impl OpenOptions {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn read_write(&mut self, on: bool) -> &mut Self {
        self.read_write = on;
        self
    }

    pub fn unchecked(&mut self, on: bool) -> &mut Self {
        self.unchecked = on;
        self
    }

    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        let file = self.open(path.as_ref(), true)?;
        if self.unchecked { Receiver::from_file_unchecked(file) } else { Receiver::from_file(file) }
    }

    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        let file = self.open(path.as_ref(), false)?;
        if self.unchecked { Sender::from_file_unchecked(file) } else { Sender::from_file(file) }
    }

    fn open(&self, path: &Path, read: bool) -> io::Result<File> {
        FileOptions::new()
            .read(read || self.read_write)
            .write(!read || self.read_write)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)
    }
}
