//! Bodies of requests that handlers leave to a task: they are read to their end, however slowly they come.

mod common;

use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use axum::routing::post;
use common::{connect, get, read_response};
use futures_util::{StreamExt, stream};
use http_body_util::StreamBody;
use hyper::Request;
use hyper::body::{Bytes, Frame};
use windlass_axum::{Drain, serve};
use windlass_hyper::{Executor, Io};
use windlass_net::TcpListener;
use windlass_runtime::timer::{now, sleep, timeout};
use windlass_runtime::{Builder, spawn};

/// The number of bytes of a body, of which one comes at a time.
const SIZE: usize = 12;
/// The time between two of them: longer than the limits for heads and for idle connections.
const PAUSE: Duration = Duration::from_secs(50);
const LIMIT: Duration = Duration::from_secs(20);
const HOUR: Duration = Duration::from_secs(3600);

struct Server {
    address: std::net::SocketAddr,
    received: Arc<AtomicUsize>,
    switch: windlass_axum::Switch,
    serving: common::Serving,
}

impl Server {
    /// The task that reads the body may get its turn after the connection.
    async fn has_received(&self, size: usize) {
        let all = async {
            while self.received.load(SeqCst) != size {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(LIMIT, all).await.expect("the body is cut off");
    }
}

/// A server whose handler answers at once, and leaves the body to a task.
async fn server(body_timeout: Option<Duration>) -> Server {
    let received = Arc::new(AtomicUsize::new(0));
    let count = received.clone();
    let handler = move |body: Body| {
        drop(spawn(async move {
            let mut parts = body.into_data_stream();
            while let Some(Ok(part)) = parts.next().await {
                count.fetch_add(part.len(), SeqCst);
            }
        }));
        async { StatusCode::ACCEPTED }
    };
    let app = Router::new().route("/", post(handler).get(|| async { "hello" }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let drain = Drain::new().deadline(HOUR);
    let switch = drain.switch();
    let server = serve(listener, app).drain(drain);
    let server = server.header_timeout(LIMIT).idle_timeout(LIMIT).body_timeout(body_timeout);
    Server { address, received, switch, serving: spawn(server.into_future()) }
}

/// Runs a test in virtual time: pauses cost none, unless the kernel waits before it sends, which is real time. What does not happen in ten hours of that is taken to hang.
fn run(test: impl Future<Output = ()>) {
    let test = async { timeout(10 * HOUR, test).await.expect("the test hangs") };
    Builder::new().workers(1).virtual_time().build().unwrap().block_on(test);
}

#[test]
fn a_slow_body_that_goes_on_after_the_response_is_not_cut_off() {
    run(async {
        for body_timeout in [None, Some(2 * PAUSE)] {
            let server = server(body_timeout).await;
            let client = connect(server.address).await;
            client.set_nodelay(true).unwrap();
            let head = format!("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: {SIZE}\r\n\r\n");
            client.write_all(head.as_bytes()).await.unwrap();
            assert!(read_response(&client).await.unwrap().0.contains("202"));
            for _ in 0..SIZE {
                sleep(PAUSE).await;
                client.write_all(b"x").await.unwrap();
            }
            assert_eq!(get(&client, "/").await.unwrap().1, "hello");
            server.has_received(SIZE).await;
            // And then it is idle.
            assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        }
    });
}

#[test]
fn a_connection_is_idle_after_a_body_that_went_on_after_the_response() {
    run(async {
        for is_drained in [false, true] {
            let mut server = server(None).await;
            let client = connect(server.address).await;
            client.set_nodelay(true).unwrap();
            let head = "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\r\n1";
            client.write_all(head.as_bytes()).await.unwrap();
            assert!(read_response(&client).await.unwrap().0.contains("202"));
            sleep(PAUSE).await;
            if is_drained {
                server.switch.flip();
                sleep(PAUSE).await;
            }
            client.write_all(b"2").await.unwrap();
            let since = now();
            assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
            let took = now() - since;
            assert!(took < if is_drained { LIMIT / 10 } else { 3 * LIMIT }, "{took:?}");
            if is_drained {
                assert!((&mut server.serving).await.unwrap().unwrap().is_clean());
            }
            server.has_received(2).await;
        }
    });
}

/// The end of a chunked body changes when the connection was last busy, and nothing polls it then. The timer, which had
/// been armed before, fired for nothing and was not armed again.
#[test]
fn a_connection_is_idle_after_a_chunked_body_that_went_on_after_the_response() {
    run(async {
        let server = server(None).await;
        let client = connect(server.address).await;
        client.set_nodelay(true).unwrap();
        // The timer is armed for the head.
        sleep(Duration::from_secs(1)).await;
        let head = "POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n";
        client.write_all(head.as_bytes()).await.unwrap();
        assert!(read_response(&client).await.unwrap().0.contains("202"));
        sleep(PAUSE).await;
        client.write_all(b"0\r\n\r\n").await.unwrap();
        let since = now();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        let took = now() - since;
        assert!(took < 3 * LIMIT, "{took:?}");
        server.has_received(1).await;
    });
}

#[test]
fn a_slow_body_of_http2_that_goes_on_after_the_response_is_not_cut_off() {
    run(async {
        for is_drained in [false, true] {
            let mut server = server(None).await;
            let parts = stream::unfold(0, |count| async move {
                if count == SIZE {
                    return None;
                }
                sleep(PAUSE).await;
                Some((Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(b"x"))), count + 1))
            });
            let stream = connect(server.address).await;
            stream.set_nodelay(true).unwrap();
            let handshake = hyper::client::conn::http2::handshake(Executor, Io::new(stream));
            let (mut sender, connection) = handshake.await.unwrap();
            drop(spawn(connection));
            let request = Request::post(format!("http://{}/", server.address));
            let request = request.body(StreamBody::new(Box::pin(parts))).unwrap();
            assert_eq!(sender.send_request(request).await.unwrap().status(), 202);
            if is_drained {
                server.switch.flip();
                assert!((&mut server.serving).await.unwrap().unwrap().is_clean());
            } else {
                while sender.ready().await.is_ok() {
                    sleep(PAUSE).await;
                }
            }
            server.has_received(SIZE).await;
        }
    });
}
