//! A handshake before HTTP, such as that of TLS.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;

use axum::extract::connect_info::Connected;
use hyper::rt::{Read, Write};
use windlass_net::Keepalive;
use windlass_serve::Listener;

use crate::{Connection, IncomingStream};

/// A listener whose connections begin with a handshake, such as that of TLS, before they speak HTTP.
///
/// The handshake takes place in the connection's own task, with the time-outs of [`Connection::into_io`].
///
/// # Examples
///
/// TLS with tokio-rustls, which takes a windlass stream in `windlass::tokio::Io`:
///
/// ```no_run
/// use axum::{Router, routing::get};
/// use hyper_util::rt::TokioIo;
/// use windlass::net::{TcpListener, TcpStream};
/// use windlass::tokio::Io;
/// use windlass_axum::Handshake;
/// # mod tokio_rustls {
/// #     #[derive(Clone)]
/// #     pub struct TlsAcceptor;
/// #     impl TlsAcceptor {
/// #         pub async fn accept<S>(&self, stream: S) -> std::io::Result<S> { Ok(stream) }
/// #     }
/// # }
/// # fn acceptor() -> TlsAcceptor { TlsAcceptor }
/// use tokio_rustls::TlsAcceptor;
///
/// # windlass::block_on(async {
/// let acceptor: TlsAcceptor = acceptor(); // with `alpn_protocols` of h2 and http/1.1
/// let listener = TcpListener::bind("127.0.0.1:8443").await?;
/// let listener = Handshake::new(listener, move |stream: TcpStream| {
///     let acceptor = acceptor.clone();
///     async move { Ok(TokioIo::new(acceptor.accept(Io::new(stream)).await?)) }
/// });
/// let app = Router::new().route("/", get(|| async { "hello over TLS" }));
/// windlass_axum::serve(listener, app).on_signals()?.await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
///
/// With futures-rustls, whose streams implement the traits of futures-io, the closure ends in
/// `windlass::hyper::FuturesIo::new(acceptor.accept(stream).await?)`.
pub struct Handshake<L, F> {
    listener: L,
    handshake: F,
}

impl<L, F> Handshake<L, F> {
    /// Makes each connection of a listener begin with `handshake`. If that returns an error, the connection is closed.
    ///
    /// # Examples
    ///
    /// A listener that first expects a word:
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use windlass::net::{TcpListener, TcpStream};
    /// use windlass_axum::Handshake;
    /// use windlass_hyper::Io;
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let listener = Handshake::new(listener, |stream: TcpStream| async move {
    ///     let mut word = [0; 6];
    ///     stream.read_exact(&mut word).await?;
    ///     if &word != b"sesame" {
    ///         return Err(std::io::ErrorKind::PermissionDenied.into());
    ///     }
    ///     Ok(Io::new(stream))
    /// });
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let server = windlass_axum::serve(listener, app);
    /// # let server = server.with_graceful_shutdown(async {});
    /// server.await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn new<Fut, I>(listener: L, handshake: F) -> Self
    where
        L: Listener,
        F: Fn(L::Stream) -> Fut,
        Fut: Future<Output = io::Result<I>>,
        I: Read + Write,
    {
        Self { listener, handshake }
    }
}

/// A connection before its handshake.
pub struct Unshaken<S, F> {
    stream: S,
    handshake: F,
}

impl<S, F> Unshaken<S, F> {
    /// Returns the connection as it was accepted.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::extract::connect_info::Connected;
    /// use windlass::net::TcpListener;
    /// use windlass_axum::{Handshake, IncomingStream};
    ///
    /// #[derive(Clone)]
    /// struct NoDelay(bool);
    ///
    /// impl<F> Connected<IncomingStream<'_, Handshake<TcpListener, F>>> for NoDelay
    /// where
    ///     F: Clone + Send + Sync + 'static,
    /// {
    ///     fn connect_info(stream: IncomingStream<'_, Handshake<TcpListener, F>>) -> Self {
    ///         Self(stream.stream().get_ref().nodelay().unwrap_or(false))
    ///     }
    /// }
    /// ```
    pub fn get_ref(&self) -> &S {
        &self.stream
    }
}

impl<L, F> Listener for Handshake<L, F>
where
    L: Listener,
    F: Clone + Send + Sync + 'static,
{
    type Stream = Unshaken<L::Stream, F>;
    type Addr = L::Addr;

    async fn accept(&self) -> io::Result<(Self::Stream, L::Addr)> {
        let (stream, peer) = self.listener.accept().await?;
        Ok((Unshaken { stream, handshake: self.handshake.clone() }, peer))
    }

    fn try_accept(&self) -> io::Result<(Self::Stream, L::Addr)> {
        let (stream, peer) = self.listener.try_accept()?;
        Ok((Unshaken { stream, handshake: self.handshake.clone() }, peer))
    }

    fn refuse_new(&self) -> io::Result<bool> {
        self.listener.refuse_new()
    }

    fn local_addr(&self) -> io::Result<L::Addr> {
        self.listener.local_addr()
    }
}

impl<S, F, Fut, I> Connection for Unshaken<S, F>
where
    S: Connection,
    F: Fn(S) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = io::Result<I>> + Send,
    I: Read + Write + Unpin + Send + 'static,
{
    type Io = I;

    fn set_options(&self) {
        self.stream.set_options();
    }

    fn set_tcp_keepalive(&self, keepalive: Keepalive) {
        self.stream.set_tcp_keepalive(keepalive);
    }

    async fn into_io(self) -> io::Result<I> {
        (self.handshake)(self.stream).await
    }
}

/// A handshake does not change the peer.
impl<L, F> Connected<IncomingStream<'_, Handshake<L, F>>> for SocketAddr
where
    L: Listener<Addr = SocketAddr>,
    F: Clone + Send + Sync + 'static,
{
    fn connect_info(stream: IncomingStream<'_, Handshake<L, F>>) -> Self {
        *stream.remote_addr()
    }
}

impl<L: fmt::Debug, F> fmt::Debug for Handshake<L, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handshake").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl<S: fmt::Debug, F> fmt::Debug for Unshaken<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unshaken").field("stream", &self.stream).finish_non_exhaustive()
    }
}
