//! A TCP socket that accepts connections.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use super::{TcpSocket, TcpStream};
use crate::addrs::{ToSocketAddrs, with_first};
use crate::incoming::{Incoming, impl_listener, listener_methods, skip_aborted};
use crate::methods::{socket_methods, wrapper};
use crate::policy::BACKLOG;
use crate::{Async, sys};

/// A socket that listens for TCP connections.
///
/// # When descriptors run out
///
/// A peer can open connections until descriptors run out. Then [`accept`](Self::accept) fails (on Unix with `EMFILE` or
/// `ENFILE`), and keeps failing at once while a connection waits and no descriptor is free. After such an error, a
/// server should pause for a few milliseconds, or accept again when one of its connections has ended. Nothing is lost
/// meanwhile: the connection waits in the queue. `serve::Drain` does this, and can limit the number of connections.
///
/// Connections that were closed by their clients while they were queued are skipped, and cause no error.
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
    is_shared: bool,
}

wrapper!(TcpListener, std::net::TcpListener, Async::new, is_shared);

impl TcpListener {
    /// Listens on the first of the addresses that is free.
    ///
    /// With port 0 the OS chooses a port, which [`local_addr`](Self::local_addr) returns. On Unix the address may be
    /// reused, so that a server can be restarted at once. Use [`TcpSocket`] for other options, or for a queue of
    /// another length than 1024.
    ///
    /// Dropping the future leaves nothing behind.
    ///
    /// # Errors
    ///
    /// Returns the OS's error for the last address, such as `AddrInUse`, or an error if a name is not found or the
    /// runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::TcpListener;
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// println!("listening on {}", listener.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn bind<A: ToSocketAddrs>(addrs: A) -> io::Result<Self> {
        with_first(addrs, |address| async move {
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

    /// Closes the queue to new connections, so that a server that is about to end can accept all established ones.
    ///
    /// Connections in the queue can still be accepted. So can those whose handshake has begun, which takes a round trip
    /// to finish. Later clients get no answer until the listener is dropped. They try again after a second, and are
    /// then refused or reach the next process that listens on the port.
    ///
    /// Returns true if the queue is now closed. This needs the support of the OS, and Linux has it. Otherwise nothing
    /// happens, and a connection that is established between the last `accept` and the end of the listener is reset.
    ///
    /// **The socket's queue is closed for good**: other processes that have the socket get no connections any more, nor
    /// do those that receive it later. Therefore this does nothing to a listener that [may be shared](Self::is_shared).
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
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
        if self.is_shared {
            return Ok(false);
        }
        sys::refuse_new(sys::descriptor(self))
    }

    /// Returns the number of hops that packets of the listener's connections may take.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::TcpListener;
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// assert!(listener.ttl()? > 0);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.get_ref().ttl()
    }

    /// Sets the number of hops that packets of the listener's connections may take.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::TcpListener;
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// listener.set_ttl(16)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.get_ref().set_ttl(ttl)
    }

    socket_methods!();
}

fn next(listener: &std::net::TcpListener) -> io::Result<(std::net::TcpStream, SocketAddr)> {
    skip_aborted(|| sys::accept(listener))
}

/// Registers an accepted connection with the runtime.
fn registered(
    (stream, peer): (std::net::TcpStream, SocketAddr),
) -> io::Result<(TcpStream, SocketAddr)> {
    Ok((TcpStream::from_connected(Async::new_writable(stream)?), peer))
}

impl_listener!(TcpListener, TcpStream);
