//! Clients that take their time with an answer: no limit for idle connections applies to them, and no end of the server
//! cuts the answer short. hyper takes a body that is in memory at once, and has most of it to send when it is gone.

mod common;

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use common::frames::{
    self, Client, DATA, END_HEADERS, GOAWAY, HEADERS, PING, WINDOW_UPDATE, frame,
};
use common::{post, run_virtually, send_get, tcp_pair};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use windlass_hyper::server::{BodyHold, Error, Http};
use windlass_hyper::{Executor, Io};
use windlass_net::TcpStream;
use windlass_runtime::task::JoinHandle;
use windlass_runtime::timer::{sleep, timeout};
use windlass_runtime::{Builder, spawn};
use windlass_sync::CancellationToken;

/// More than the kernel's buffers have room for.
const LARGE: usize = 32 << 20;
/// How long the client pauses after each piece, in virtual time.
const PAUSE: Duration = Duration::from_secs(1);
const SHORT: Duration = Duration::from_millis(20);

/// Runs a test in virtual time: the pauses cost none, and a wait that lasts for ever is one that panics.
fn run(test: impl Future<Output = ()>) {
    Builder::new().workers(1).virtual_time().build().unwrap().block_on(test);
}

/// A connection whose answers are that large.
async fn connect(
    http: Http,
    size: usize,
    drain: &CancellationToken,
) -> (TcpStream, JoinHandle<Result<(), Error>>) {
    let (client, server) = tcp_pair().await;
    let drain = drain.clone();
    let serving = spawn(async move {
        let service = service_fn(move |_: Request<Incoming>| async move {
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(vec![7; size]))))
        });
        http.serve_connection(Io::new(server), service, &drain).await
    });
    (client, serving)
}

/// Reads a piece at a time, until that many bytes have come or the connection ends, and returns how many.
async fn read_slowly(client: &TcpStream, wanted: usize) -> usize {
    let mut piece = vec![0; 256 * 1024];
    let mut count = 0;
    while count < wanted {
        match client.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(more) => count += more,
        }
        sleep(PAUSE).await;
    }
    count
}

#[test]
fn an_answer_that_is_read_slowly_is_not_cut_by_the_idle_limit() {
    run(async {
        let never = CancellationToken::new();
        let (client, serving) = connect(Http::new().idle_timeout(SHORT), LARGE, &never).await;
        send_get(&client, "/").await;
        let count = read_slowly(&client, LARGE).await;
        assert!(count >= LARGE, "{count} bytes of {LARGE}");
        // And then it is idle.
        while client.read(&mut [0; 1024]).await.unwrap() > 0 {}
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn an_answer_that_is_read_slowly_is_not_cut_by_a_drain() {
    run(async {
        let drain = CancellationToken::new();
        let http = Http::new().linger(Duration::ZERO);
        let (client, serving) = connect(http, LARGE, &drain).await;
        send_get(&client, "/").await;
        let begun = read_slowly(&client, 1).await;
        drain.cancel();
        let count = begun + read_slowly(&client, LARGE - begun).await;
        assert!(count >= LARGE, "{count} bytes of {LARGE}");
        while client.read(&mut [0; 1024]).await.unwrap() > 0 {}
        serving.await.unwrap().unwrap();
    });
}

/// The bytes wait for the client's window, and so no write waits for the socket.
#[test]
fn a_stream_whose_client_opens_its_window_slowly_is_not_cut_by_the_idle_limit() {
    run(async {
        const SIZE: usize = 1 << 20;
        let never = CancellationToken::new();
        let (client, serving) = connect(Http::new().idle_timeout(SHORT), SIZE, &never).await;
        let (mut sender, connection) = hyper::client::conn::http2::Builder::new(Executor)
            .initial_stream_window_size(64 * 1024)
            .handshake(Io::new(client))
            .await
            .unwrap();
        drop(spawn(connection));
        let mut body = sender.send_request(post("/", "")).await.unwrap().into_body();
        let mut count = 0;
        while let Some(frame) = body.frame().await {
            count += frame.expect("the stream is cut").into_data().unwrap().len();
            sleep(PAUSE).await;
        }
        assert_eq!(count, SIZE);
        serving.await.unwrap().unwrap();
    });
}

/// A client without a window takes nothing, and no write waits for it: its answers were kept for good.
#[test]
fn answers_that_no_window_opens_for_are_given_up() {
    run_virtually(async {
        let never = CancellationToken::new();
        let hello = service_fn(common::hello);
        let no_window = [0, 4, 0, 0, 0, 0];
        let http = Http::new().idle_timeout(None).write_timeout(60 * PAUSE);
        let client = Client::with(http, hello, &never, &no_window).await;
        for number in 0..100 {
            client.request(Method::GET, 2 * number + 1).await;
        }
        // Not at once: it may open the window in time.
        assert!(timeout(50 * PAUSE, client.frame(GOAWAY)).await.is_err());
        client.stream.write_all(&frame(WINDOW_UPDATE, 0, 1, &[0, 0, 1, 0])).await.unwrap();
        assert_eq!(client.frame(DATA).await.unwrap(), b"hello");
        assert!(timeout(50 * PAUSE, client.frame(GOAWAY)).await.is_err());
        // A client that pings is no better.
        for _ in 0..12 {
            client.stream.write_all(&frame(PING, 0, 0, &[0; 8])).await.unwrap();
            sleep(PAUSE).await;
        }
        client.frame(GOAWAY).await.unwrap();
        client.serving.await.unwrap().unwrap();
    });
}

/// The body of a request never waits for the client's window, so as long as somebody held on to one, there was no limit.
#[test]
fn an_answer_that_no_window_opens_for_is_given_up_beside_the_body_of_its_request() {
    run_virtually(async {
        let never = CancellationToken::new();
        let answers_at_once = service_fn(|request: Request<Incoming>| {
            let held = (BodyHold::take(), request);
            drop(spawn(async move {
                let _held = held;
                pending::<()>().await;
            }));
            async { common::hello_response() }
        });
        let no_window = [0, 4, 0, 0, 0, 0];
        let http = Http::new().idle_timeout(None).write_timeout(60 * PAUSE);
        let client = Client::with(http, answers_at_once, &never, &no_window).await;
        let head = frame(HEADERS, END_HEADERS, 1, &frames::head(Method::POST));
        client.stream.write_all(&[head, frame(DATA, 0, 1, b"x")].concat()).await.unwrap();
        // As long as the body comes, the client is not idle.
        for _ in 0..3 {
            assert!(timeout(50 * PAUSE, client.frame(GOAWAY)).await.is_err());
            client.stream.write_all(&frame(DATA, 0, 1, &[7; 8 << 10])).await.unwrap();
        }
        timeout(200 * PAUSE, client.frame(GOAWAY)).await.expect("it is kept").unwrap();
        client.serving.await.unwrap().unwrap();
    });
}

/// A client that takes nothing at all is not waited for, whatever is left for it.
#[test]
fn an_answer_that_is_not_read_is_given_up() {
    run(async {
        let never = CancellationToken::new();
        let (client, serving) = connect(Http::new().idle_timeout(SHORT), LARGE, &never).await;
        send_get(&client, "/").await;
        assert!(serving.await.unwrap().is_err());
        drop(client);
    });
}
