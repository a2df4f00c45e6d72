//! The settings of a server's connections: how long they last, how they are kept, what becomes of their errors.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use windlass_hyper::server::Error;
use windlass_net::Keepalive;
use windlass_serve::{Drain, Listener};

use super::Serve;

impl<L: Listener, M> Serve<L, M> {
    /// Sets how old a connection may become. `None` sets no limit, which is the default.
    ///
    /// A connection of that age is told to end as in a drain: its requests are answered, and clients learn from GOAWAY or
    /// `Connection: close` that they should connect anew. So behind a balancer of connections, those of HTTP/2, which may
    /// last for days, spread to servers that have come later. It does not cut off anything: a response without an end
    /// keeps its connection. A WebSocket over HTTP/1 gets its close frame; see the [crate](crate).
    ///
    /// The age counts from the end of the handshake. Connections end up to a tenth earlier, each by a different time, so that
    /// those that were opened together do not all come back together.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use std::time::Duration;
    /// use windlass::net::TcpListener;
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let half_an_hour = Duration::from_secs(30 * 60);
    /// let server = windlass_axum::serve(listener, app).max_connection_age(half_an_hour);
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn max_connection_age(mut self, age: impl Into<Option<Duration>>) -> Self {
        self.max_age = age.into();
        self
    }

    /// Has the OS probe TCP connections that are silent, and close those whose client is gone. By default it does not, and
    /// a WebSocket whose client has lost its network stays open.
    ///
    /// An OS without such settings of a socket's own probes at its own times. Local connections have no such probes.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use std::time::Duration;
    /// use windlass::net::{Keepalive, TcpListener};
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let keepalive = Keepalive::new().idle(Duration::from_secs(60));
    /// let server = windlass_axum::serve(listener, app).tcp_keepalive(keepalive);
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn tcp_keepalive(mut self, keepalive: impl Into<Option<Keepalive>>) -> Self {
        self.keepalive = keepalive.into();
        self
    }

    /// Calls `f` for each error of `accept`, instead of reporting it; see [`Drain::on_accept_error`].
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use windlass::net::TcpListener;
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let server = windlass_axum::serve(listener, app)
    ///     .on_accept_error(|error| eprintln!("no connection: {error}"));
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert_eq!(server.await?.accept_errors(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn on_accept_error(mut self, f: impl Fn(&io::Error) + Send + Sync + 'static) -> Self {
        self.own = Drain::on_accept_error(self.own, f);
        self
    }

    /// Calls `f` for each connection that ends with an error, with the address of its peer. Errors of the handshake are
    /// among them, as [`Error::Io`].
    ///
    /// On the open network there are many, and most are the peer's doing. Unless this is set, they go to `tracing` and
    /// `log` with the features of these names, at the level of debugging and with the target `windlass::serve`, and
    /// nowhere without. The [report](crate::DrainReport::failed) counts them in any case.
    ///
    /// `f` is called in the connection's task.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use windlass::net::TcpListener;
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let server = windlass_axum::serve(listener, app)
    ///     .on_connection_error(|peer, error| eprintln!("{peer}: {error}"));
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert_eq!(server.await?.failed(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn on_connection_error(
        mut self,
        f: impl Fn(&L::Addr, &Error) + Send + Sync + 'static,
    ) -> Self {
        self.on_connection_error = Some(Arc::new(f));
        self
    }
}
