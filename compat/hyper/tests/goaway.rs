//! How connections of HTTP/2 are closed, seen frame by frame.

mod common;

use std::time::Duration;

use common::{hello_response, run, tcp_pair};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request};
use windlass_hyper::Io;
use windlass_hyper::server::{Error, Http};
use windlass_net::TcpStream;
use windlass_runtime::spawn;
use windlass_runtime::task::JoinHandle;
use windlass_runtime::timer::sleep;
use windlass_sync::CancellationToken;

const SHORT: Duration = Duration::from_millis(20);
/// Longer than a connection may take to close, when nothing is under way.
const SLOW: Duration = Duration::from_millis(5_500);

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

/// A client that does what the test says, and answers no ping: so the server can't know that it has seen a GOAWAY.
struct Client {
    stream: TcpStream,
    serving: JoinHandle<Result<(), Error>>,
}

impl Client {
    async fn new(http: Http) -> Self {
        let (stream, server) = tcp_pair().await;
        let serving = spawn(async move {
            let service = service_fn(|request: Request<Incoming>| async move {
                if request.method() == Method::POST {
                    sleep(SLOW).await;
                }
                hello_response()
            });
            http.serve_connection(Io::new(server), service, &CancellationToken::new()).await
        });
        let client = Self { stream, serving };
        client.stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        client.send(SETTINGS, 0, 0, b"").await;
        client
    }

    async fn send(&self, kind: u8, flags: u8, stream: u8, payload: &[u8]) {
        let length = u8::try_from(payload.len()).unwrap();
        let frame = [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat();
        self.stream.write_all(&frame).await.unwrap();
    }

    /// Sends a request without a body, by the static table of HPACK.
    async fn request(&self, method: Method, stream: u8) {
        let method = if method == Method::GET { 0x82 } else { 0x83 };
        let (http, root, authority) = (0x86, 0x84, [0x41, 4, b't', b'e', b's', b't']);
        let head = [&[method, http, root][..], &authority].concat();
        self.send(HEADERS, 0x5, stream, &head).await;
    }

    /// Reads up to a frame of that kind, and returns its payload; `None` if the connection ends before.
    async fn frame(&self, wanted: u8) -> Option<Vec<u8>> {
        loop {
            let mut head = [0; 9];
            self.stream.read_exact(&mut head).await.ok()?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; length.try_into().unwrap()];
            self.stream.read_exact(&mut payload).await.ok()?;
            if head[3] == wanted {
                return Some(payload);
            }
        }
    }
}

/// It was cut after the time for a head, without a word.
#[test]
fn a_client_that_connects_early_is_idle_and_is_told_to_go_away() {
    run(|| async {
        for header in [SHORT, Duration::from_secs(3600)] {
            let idle = 2 * SHORT;
            let client = Client::new(Http::new().header_timeout(header).idle_timeout(idle)).await;
            assert!(client.frame(GOAWAY).await.is_some());
        }
    });
}

#[test]
fn a_stream_that_begins_while_an_idle_connection_closes_is_answered() {
    run(|| async {
        let client = Client::new(Http::new().idle_timeout(SHORT)).await;
        client.request(Method::GET, 1).await;
        assert_eq!(client.frame(DATA).await.unwrap(), b"hello");
        assert!(client.frame(GOAWAY).await.is_some());
        client.request(Method::POST, 3).await;
        assert_eq!(client.frame(DATA).await.unwrap(), b"hello");
    });
}

#[test]
fn a_client_that_does_not_react_is_not_waited_for_for_ever() {
    run(|| async {
        let client = Client::new(Http::new().idle_timeout(SHORT)).await;
        client.request(Method::GET, 1).await;
        client.serving.await.unwrap().unwrap();
    });
}
