//! The settings of a server.

use std::future::Future;
use std::io;
use std::time::Duration;

use windlass_hyper::server::Http;
use windlass_serve::{Drain, Listener};

use super::Serve;

impl<L: Listener, M> Serve<L, M> {
    /// Returns the address that the server listens at.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS does not know it.
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
    /// let server = windlass_axum::serve(listener, app).with_graceful_shutdown(async {});
    /// println!("http://{}", server.local_addr()?);
    /// server.await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn local_addr(&self) -> io::Result<L::Addr> {
        self.listener.local_addr()
    }

    /// Shuts the server down when `signal` is ready, without losing a request; see [`Drain`] and
    /// [`windlass_hyper::server`]. A second call of this method sets a second signal, which aborts the remaining
    /// connections.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use windlass::net::TcpListener;
    /// use windlass::sync::CancellationToken;
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let end = CancellationToken::new();
    /// let signal = end.clone();
    /// let server = windlass_axum::serve(listener, app)
    ///     .with_graceful_shutdown(async move { signal.cancelled().await });
    /// let server = windlass::spawn(server.into_future());
    /// end.cancel();
    /// assert!(server.await.unwrap()?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn with_graceful_shutdown(
        mut self,
        signal: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        self.own = self.own.on(signal);
        self
    }

    /// Shuts the server down when the process is asked to end, for instance by Ctrl-C or `SIGTERM`. The second such
    /// signal ends it at once; see [`Drain::on_signals`].
    ///
    /// Handlers that have to know that the server ends, such as those of WebSockets, need a [`Switch`](crate::Switch):
    /// create a [`Drain`], take its switch, and pass it to [`drain`](Self::drain).
    ///
    /// # Errors
    ///
    /// Returns an error if descriptors have run out, if the OS refuses a handler, or if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use axum::{Router, routing::get};
    /// use windlass::net::TcpListener;
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let listener = TcpListener::bind("127.0.0.1:8080").await?;
    /// let report = windlass_axum::serve(listener, app).on_signals()?.await?;
    /// println!("{report}");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn on_signals(mut self) -> io::Result<Self> {
        self.own = self.own.on_signals()?;
        Ok(self)
    }

    /// Sets how long connections may take to end once the drain begins. Those that take longer are aborted.
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
    /// let server = windlass_axum::serve(listener, app).deadline(Duration::from_secs(10));
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.own = self.own.deadline(deadline);
        self
    }

    /// Sets how many connections may be open at a time. Further ones wait to be accepted. `usize::MAX` sets no limit.
    /// By default, a quarter of the descriptors is left for handlers. See [`Drain::limit`].
    ///
    /// # Panics
    ///
    /// Panics if the limit is zero.
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
    /// let server = windlass_axum::serve(listener, app).limit(10_000);
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn limit(mut self, connections: usize) -> Self {
        self.own = self.own.limit(connections);
        self
    }

    /// Sets how long the head of a request may take to arrive, and how long a handshake may take before the first
    /// request. `None` sets no limit.
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
    /// let server = windlass_axum::serve(listener, app).header_timeout(Duration::from_secs(5));
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn header_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.header_timeout = Some(time.into());
        self
    }

    /// Sets how long a connection may be idle between two requests. `None` sets no limit.
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
    /// let server = windlass_axum::serve(listener, app).idle_timeout(Duration::from_secs(20));
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn idle_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.idle_timeout = Some(time.into());
        self
    }

    /// Sets how long a handler may wait for more of a request's body; 60 seconds by default. `None` sets no limit.
    ///
    /// The time starts anew with each part that arrives, and counts only while the handler, or an extractor, waits for
    /// one. When it is over, reading the body fails: extractors answer with status 400, and a handler that reads the
    /// [`Body`](axum::body::Body) gets an error that has an [`io::Error`] of the kind `TimedOut` among its sources.
    /// This does not stop a client that sends a byte from time to time; put a time-out around the handler for that.
    ///
    /// Requests that are streams, such as those of gRPC and long uploads that pause, need a longer limit or none.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::post};
    /// use std::time::Duration;
    /// use windlass::net::TcpListener;
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", post(|body: String| async move { body }));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let server = windlass_axum::serve(listener, app).body_timeout(Duration::from_secs(10));
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn body_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.body_timeout = time.into();
        self
    }

    /// Sets whether small segments are sent at once (TCP_NODELAY), which is the default. With `false` the option is
    /// left alone: it is off, unless [`tap_io`](windlass_serve::ListenerExt::tap_io) or the listener's socket has set
    /// it.
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
    /// let server = windlass_axum::serve(listener, app).tcp_nodelay(false);
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn tcp_nodelay(mut self, nodelay: bool) -> Self {
        self.sets_options = nodelay;
        self
    }

    /// Replaces all HTTP settings, except those that are made, before or after, with this type's
    /// [`header_timeout`](Self::header_timeout) and [`idle_timeout`](Self::idle_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use windlass::net::TcpListener;
    /// use windlass_hyper::server::Http;
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let mut http = Http::new();
    /// http.http2().max_concurrent_streams(64);
    /// let server = windlass_axum::serve(listener, app).http(http);
    /// # let server = server.with_graceful_shutdown(async {});
    /// assert!(server.await?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn http(mut self, http: Http) -> Self {
        self.http = http;
        self
    }

    /// Replaces the [`Drain`], which decides when and how the server ends. Use it to share a
    /// [`Switch`](crate::Switch) with other tasks, or to have several servers [end together](Drain::follow).
    ///
    /// What the methods of this type have set, or set later, stays in force: the signals of
    /// [`with_graceful_shutdown`](Self::with_graceful_shutdown) and [`on_signals`](Self::on_signals) are added to those
    /// of `drain`, and [`limit`](Self::limit) and [`deadline`](Self::deadline) win over its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use windlass::net::TcpListener;
    /// use windlass::serve::Drain;
    ///
    /// # windlass::block_on(async {
    /// let app = Router::new().route("/", get(|| async { "hello" }));
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let drain = Drain::new().limit(10_000);
    /// let switch = drain.switch();
    /// let server = windlass::spawn(windlass_axum::serve(listener, app).drain(drain).into_future());
    /// switch.flip();
    /// assert!(server.await.unwrap()?.is_clean());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn drain(mut self, drain: Drain) -> Self {
        self.drain = drain;
        self
    }
}
