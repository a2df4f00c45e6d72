//! Serves a router on the connections of a listener.

mod connections;
mod settings;

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::MethodRouter;
use hyper::body::Incoming;
use hyper::service::service_fn;
use tower_service::Service;
use windlass_hyper::server::{Error, Http};
use windlass_net::Keepalive;
use windlass_runtime::serving;
use windlass_serve::{Drain, DrainReport, Listener, Switch};

use crate::age::Age;
use crate::body::in_time;
use crate::connection::set_up;
use crate::policy::{BODY_TIMEOUT, HANDSHAKE_TIMEOUT};
use crate::{Connection, IncomingStream};

/// Serves a router, or the services of any other factory, on the connections of a listener.
///
/// Awaiting the result serves until [`Serve::with_graceful_shutdown`] or [`Serve::on_signals`] ends it. Without either
/// of them it never ends.
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
        own: Drain::new(),
        http: Http::new(),
        header_timeout: None,
        idle_timeout: None,
        body_timeout: Some(BODY_TIMEOUT),
        sets_options: true,
        keepalive: None,
        max_age: None,
        on_connection_error: None,
    }
}

/// A server for a router. It does nothing until it is awaited.
///
/// | | default |
/// |---|---|
/// | connections at a time | three quarters of the descriptors that the process may have, 768 of 1,024; see [`limit`](Self::limit) |
/// | time for the head of a request, and for a handshake before it | 30 seconds; see [`header_timeout`](Self::header_timeout) |
/// | time for a handshake that is under way when the drain begins | 2 seconds |
/// | time between two requests of a connection | 75 seconds; see [`idle_timeout`](Self::idle_timeout) |
/// | time without a part of a request's body while a handler waits for it | 60 seconds; see [`body_timeout`](Self::body_timeout) |
/// | time without write progress | 60 seconds; see [`Http::write_timeout`] |
/// | age of a connection | no limit; see [`max_connection_age`](Self::max_connection_age) |
/// | time for connections to end, once told to | 25 seconds; see [`deadline`](Self::deadline) |
/// | WebSockets when the server is told to end | both ends get a close frame, 1001 (HTTP/1); see the [crate](crate) |
/// | descriptors have run out | it pauses, and continues when a connection ends; see [`on_accept_error`](Self::on_accept_error) |
/// | a connection fails | it is counted; see [`on_connection_error`](Self::on_connection_error) |
/// | a handler panics | its connection is closed (HTTP/1), or its stream is reset (HTTP/2) |
/// | TCP_NODELAY | set; see [`tcp_nodelay`](Self::tcp_nodelay) |
/// | TCP keep-alive | as the listener's socket has it, off for most; see [`tcp_keepalive`](Self::tcp_keepalive) |
///
/// Bodies have the limit of axum's extractors: 2 MiB, unless `DefaultBodyLimit` says otherwise.
///
/// Dropping the future closes the listener and aborts all connections.
#[must_use = "a server does nothing until it is awaited"]
pub struct Serve<L: Listener, M> {
    listener: L,
    make_service: M,
    drain: Drain,
    /// What the methods of this type have set, which is added to `drain`.
    own: Drain,
    http: Http,
    /// The time for the head of a request, if it was set.
    header_timeout: Option<Option<Duration>>,
    /// The time between two requests, if it was set.
    idle_timeout: Option<Option<Duration>>,
    body_timeout: Option<Duration>,
    sets_options: bool,
    keepalive: Option<Keepalive>,
    max_age: Option<Duration>,
    on_connection_error: Option<OnConnectionError<L::Addr>>,
}

type OnConnectionError<A> = Arc<dyn Fn(&A, &Error) + Send + Sync>;

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

    #[track_caller]
    fn into_future(self) -> Self::IntoFuture {
        let Self { listener, make_service, mut http, header_timeout, .. } = self;
        let (body_timeout, sets_options) = (self.body_timeout, self.sets_options);
        let (keepalive, max_age) = (self.keepalive, self.max_age);
        let setup_timeout = header_timeout.unwrap_or(Some(HANDSHAKE_TIMEOUT));
        if let Some(time) = header_timeout {
            http = http.header_timeout(time);
        }
        if let Some(time) = self.idle_timeout {
            http = http.idle_timeout(time);
        }
        let drain = self.drain.overridden_by(self.own);
        let make_service = with_routes_made(make_service);
        let http = Arc::new(http);
        let failures =
            Arc::new(Failures { switch: drain.switch(), hook: self.on_connection_error });
        Box::pin(drain.serve(listener, move |stream: L::Stream, peer: L::Addr, drain| {
            let mut make_service = make_service.clone();
            let (http, failures) = (http.clone(), failures.clone());
            async move {
                let ready = poll_fn(|cx| {
                    Service::<IncomingStream<'_, L>>::poll_ready(&mut make_service, cx)
                });
                let Ok(()) = ready.await;
                let Ok(service) = make_service.call(IncomingStream::new(&stream, &peer)).await;
                if sets_options {
                    stream.set_options();
                }
                if let Some(keepalive) = keepalive {
                    stream.set_tcp_keepalive(keepalive);
                }
                let io = match set_up(stream, setup_timeout, &drain).await {
                    Ok(io) => io,
                    Err(error) => return failures.note(&peer, &Error::Io(error)),
                };
                let service = service_fn(move |request: Request<Incoming>| {
                    answer(service.clone(), request.map(|body| in_time(body, body_timeout)))
                });
                // In a box, because most servers have no such limit.
                let mut age = max_age.map(|age| Box::new(Age::new(age, &drain)));
                let told = age.as_ref().map_or(&drain, |age| age.token()).clone();
                let mut serving = pin!(http.serve_connection(io, service, &told));
                let served = poll_fn(|cx| {
                    if let Some(age) = &mut age {
                        age.poll(cx);
                    }
                    serving.as_mut().poll(cx)
                });
                if let Err(error) = served.await {
                    failures.note(&peer, &error);
                }
            }
        }))
    }
}

/// What becomes of connections that fail.
struct Failures<A> {
    switch: Switch,
    hook: Option<OnConnectionError<A>>,
}

impl<A: fmt::Debug> Failures<A> {
    fn note(&self, peer: &A, error: &Error) {
        self.switch.count_failed();
        match &self.hook {
            Some(hook) => hook(peer, error),
            None => serving::connection_failed(error, peer),
        }
    }
}

/// Has a router without a state make its routes of its handlers, once for all connections. Otherwise it would do that at
/// each request.
fn with_routes_made<M: 'static>(mut make_service: M) -> M {
    let any: &mut dyn Any = &mut make_service;
    if let Some(router) = any.downcast_mut::<Router>() {
        *router = mem::take(router).with_state(());
    } else if let Some(routes) = any.downcast_mut::<MethodRouter>() {
        *routes = mem::take(routes).with_state(());
    }
    make_service
}

/// An async block, because an `async fn` would move its arguments once more, and a request is large.
#[expect(clippy::manual_async_fn, reason = "see above")]
fn answer<S>(mut service: S, request: Request) -> impl Future<Output = Result<Response, Infallible>>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    async move {
        poll_fn(|cx| service.poll_ready(cx)).await?;
        service.call(request).await
    }
}

impl<L: Listener, M> fmt::Debug for Serve<L, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("drain", &self.drain)
            .field("own", &self.own)
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}
