//! Bodies of requests that go on after the response: as long as they come, no limit and no end of the server cuts them off.

mod common;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use common::frames::{self, ACK, Client, DATA, END_HEADERS, END_STREAM, HEADERS, SETTINGS, frame};
use common::{hello_response, read_response, run_virtually, send_get, tcp_pair};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::{Service, service_fn};
use hyper::{Method, Request, Response};
use windlass_hyper::Io;
use windlass_hyper::server::{Error, Http};
use windlass_net::TcpStream;
use windlass_runtime::spawn;
use windlass_runtime::task::JoinHandle;
use windlass_runtime::timer::{sleep, timeout};
use windlass_sync::CancellationToken;

/// What comes of a body in each second.
const PIECE: usize = 64 * 1024;
/// Longer than each limit.
const SECONDS: usize = 60;
const SIZE: usize = PIECE * SECONDS;
const SECOND: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(20);

fn http() -> Http {
    Http::new().header_timeout(LIMIT).idle_timeout(LIMIT)
}

/// A service that answers at once, and leaves the body to a task that counts its bytes.
fn answers_at_once(
    received: &Arc<AtomicUsize>,
) -> impl Service<
    Request<Incoming>,
    Response = Response<Full<Bytes>>,
    Error = Infallible,
    Future = impl Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static,
> + Send
+ Sync
+ 'static {
    let received = received.clone();
    service_fn(move |request: Request<Incoming>| {
        let received = received.clone();
        drop(spawn(async move {
            let mut body = request.into_body();
            while let Some(Ok(frame)) = body.frame().await {
                received.fetch_add(frame.into_data().unwrap().len(), SeqCst);
            }
        }));
        async { hello_response() }
    })
}

async fn connect(
    received: &Arc<AtomicUsize>,
    drain: &CancellationToken,
) -> (TcpStream, JoinHandle<Result<(), Error>>) {
    let (client, server) = tcp_pair().await;
    let (service, drain) = (answers_at_once(received), drain.clone());
    let serving =
        spawn(async move { http().serve_connection(Io::new(server), service, &drain).await });
    (client, serving)
}

/// The task that reads the body may get its turn after the connection.
async fn has_received(received: &AtomicUsize, size: usize) {
    let all = async {
        while received.load(SeqCst) != size {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(SECOND, all).await.expect("the body is cut off");
}

/// Sends the head of a request with a body of `SIZE` bytes, and reads the answer.
async fn begin(client: &TcpStream) {
    let head = format!("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: {SIZE}\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(read_response(client).await.unwrap().1, "hello");
}

/// The limit for heads, which counted as soon as the response was sent, cut it off.
#[test]
fn a_body_that_goes_on_after_the_response_is_not_cut_off() {
    run_virtually(async {
        let (received, never) = (Arc::default(), CancellationToken::new());
        let (client, serving) = connect(&received, &never).await;
        begin(&client).await;
        for _ in 0..SECONDS {
            client.write_all(&vec![7; PIECE]).await.unwrap();
            sleep(SECOND).await;
        }
        has_received(&received, SIZE).await;
        // The connection is as good as any, and so are its limits.
        send_get(&client, "/").await;
        assert_eq!(read_response(&client).await.unwrap().1, "hello");
        client.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        assert!(read_response(&client).await.is_none());
        assert!(matches!(serving.await.unwrap(), Err(Error::HeaderTimeout)));
    });
}

#[test]
fn the_end_of_the_server_does_not_cut_off_a_body_after_the_response() {
    run_virtually(async {
        let (received, drain) = (Arc::default(), CancellationToken::new());
        let (client, serving) = connect(&received, &drain).await;
        begin(&client).await;
        for second in 0..SECONDS {
            client.write_all(&vec![7; PIECE]).await.unwrap();
            sleep(SECOND).await;
            if second == 2 {
                drain.cancel();
            }
        }
        has_received(&received, SIZE).await;
        serving.await.unwrap().unwrap();
    });
}

/// The limit for idle connections, and then the end of the server, cut it off.
#[test]
fn a_body_of_http2_that_goes_on_after_the_response_is_not_cut_off() {
    run_virtually(async {
        for is_drained in [false, true] {
            let (received, drain) = (Arc::default(), CancellationToken::new());
            let service = answers_at_once(&received);
            let client = Client::with(http(), service, &drain, b"").await;
            // The server's window holds from then on.
            client.frame(SETTINGS).await.unwrap();
            let seen = frame(SETTINGS, ACK, 0, b"");
            let head = frame(HEADERS, END_HEADERS, 1, &frames::head(Method::POST));
            client.stream.write_all(&[seen, head].concat()).await.unwrap();
            assert_eq!(client.frame(DATA).await.unwrap(), b"hello");
            let piece = frame(DATA, 0, 1, &[7; PIECE / 4]).repeat(4);
            for second in 0..SECONDS {
                client.stream.write_all(&piece).await.unwrap();
                sleep(SECOND).await;
                if is_drained && second == 2 {
                    drain.cancel();
                }
            }
            client.stream.write_all(&frame(DATA, END_STREAM, 1, b"")).await.unwrap();
            client.serving.await.unwrap().unwrap();
            has_received(&received, SIZE).await;
        }
    });
}

/// A client that stops in the middle of such a body is as good as idle.
#[test]
fn a_body_that_stops_after_the_response_is_not_waited_for() {
    run_virtually(async {
        let (received, never) = (Arc::default(), CancellationToken::new());
        let (client, serving) = connect(&received, &never).await;
        begin(&client).await;
        client.write_all(&vec![7; PIECE]).await.unwrap();
        let _ = serving.await.unwrap();
        has_received(&received, PIECE).await;
    });
}
