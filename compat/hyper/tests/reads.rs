//! Whether a connection is idle or has the next head under way, however the bytes are cut into reads.

mod common;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use common::{limits, read_response, run, tcp_pair};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use windlass_hyper::Io;
use windlass_hyper::server::{Error, Http};
use windlass_net::TcpStream;
use windlass_runtime::task::JoinHandle;
use windlass_runtime::timer::timeout;
use windlass_runtime::{spawn, yield_now};
use windlass_sync::{AutoResetEvent, CancellationToken};

/// So long that a test would hang if it had to wait for it.
const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(20);

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";
const POST: &[u8] = b"POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 4\r\n\r\n";
const CHUNKED: &[u8] = b"POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n";
const HALF: &[u8] = b"GET /next HTTP/1.1\r\nho";
const REST: &[u8] = b"st: test\r\n\r\n";

/// When the service answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// When it has all of the body.
    AfterTheBody,
    /// At once, without a look at the body.
    AtOnce,
    /// When the test says so, after the body.
    WhenTold,
}

struct Server {
    client: TcpStream,
    serving: JoinHandle<Result<(), Error>>,
    drain: CancellationToken,
    called: Arc<AutoResetEvent>,
    go_on: Arc<AutoResetEvent>,
}

async fn serve(http: Http, answer: Answer) -> Server {
    let (client, server) = tcp_pair().await;
    let drain = CancellationToken::new();
    let called = Arc::new(AutoResetEvent::new(false));
    let go_on = Arc::new(AutoResetEvent::new(false));
    let serving = spawn({
        let (drain, called, go_on) = (drain.clone(), called.clone(), go_on.clone());
        async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let (called, go_on) = (called.clone(), go_on.clone());
                async move {
                    called.set();
                    if answer != Answer::AtOnce {
                        drop(request.into_body().collect().await);
                    }
                    if answer == Answer::WhenTold {
                        go_on.wait().await;
                    }
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"done"))))
                }
            });
            http.serve_connection(Io::new(server), service, &drain).await
        }
    });
    Server { client, serving, drain, called, go_on }
}

impl Server {
    async fn send(&self, bytes: &[u8]) {
        self.client.write_all(bytes).await.unwrap();
    }

    /// Returns the head of the response.
    async fn response(&self) -> String {
        let (head, body) = read_response(&self.client).await.unwrap();
        assert_eq!(body, "done");
        head
    }
}

/// Sends a request in two parts, and reads the response. The parts arrive in reads of their own,
/// unless the answer may come before the second: then hyper may close the connection rather than
/// wait for the body.
async fn exchange(server: &Server, first: &[u8], second: &[u8], answer: Answer) {
    try_exchange(server, first, second, answer, LONG).await.expect("a response");
}

/// As [`exchange`]. `None` if the service is not called within that time, or the connection ends.
async fn try_exchange(
    server: &Server,
    first: &[u8],
    second: &[u8],
    answer: Answer,
    patience: Duration,
) -> Option<()> {
    if answer == Answer::AtOnce {
        server.client.write_all(&[first, second].concat()).await.ok()?;
    } else {
        server.client.write_all(first).await.ok()?;
        timeout(patience, server.called.wait()).await.ok()?;
        server.client.write_all(second).await.ok()?;
    }
    if answer == Answer::WhenTold {
        settle().await;
        server.go_on.set();
    }
    let (_, body) = read_response(&server.client).await?;
    assert_eq!(body, "done");
    Some(())
}

/// Lets the server read what was sent. If it has not, the test passes for another reason.
async fn settle() {
    for _ in 0..200 {
        yield_now().await;
    }
}

fn patient() -> Http {
    Http::new().header_timeout(LONG).idle_timeout(LONG).linger(LONG)
}

fn half_closing(mut http: Http, half_close: bool) -> Http {
    http.http1().half_close(half_close);
    http
}

