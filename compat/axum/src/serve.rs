//! Serves a router on the connections of a listener.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use tower_service::Service;
use windlass_hyper::server::Http;
use windlass_serve::{Drain, DrainReport, Listener};

use crate::connection::set_up;
use crate::{Connection, IncomingStream};

/// Serves a router, or the services of any other factory, on the connections of a listener.
///
/// Awaiting the result serves until [`Serve::with_graceful_shutdown`] or [`Serve::on_signals`] ends it. Without either of
/// them it never ends.
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
/// let signal = async {}; // a signal, a message, a time-out
/// let report = windlass_axum::serve(listener, app).with_graceful_shutdown(signal).await?;
/// println!("{report}");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub fn serve<L, M>(listener: L, make_service: M) -> Serve<L, M>
where
    L: Listener,
{
    Serve {
        listener,
        make_service,
        drain: Drain::new(),
        http: Http::new(),
        setup_timeout: Some(Duration::from_secs(30)),
    }
}

/// A server for a router. It does nothing until it is awaited.
///
/// | | default |
/// |---|---|
/// | connections at a time | three quarters of the descriptors that the process may have, 768 of 1,024; see [`limit`](Self::limit) |
/// | time for the head of a request, and for a handshake before it | 30 seconds; see [`header_timeout`](Self::header_timeout) |
/// | time for a handshake that is under way when the server is told to end | 2 seconds |
/// | time between two requests of a connection | 75 seconds; see [`idle_timeout`](Self::idle_timeout) |
/// | time for connections to end, once told to | 30 seconds; see [`deadline`](Self::deadline) |
/// | WebSockets when the server is told to end | both ends get a close frame, 1001 (HTTP/1); see the [crate](crate) |
/// | descriptors have run out | it pauses, and continues when a connection ends |
/// | a handler panics | its connection is closed (HTTP/1), or its stream is reset (HTTP/2) |
/// | TCP_NODELAY | set |
///
/// A body has the limit of axum's extractors, 2 MiB unless `DefaultBodyLimit` says otherwise.
///
/// Dropping the future closes the listener and aborts all connections.
#[must_use = "a server does nothing until it is awaited"]
pub struct Serve<L, M> {
    listener: L,
    make_service: M,
    drain: Drain,
    http: Http,
    setup_timeout: Option<Duration>,
}

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
    /// [`windlass_hyper::server`]. A second call of this method sets a second signal, which ends the server at once.
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
        self.drain = self.drain.on(signal);
        self
    }

    /// Shuts the server down when the process is asked to end, by Ctrl-C or `SIGTERM` for instance. The second such signal
    /// ends it at once; see [`Drain::on_signals`].
    ///
    /// Handlers that have to know that the server ends, such as those of WebSockets, need a [`Switch`](crate::Switch):
    /// create a [`Drain`], call its `on_signals`, and pass it to [`drain`](Self::drain).
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
        self.drain = self.drain.on_signals()?;
        Ok(self)
    }

    /// Sets how long connections may take to end once they are told to. Those that take longer are aborted.
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
        self.drain = self.drain.deadline(deadline);
        self
    }

    /// Sets how many connections may be open at a time. Further ones wait to be accepted. `usize::MAX` sets no limit; by
    /// default, a quarter of the descriptors is left for what handlers open. See [`Drain::limit`].
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
        self.drain = self.drain.limit(connections);
        self
    }

    /// Sets how long the head of a request may take to arrive, and how long a handshake may take before the first request.
    /// `None` sets no limit.
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
        self.setup_timeout = time.into();
        self.http = self.http.header_timeout(self.setup_timeout);
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
        self.http = self.http.idle_timeout(time);
        self
    }

    /// Replaces all settings of HTTP, including both time-outs.
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

    /// Replaces the [`Drain`], which decides when and how the server ends and includes [`limit`](Self::limit) and
    /// [`deadline`](Self::deadline). Use it to share a [`Switch`](crate::Switch) with other tasks.
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

impl<L, M, S> IntoFuture for Serve<L, M>
where
    L: Listener,
    L::Stream: Connection,
    L::Addr: Sync,
    M: for<'a> Service<IncomingStream<'a, L>, Response = S, Error = Infallible>
        + Clone
        + Send
        + 'static,
    for<'a> <M as Service<IncomingStream<'a, L>>>::Future: Send,
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Output = io::Result<DrainReport>;
    type IntoFuture = Pin<Box<dyn Future<Output = io::Result<DrainReport>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { listener, make_service, drain, http, setup_timeout } = self;
        let http = Arc::new(http);
        Box::pin(drain.serve(listener, move |stream: L::Stream, peer: L::Addr, drain| {
            let mut make_service = make_service.clone();
            let http = http.clone();
            async move {
                let ready = poll_fn(|cx| {
                    Service::<IncomingStream<'_, L>>::poll_ready(&mut make_service, cx)
                });
                let Ok(()) = ready.await;
                let Ok(service) = make_service.call(IncomingStream::new(&stream, &peer)).await;
                let Some(io) = set_up(stream, setup_timeout, &drain).await else { return };
                let service = service_fn(move |request: Request<Incoming>| {
                    answer(service.clone(), request.map(Body::new))
                });
                // Errors here are the peer's doing. A server on the open network sees many, so they are not reported.
                let _ = http.serve_connection(io, service, &drain).await;
            }
        }))
    }
}

async fn answer<S>(mut service: S, request: Request) -> Result<Response, Infallible>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    poll_fn(|cx| service.poll_ready(cx)).await?;
    service.call(request).await
}

impl<L, M> fmt::Debug for Serve<L, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("drain", &self.drain)
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}
