//! A client of HTTP/2 that sends the frames that a test wants, and no others.

use std::convert::Infallible;
use std::future::Future;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::Service;
use hyper::{Method, Request, Response};
use windlass_hyper::Io;
use windlass_hyper::server::{Error, Http};
use windlass_net::TcpStream;
use windlass_runtime::spawn;
use windlass_runtime::task::JoinHandle;
use windlass_sync::CancellationToken;

use super::tcp_pair;

// Kinds of frames.
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

// Flags of SETTINGS, and of HEADERS.
pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The head of a request for `/`, by the static table of HPACK.
pub(crate) fn head(method: Method) -> Vec<u8> {
    let method = if method == Method::GET { 0x82 } else { 0x83 };
    let (http, root, authority) = (0x86, 0x84, [0x41, 4, b't', b'e', b's', b't']);
    [&[method, http, root][..], &authority].concat()
}

/// A request without a body.
pub(crate) fn request(method: Method, stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &head(method))
}

/// A request for a WebSocket: the extended CONNECT of RFC 8441.
pub(crate) fn connect(stream: u32) -> Vec<u8> {
    let method = [&[0x42, 7][..], b"CONNECT"].concat();
    let protocol = [&[0, 9][..], b":protocol", &[9], b"websocket"].concat();
    let head = [method, head(Method::GET)[1..].to_vec(), protocol].concat();
    frame(HEADERS, END_HEADERS, stream, &head)
}

/// It answers no ping: so the server can't know that it has seen a GOAWAY.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    pub(crate) serving: JoinHandle<Result<(), Error>>,
}

impl Client {
    pub(crate) async fn new<S, F>(http: Http, service: S) -> Self
    where
        S: Service<
                Request<Incoming>,
                Response = Response<Full<Bytes>>,
                Error = Infallible,
                Future = F,
            >,
        S: Send + Sync + 'static,
        F: Future<Output = Result<S::Response, Infallible>> + Send + 'static,
    {
        Self::with(http, service, &CancellationToken::new(), b"").await
    }

    /// As [`new`](Self::new), with a token that tells the server to end, and the client's settings.
    pub(crate) async fn with<S, F>(
        http: Http,
        service: S,
        drain: &CancellationToken,
        settings: &[u8],
    ) -> Self
    where
        S: Service<
                Request<Incoming>,
                Response = Response<Full<Bytes>>,
                Error = Infallible,
                Future = F,
            >,
        S: Send + Sync + 'static,
        F: Future<Output = Result<S::Response, Infallible>> + Send + 'static,
    {
        let (stream, server) = tcp_pair().await;
        let drain = drain.clone();
        let serving =
            spawn(async move { http.serve_connection(Io::new(server), service, &drain).await });
        // At once: what follows on a connection that the server has closed is an error.
        let mut first = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        first.extend(frame(SETTINGS, 0, 0, settings));
        stream.write_all(&first).await.unwrap();
        Self { stream, serving }
    }

    pub(crate) async fn request(&self, method: Method, stream: u32) {
        self.stream.write_all(&request(method, stream)).await.unwrap();
    }

    /// Reads up to a frame of that kind, and returns its payload; `None` if the connection ends before.
    pub(crate) async fn frame(&self, wanted: u8) -> Option<Vec<u8>> {
        Some(self.of_kinds([wanted]).await?.1)
    }

    /// Reads up to a frame of one of these kinds, and returns its kind and its payload.
    pub(crate) async fn of_kinds<const N: usize>(&self, wanted: [u8; N]) -> Option<(u8, Vec<u8>)> {
        loop {
            let mut head = [0; 9];
            self.stream.read_exact(&mut head).await.ok()?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; length.try_into().unwrap()];
            self.stream.read_exact(&mut payload).await.ok()?;
            // The end of a body may come in a frame of its own.
            if wanted.contains(&head[3]) && !(head[3] == DATA && payload.is_empty()) {
                return Some((head[3], payload));
            }
        }
    }
}
