//! The sockets of each peer, behind one trait that adds nothing to what they do.

use std::io;
use std::net::SocketAddr;

use ::smol::io::{AsyncReadExt as _, AsyncWriteExt as _};
use ::tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::windlass::Runs;
use super::{CurrentThread, Peer, Smol, Tokio};

/// Any free port of the loopback interface.
const ANY: &str = "127.0.0.1:0";

/// A runtime with sockets of its own. All functions are called within a task of it.
pub(crate) trait NetPeer: Peer {
    type Listener: Send + Sync + 'static;
    type Stream: Send + 'static;

    /// Listens on a free port of the loopback interface.
    fn bind() -> impl Future<Output = io::Result<(Self::Listener, SocketAddr)>> + Send;

    /// The next connection, with `TCP_NODELAY` set.
    fn accept(listener: &Self::Listener) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// A connection to a server, with `TCP_NODELAY` set.
    fn connect(address: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    fn read<'a>(
        stream: &'a mut Self::Stream,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send;

    fn write_all<'a>(
        stream: &'a mut Self::Stream,
        bytes: &'a [u8],
    ) -> impl Future<Output = io::Result<()>> + Send;

    /// Does something that blocks while the tasks of the runtime go on: on the calling thread,
    /// unless the runtime needs that one.
    fn beside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

/// Both flavours of tokio have the same sockets.
macro_rules! tokio_sockets {
    () => {
        type Listener = ::tokio::net::TcpListener;
        type Stream = ::tokio::net::TcpStream;

        async fn bind() -> io::Result<(Self::Listener, SocketAddr)> {
            let listener = ::tokio::net::TcpListener::bind(ANY).await?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        }

        async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        }

        async fn connect(address: SocketAddr) -> io::Result<Self::Stream> {
            let stream = ::tokio::net::TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        }

        #[inline]
        fn read<'a>(
            stream: &'a mut Self::Stream,
            buffer: &'a mut [u8],
        ) -> impl Future<Output = io::Result<usize>> + Send {
            stream.read(buffer)
        }

        #[inline]
        fn write_all<'a>(
            stream: &'a mut Self::Stream,
            bytes: &'a [u8],
        ) -> impl Future<Output = io::Result<()>> + Send {
            stream.write_all(bytes)
        }
    };
}

impl NetPeer for Tokio {
    tokio_sockets!();
}

impl NetPeer for CurrentThread {
    tokio_sockets!();

    fn beside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let (done, ended) = async_channel::bounded::<()>(1);
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                // Dropped when the work is done, even by a panic.
                let _done = done;
                work()
            });
            let _ = self.block_on(ended.recv());
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl NetPeer for Smol {
    type Listener = ::smol::net::TcpListener;
    type Stream = ::smol::net::TcpStream;

    async fn bind() -> io::Result<(Self::Listener, SocketAddr)> {
        let listener = ::smol::net::TcpListener::bind(ANY).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    }

    async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    async fn connect(address: SocketAddr) -> io::Result<Self::Stream> {
        let stream = ::smol::net::TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    #[inline]
    fn read<'a>(
        stream: &'a mut Self::Stream,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send {
        stream.read(buffer)
    }

    #[inline]
    fn write_all<'a>(
        stream: &'a mut Self::Stream,
        bytes: &'a [u8],
    ) -> impl Future<Output = io::Result<()>> + Send {
        stream.write_all(bytes)
    }
}

impl<const OBSERVED: bool> NetPeer for Runs<OBSERVED> {
    type Listener = ::windlass::net::TcpListener;
    type Stream = ::windlass::net::TcpStream;

    async fn bind() -> io::Result<(Self::Listener, SocketAddr)> {
        let listener = ::windlass::net::TcpListener::bind(ANY).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    }

    async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    async fn connect(address: SocketAddr) -> io::Result<Self::Stream> {
        let stream = ::windlass::net::TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    #[inline]
    fn read<'a>(
        stream: &'a mut Self::Stream,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send {
        stream.read(buffer)
    }

    #[inline]
    fn write_all<'a>(
        stream: &'a mut Self::Stream,
        bytes: &'a [u8],
    ) -> impl Future<Output = io::Result<()>> + Send {
        stream.write_all(bytes)
    }
}
