//! A TCP socket that takes connections.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use super::{TcpSocket, TcpStream};
use crate::addrs::{ToSocketAddrs, with_first};
use crate::incoming::{Incoming, impl_listener, listener_methods, skip_aborted};
use crate::methods::{socket_methods, wrapper};
use crate::{Async, sys};

/// Connections that may wait to be accepted; the OS may have a lower limit.
const BACKLOG: u32 = 1024;

/// Listens for TCP connections.
///
/// # When descriptors run out
///
/// Then [`accept`](Self::accept) fails (on Unix with `EMFILE` or `ENFILE`), and goes on failing at
/// once for as long as there is a connection waiting and no descriptor to be had. A server should
/// pause for some milliseconds after an error of `accept`, or accept again when one of its
/// connections has ended; nothing is lost meanwhile, the connection waits in the queue. Connections
/// that their clients gave up while they were queued are passed over and are no error.
///
/// # Examples
///
/// ```
/// use windlass::net::{TcpListener, TcpStream};
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
///
/// let server = windlass::spawn(async move {
///     let (stream, _peer) = listener.accept().await?;
///     let mut buf = [0; 64];
///     loop {
///         let n = stream.read(&mut buf).await?;
///         if n == 0 {
///             return Ok::<(), std::io::Error>(());
///         }
///         stream.write_all(&buf[..n]).await?;
///     }
/// });
///
/// let client = TcpStream::connect(address).await?;
/// client.write_all(b"echo").await?;
/// let mut buf = [0; 4];
/// client.read_exact(&mut buf).await?;
/// assert_eq!(&buf, b"echo");
/// drop(client);
/// server.await.unwrap()?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct TcpListener {
    io: Async<std::net::TcpListener>,
}

wrapper!(TcpListener, std::net::TcpListener);

impl TcpListener {
    /// Listens on the first of the addresses that is free. With port 0 the OS chooses a port, which
    /// [`local_addr`](Self::local_addr) tells.
    ///
    /// On Unix it sets the option to reuse the address, so that a server can be started again at once. For other
    /// options, or another length of the queue than 1024, use [`TcpSocket`].
    ///
    /// Dropping the future leaves nothing behind.
    ///
    /// # Errors
    ///
    /// What the OS says of the last address, `AddrInUse` for instance; if a name is not found; if the
    /// runtime is shutting down.
    pub async fn bind<A: ToSocketAddrs>(addrs: A) -> io::Result<Self> {
        with_first(addrs, |address| {
            let socket = TcpSocket::for_addr(&address)?;
            socket.set_reuse_address(sys::REUSES_ADDRESSES)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        })
        .await
    }

    pub(super) fn from_socket(socket: std::net::TcpStream) -> io::Result<Self> {
        Async::new_nonblocking(sys::into_listener(socket)).map(Self::from_async)
    }

    listener_methods!(TcpStream, SocketAddr);

    /// Lets no new connection into the queue, so that a server that is about to end can accept all that
    /// were made. Those in the queue can still be accepted. So can those whose handshake has
    /// begun, which takes a round trip. Who asks later gets no answer until the listener is dropped, tries again
    /// after a second, and is refused then, or finds the next process that listens on the port.
    ///
    /// Returns true if the OS can do that: on Linux. Elsewhere nothing happens, and a connection that is made
    /// between the last `accept` and the end of the listener is reset.
    ///
    /// # Errors
    ///
    /// If the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{TcpListener, TcpStream};
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// listener.refuse_new()?;
    /// let (last, _) = listener.accept().await?;
    /// # assert_eq!(last.peer_addr()?, client.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn refuse_new(&self) -> io::Result<bool> {
        sys::refuse_new(sys::descriptor(self))
    }

    /// How many hops the packets of its connections may take.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.get_ref().ttl()
    }

    /// Sets how many hops the packets of its connections may take.
    ///
    /// # Errors
    ///
    /// If the OS refuses.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.get_ref().set_ttl(ttl)
    }

    socket_methods!();
}

fn next(listener: &std::net::TcpListener) -> io::Result<(std::net::TcpStream, SocketAddr)> {
    skip_aborted(|| sys::accept(listener))
}

/// The runtime's side of a connection that was taken.
fn registered(
    (stream, peer): (std::net::TcpStream, SocketAddr),
) -> io::Result<(TcpStream, SocketAddr)> {
    Ok((TcpStream::from_connected(Async::new_writable(stream)?), peer))
}

impl_listener!(TcpListener, TcpStream);
