//! What the tests share: a runtime with a deadline, servers, and a client that speaks HTTP/1 by hand.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::convert::Infallible;
use std::future::{Future, IntoFuture};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use windlass_axum::{Drain, DrainReport, Serve, Switch, serve};
use windlass_hyper::{Executor, Io};
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::task::JoinHandle;
use windlass_runtime::{Builder, spawn};
use windlass_tokio::BuilderExt;

/// Nothing here takes longer unless something hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

pub(crate) type Serving = JoinHandle<std::io::Result<DrainReport>>;

/// Runs a test on a runtime of its own; panics if it does not end in time.
pub(crate) fn run<Fut: Future<Output = ()>>(test: impl FnOnce() -> Fut + Send + 'static) {
    run_on(Builder::new().workers(2), test);
}

/// As [`run`], on a runtime that has tokio beside it.
pub(crate) fn run_bridged<Fut: Future<Output = ()>>(test: impl FnOnce() -> Fut + Send + 'static) {
    run_on(Builder::new().workers(2).thread_name(BRIDGED).with_tokio(), test);
}

/// What the names of a bridged runtime's threads begin with.
pub(crate) const BRIDGED: &str = "bridged";

fn run_on<Fut: Future<Output = ()>>(builder: Builder, test: impl FnOnce() -> Fut + Send + 'static) {
    let (done, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _done = done;
        builder.build().unwrap().block_on(test());
    });
    match ended.recv_timeout(DEADLINE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Serves a router over TCP.
pub(crate) async fn server(app: Router) -> (SocketAddr, Switch, Serving) {
    server_with(app, |serve| serve).await
}

/// As [`server`], with settings.
pub(crate) async fn server_with(
    app: Router,
    set: impl FnOnce(Serve<TcpListener, Router>) -> Serve<TcpListener, Router>,
) -> (SocketAddr, Switch, Serving) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let drain = Drain::new();
    let switch = drain.switch();
    let serving = spawn(set(serve(listener, app).drain(drain)).into_future());
    (address, switch, serving)
}

pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

/// A request of HTTP/1, by hand, and the status and body of its response.
pub(crate) async fn ask(stream: &TcpStream, request: &str) -> Option<(u16, String)> {
    stream.write_all(request.as_bytes()).await.ok()?;
    let (head, body) = read_response(stream).await?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body))
}

pub(crate) async fn get(stream: &TcpStream, path: &str) -> Option<(u16, String)> {
    ask(stream, &format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")).await
}

/// Reads a response with a content length: its head, in lower case, and its body.
pub(crate) async fn read_response(stream: &TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap_or("0").parse().unwrap();
            if bytes.len() >= end + 4 + length {
                return Some((head, String::from_utf8(bytes[end + 4..].to_vec()).unwrap()));
            }
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

pub(crate) type Sender = hyper::client::conn::http2::SendRequest<Full<Bytes>>;

/// A client of HTTP/2.
pub(crate) async fn http2(address: SocketAddr) -> Sender {
    try_http2(connect(address).await).await.unwrap()
}

/// A client of HTTP/2 on a connection, unless that ends.
pub(crate) async fn try_http2(stream: TcpStream) -> Option<Sender> {
    let handshake = hyper::client::conn::http2::handshake(Executor, Io::new(stream));
    let (sender, connection) = handshake.await.ok()?;
    drop(spawn(connection));
    Some(sender)
}

pub(crate) fn request(path: &str) -> Request<Full<Bytes>> {
    Request::get(format!("http://test{path}")).body(Full::default()).unwrap()
}

pub(crate) async fn text(response: Response<Incoming>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A stream that asks a function for its next item.
pub(crate) struct Items<F>(pub(crate) F);

impl<T, F: FnMut() -> Option<T> + Unpin> futures_core::Stream for Items<F> {
    type Item = Result<T, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready((self.0)().map(Ok))
    }
}