/// Requests that leave the connection idle, each with its body, and how it is answered.
fn idle_after() -> impl Iterator<Item = (bool, &'static [u8], &'static [u8], Answer)> {
    let requests: [(&[u8], &[u8], Answer); 5] = [
        (GET, b"", Answer::AfterTheBody),
        (POST, b"body", Answer::AfterTheBody),
        (CHUNKED, b"4\r\nbody\r\n0\r\n\r\n", Answer::AfterTheBody),
        (POST, b"body", Answer::AtOnce),
        (POST, b"body", Answer::WhenTold),
    ];
    [false, true].into_iter().flat_map(move |half_close| {
        requests.into_iter().map(move |(head, body, answer)| (half_close, head, body, answer))
    })
}

#[test]
fn a_connection_is_idle_after_a_body_that_came_by_itself_and_ends_promptly() {
    run(|| async {
        for (half_close, head, body, answer) in idle_after() {
            let http = half_closing(patient().header_timeout(None).linger(SHORT), half_close);
            let server = serve(http, answer).await;
            for _ in 0..2 {
                exchange(&server, head, body, answer).await;
            }
            server.drain.cancel();
            server.serving.await.unwrap().unwrap();
        }
    });
}

#[test]
fn the_idle_timeout_counts_after_a_body_that_came_by_itself() {
    run(|| async {
        for (half_close, head, body, answer) in idle_after() {
            let http = half_closing(patient().header_timeout(None).idle_timeout(SHORT), half_close);
            let server = serve(http, answer).await;
            exchange(&server, head, body, answer).await;
            server.serving.await.unwrap().unwrap();
        }
    });
}

/// What is sent before the response, with a part of the next head at its end.
fn left_over() -> [(Vec<u8>, Vec<u8>, Answer); 5] {
    [
        // In the read of the head.
        ([GET, HALF].concat(), Vec::new(), Answer::AfterTheBody),
        // In the read of the body.
        (POST.to_vec(), [b"body", HALF].concat(), Answer::AfterTheBody),
        (POST.to_vec(), [b"body", HALF].concat(), Answer::AtOnce),
        // While the request is being answered.
        (GET.to_vec(), HALF.to_vec(), Answer::WhenTold),
        (POST.to_vec(), [b"body", HALF].concat(), Answer::WhenTold),
    ]
}

#[test]
fn a_head_that_began_to_arrive_with_the_request_before_is_waited_for() {
    run(|| async {
        for (first, second, answer) in left_over() {
            let server = serve(patient().linger(Duration::ZERO), answer).await;
            exchange(&server, &first, &second, answer).await;
            server.drain.cancel();
            settle().await;
            server.send(REST).await;
            server.go_on.set();
            let head = server.response().await;
            assert!(head.contains("connection: close"), "{head}");
            server.serving.await.unwrap().unwrap();
        }
    });
}

#[test]
fn a_head_that_began_to_arrive_with_the_request_before_is_not_waited_for_for_ever() {
    run(|| async {
        for (first, second, answer) in left_over() {
            let mut ended = None;
            for limit in limits() {
                let server = serve(patient().header_timeout(limit), answer).await;
                // The time counts for the first head, too, which may come too late.
                if try_exchange(&server, &first, &second, answer, 10 * limit).await.is_some() {
                    ended = Some(server.serving.await.unwrap());
                    break;
                }
            }
            assert!(matches!(ended, Some(Err(Error::HeaderTimeout))), "{answer:?}: {ended:?}");
        }
    });
}

#[test]
fn pipelined_requests_are_answered_one_by_one() {
    run(|| async {
        let http = patient().linger(SHORT);
        let server = serve(http, Answer::AfterTheBody).await;
        let post = [POST, b"body"].concat();
        server.send(&[&post, GET, &post, &post, GET].concat()).await;
        let mut bytes = Vec::new();
        while bytes.windows(4).filter(|window| *window == b"done").count() < 5 {
            assert!(server.client.read_buf(&mut bytes).await.unwrap() > 0);
        }
        server.drain.cancel();
        server.serving.await.unwrap().unwrap();
    });
}
