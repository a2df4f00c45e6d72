//! What the tests share: a runtime with a deadline, a server, and a client that speaks HTTP/1 by hand.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod frames;

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use windlass_hyper::server::{Error, Http};
use windlass_hyper::{Executor, Io};
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::task::JoinHandle;
use windlass_runtime::timer::timeout;
use windlass_runtime::{Builder, spawn};
use windlass_sync::CancellationToken;

/// Nothing here takes longer unless something hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// Runs a test on a runtime of its own; panics if it does not end in time.
pub(crate) fn run<Fut: Future<Output = ()>>(test: impl FnOnce() -> Fut + Send + 'static) {
    let (done, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _done = done;
        Builder::new().workers(2).build().unwrap().block_on(test());
    });
    match ended.recv_timeout(DEADLINE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Runs a test in virtual time: pauses cost none. What does not happen in ten minutes of that is taken to hang.
pub(crate) fn run_virtually(test: impl Future<Output = ()>) {
    let long = Duration::from_secs(600);
    let test = async { timeout(long, test).await.expect("the test hangs") };
    Builder::new().workers(1).virtual_time().build().unwrap().block_on(test);
}

/// Longer and longer limits, the first one short: for what has to be done before one is over, on a machine that stands
/// still now and then.
pub(crate) fn limits() -> impl Iterator<Item = Duration> {
    [20, 60, 200, 600, 2_000, 6_000].into_iter().map(Duration::from_millis)
}

/// Two ends of a TCP connection.
pub(crate) async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    // The kernel's waits are real, also where time is virtual.
    for end in [&client, &server] {
        end.set_nodelay(true).unwrap();
    }
    (client, server)
}

/// Echoes the body, or the path of a request without one.
pub(crate) async fn echo(
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Box<dyn std::error::Error + Send + Sync>> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let body = if body.is_empty() { Bytes::from(path) } else { body };
    Ok(Response::new(Full::new(body)))
}

/// The client's end of a connection that [`echo`] is served on.
pub(crate) async fn echo_connection(
    http: Http,
    drain: &CancellationToken,
) -> (TcpStream, JoinHandle<Result<(), Error>>) {
    let (client, server) = tcp_pair().await;
    let drain = drain.clone();
    let serving =
        spawn(
            async move { http.serve_connection(Io::new(server), service_fn(echo), &drain).await },
        );
    (client, serving)
}

/// A server of [`echo`] that accepts until the runtime ends.
pub(crate) async fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(spawn(async move {
                let never = CancellationToken::new();
                Http::new().serve_connection(Io::new(stream), service_fn(echo), &never).await
            }));
        }
    }));
    address
}

/// A service that says hello.
pub(crate) async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    hello_response()
}

pub(crate) fn hello_response() -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(b"hello"))))
}

/// A request of HTTP/1, by hand.
pub(crate) async fn send_get(stream: &TcpStream, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
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

/// A client of HTTP/2 at the other end of a connection that `http` serves.
pub(crate) async fn http2_client(
    stream: TcpStream,
) -> hyper::client::conn::http2::SendRequest<Full<Bytes>> {
    let (sender, connection) =
        hyper::client::conn::http2::handshake(Executor, Io::new(stream)).await.unwrap();
    drop(spawn(connection));
    sender
}

pub(crate) fn post(path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post(format!("http://test{path}")).body(Full::new(body.into())).unwrap()
}

pub(crate) async fn text(response: Response<Incoming>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}
