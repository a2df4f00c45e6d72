//! Sockets, each a thin wrapper of ours with tokio's names and traits.

mod tcp_socket;
mod udp;

pub mod tcp;
pub mod unix;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;

use genuine::io::{Interest, Ready};

pub use tcp::{TcpListener, TcpStream};
pub use tcp_socket::TcpSocket;
pub use udp::UdpSocket;
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
pub use windlass::net::ToSocketAddrs;

pub async fn lookup_host<T: ToSocketAddrs>(
    host: T,
) -> io::Result<impl Iterator<Item = SocketAddr>> {
    windlass::net::resolve(host).await
}

/// Waits for any of the directions of interest. That the peer has closed one is not to be had from windlass.
async fn ready(
    interest: Interest,
    readable: impl Future<Output = io::Result<()>>,
    writable: impl Future<Output = io::Result<()>>,
) -> io::Result<Ready> {
    let (mut readable, mut writable) = (pin!(readable), pin!(writable));
    std::future::poll_fn(|cx| {
        let mut ready = Ready::EMPTY;
        if interest.is_readable() {
            if let Poll::Ready(result) = readable.as_mut().poll(cx) {
                result?;
                ready |= Ready::READABLE;
            }
        }
        if interest.is_writable() {
            if let Poll::Ready(result) = writable.as_mut().poll(cx) {
                result?;
                ready |= Ready::WRITABLE;
            }
        }
        if ready.is_empty() { Poll::Pending } else { Poll::Ready(Ok(ready)) }
    })
    .await
}

/// The direction of an operation, as windlass names it.
fn direction(interest: Interest) -> windlass::net::Interest {
    if interest.is_readable() {
        windlass::net::Interest::READABLE
    } else {
        windlass::net::Interest::WRITABLE
    }
}

/// A wrapper with what all sockets have.
macro_rules! socket {
    ($type:ident, $inner:ty, $std:ty) => {
        #[derive(Debug)]
        pub struct $type(pub(super) $inner);

        impl $type {
            #[track_caller]
            pub fn from_std(std: $std) -> std::io::Result<Self> {
                <$inner>::from_std(std).map(Self)
            }

            pub fn into_std(self) -> std::io::Result<$std> {
                self.0.into_std()
            }

            pub fn take_error(&self) -> std::io::Result<Option<std::io::Error>> {
                self.0.take_error()
            }
        }

        impl TryFrom<$std> for $type {
            type Error = std::io::Error;

            fn try_from(std: $std) -> std::io::Result<Self> {
                Self::from_std(std)
            }
        }

        $crate::net::descriptor!($type);
    };
}

/// The conversions to descriptors, of a wrapper.
macro_rules! descriptor {
    ($type:ident) => {
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.0.as_fd()
            }
        }

        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.0.as_raw_fd()
            }
        }
    };
}

/// Readiness of both directions.
macro_rules! readiness {
    () => {
        pub async fn ready(
            &self,
            interest: genuine::io::Interest,
        ) -> std::io::Result<genuine::io::Ready> {
            $crate::net::ready(interest, self.0.readable(), self.0.writable()).await
        }

        pub async fn readable(&self) -> std::io::Result<()> {
            self.0.readable().await
        }

        pub async fn writable(&self) -> std::io::Result<()> {
            self.0.writable().await
        }
    };
}

/// Operations of one's own.
macro_rules! operations {
    () => {
        pub fn try_io<R>(
            &self,
            interest: genuine::io::Interest,
            operation: impl FnOnce() -> std::io::Result<R>,
        ) -> std::io::Result<R> {
            self.0.try_io($crate::net::direction(interest), operation)
        }

        pub async fn async_io<R>(
            &self,
            interest: genuine::io::Interest,
            operation: impl FnMut() -> std::io::Result<R>,
        ) -> std::io::Result<R> {
            self.0.async_io($crate::net::direction(interest), operation).await
        }
    };
}

/// Attempts at streams.
macro_rules! try_reads {
    () => {
        pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
            self.0.try_read(buf)
        }

        pub fn try_read_vectored(
            &self,
            bufs: &mut [std::io::IoSliceMut<'_>],
        ) -> std::io::Result<usize> {
            self.0.try_read_vectored(bufs)
        }

        pub fn try_read_buf(&self, buf: &mut Vec<u8>) -> std::io::Result<usize> {
            self.0.try_read_buf(buf)
        }

        pub fn poll_read_ready(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.0.poll_readable(cx)
        }
    };
}

macro_rules! try_writes {
    () => {
        pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
            self.0.try_write(buf)
        }

        pub fn try_write_vectored(&self, bufs: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
            self.0.try_write_vectored(bufs)
        }

        pub fn poll_write_ready(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.0.poll_writable(cx)
        }
    };
}

/// The halves of a stream, in a module of their own. Each holds one of ours.
macro_rules! halves {
    ($stream:ident, $inner:ty, $address:ty) => {
        impl $stream {
            pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
                let (reader, writer) = self.0.split();
                (ReadHalf(reader), WriteHalf(writer))
            }

            pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
                let (reader, writer) = self.0.into_split();
                (OwnedReadHalf(reader), OwnedWriteHalf(writer))
            }
        }

        #[derive(Debug)]
        pub struct ReadHalf<'a>(windlass::net::ReadHalf<'a, $inner>);
        #[derive(Debug)]
        pub struct WriteHalf<'a>(windlass::net::WriteHalf<'a, $inner>);
        #[derive(Debug)]
        pub struct OwnedReadHalf(windlass::net::OwnedReadHalf<$inner>);
        #[derive(Debug)]
        pub struct OwnedWriteHalf(windlass::net::OwnedWriteHalf<$inner>);

        impl OwnedReadHalf {
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
                reunite(self, other)
            }
        }

        impl OwnedWriteHalf {
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$stream, ReuniteError> {
                reunite(other, self)
            }

            pub fn forget(self) {
                self.0.forget();
            }
        }

        pub(crate) fn reunite(
            reader: OwnedReadHalf,
            writer: OwnedWriteHalf,
        ) -> Result<$stream, ReuniteError> {
            match reader.0.reunite(writer.0) {
                Ok(stream) => Ok($stream(stream)),
                Err(error) => Err(ReuniteError(OwnedReadHalf(error.0), OwnedWriteHalf(error.1))),
            }
        }

        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl std::fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the halves belong to different streams")
            }
        }

        impl std::error::Error for ReuniteError {}

        $crate::io::impl_read!(['a] ReadHalf<'a>, |this| &mut this.0);
        $crate::io::impl_write!(['a] WriteHalf<'a>, |this| this.0);
        $crate::io::impl_read!([] OwnedReadHalf, |this| &mut this.0);
        $crate::io::impl_write!([] OwnedWriteHalf, |this| this.0);
    };
}

use {descriptor, halves, operations, readiness, socket, try_reads, try_writes};
