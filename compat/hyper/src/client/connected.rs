//! What hyper-util's client learns of a connection.

use std::net::SocketAddr;

use futures_io::{AsyncRead, AsyncWrite};
use hyper_util::client::legacy::connect::{Connected, Connection};
use windlass_net::TcpStream;

use crate::{FuturesIo, Io};

/// The addresses of a TCP connection, in the extensions of each response that a client with our
/// [`Connector`](crate::Connector) gets.
///
/// # Examples
///
/// ```
/// use http_body_util::Empty;
/// use hyper::body::Bytes;
/// use hyper_util::client::legacy::Client;
/// use windlass::net::TcpListener;
/// use windlass_hyper::{Connector, Executor, HttpInfo};
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
/// # windlass::spawn(async move {
/// #     let (stream, _) = listener.accept().await.unwrap();
/// #     stream.read(&mut [0; 1024]).await.unwrap();
/// #     stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
/// #     stream.read(&mut [0]).await
/// # });
/// let client = Client::builder(Executor).build::<_, Empty<Bytes>>(Connector::new());
/// let response = client.get(format!("http://{address}/").parse().unwrap()).await.unwrap();
/// let info = response.extensions().get::<HttpInfo>().unwrap();
/// assert_eq!(info.remote_addr(), address);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpInfo {
    remote_addr: SocketAddr,
    local_addr: SocketAddr,
}

impl HttpInfo {
    /// Returns the address of the server.
    ///
    /// # Examples
    ///
    /// ```
    /// fn is_local(info: &windlass_hyper::HttpInfo) -> bool {
    ///     info.remote_addr().ip().is_loopback()
    /// }
    /// ```
    pub fn remote_addr(&self) -> SocketAddr {
        self.remote_addr
    }

    /// Returns the address that the connection was made from.
    ///
    /// # Examples
    ///
    /// ```
    /// fn port(info: &windlass_hyper::HttpInfo) -> u16 {
    ///     info.local_addr().port()
    /// }
    /// ```
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }
}

impl Connection for Io<TcpStream> {
    fn connected(&self) -> Connected {
        let stream = self.get_ref();
        // A connection that has failed since has none, which the first request will tell.
        match (stream.peer_addr(), stream.local_addr()) {
            (Ok(remote_addr), Ok(local_addr)) => {
                Connected::new().extra(HttpInfo { remote_addr, local_addr })
            }
            _ => Connected::new(),
        }
    }
}

/// For connectors of other streams, such as TLS of futures-io. A connection that has agreed on HTTP/2 by ALPN needs a type
/// of its own, which says so by `Connected::negotiated_h2`.
impl<T: AsyncRead + AsyncWrite> Connection for FuturesIo<T> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
