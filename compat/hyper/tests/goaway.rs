//! How connections of HTTP/2 are closed, seen frame by frame.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::frames::{self, Client, DATA, GOAWAY, HEADERS, PING, RST_STREAM, frame};
use common::{hello_response, limits, run, run_virtually};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request};
use windlass_hyper::Io;
use windlass_hyper::server::Http;
use windlass_runtime::spawn;
use windlass_runtime::timer::{sleep, timeout};
use windlass_sync::{AutoResetEvent, CancellationToken};

const SHORT: Duration = Duration::from_millis(20);
/// Longer than a connection may take to close, when nothing is under way.
const SLOW: Duration = Duration::from_millis(5_500);

async fn connect(http: Http) -> Client {
    let service = service_fn(|request: Request<Incoming>| async move {
        if request.method() == Method::POST {
            sleep(SLOW).await;
        }
        hello_response()
    });
    Client::new(http, service).await
}

/// It was cut after the time for a head, without a word.
#[test]
fn a_client_that_connects_early_is_idle_and_is_told_to_go_away() {
    run(|| async {
        let is_told = async |header, idle| {
            let client = connect(Http::new().header_timeout(header).idle_timeout(idle)).await;
            client.frame(GOAWAY).await.is_some()
        };
        assert!(is_told(Duration::from_secs(3600), SHORT).await);
        // A client that is held up before its first words is cut.
        for header in limits() {
            if is_told(header, 2 * header).await {
                return;
            }
        }
        panic!("it is never told");
    });
}

#[test]
fn a_stream_that_begins_while_an_idle_connection_closes_is_answered() {
    run(|| async {
        let client = connect(Http::new().idle_timeout(SHORT)).await;
        client.request(Method::GET, 1).await;
        // On a crowded machine, the time may be over before the request has come.
        let mut frames = Vec::new();
        for _ in 0..2 {
            frames.push(client.of_kinds([DATA, GOAWAY]).await.unwrap());
        }
        frames.sort_unstable();
        assert_eq!(frames[0], (DATA, b"hello".to_vec()));
        assert_eq!(frames[1].0, GOAWAY);
        client.request(Method::POST, 3).await;
        assert_eq!(client.frame(DATA).await.unwrap(), b"hello");
    });
}

#[test]
fn a_client_that_does_not_react_is_not_waited_for_for_ever() {
    run(|| async {
        let client = connect(Http::new().idle_timeout(SHORT)).await;
        client.request(Method::GET, 1).await;
        client.serving.await.unwrap().unwrap();
    });
}

/// The acknowledgements counted as bytes of an answer that is still being read.
#[test]
fn a_client_that_only_pings_is_not_waited_for_for_ever() {
    run(|| async {
        let client = connect(Http::new().idle_timeout(SHORT)).await;
        client.request(Method::GET, 1).await;
        let (stream, serving) = (client.stream, client.serving);
        let pings = async move {
            // Until the connection is closed.
            while stream.write_all(&frame(PING, 0, 0, &[0; 8])).await.is_ok() {
                sleep(Duration::from_millis(500)).await;
            }
        };
        let pinging = spawn(pings);
        serving.await.unwrap().unwrap();
        pinging.await.unwrap();
    });
}

/// The end of the server waited for an answer to its ping until the deadline, also where no ping had been sent yet.
#[test]
fn a_client_that_does_not_react_does_not_hold_up_the_end_of_the_server() {
    run_virtually(async {
        for requests in [0, 1] {
            let drain = CancellationToken::new();
            let hello = service_fn(|_: Request<Incoming>| async { hello_response() });
            let client = Client::with(Http::new(), hello, &drain, b"").await;
            if requests > 0 {
                client.request(Method::GET, 1).await;
                assert_eq!(client.frame(DATA).await.unwrap(), b"hello");
            }
            drain.cancel();
            client.serving.await.unwrap().unwrap();
        }

        let (_silent, server) = common::tcp_pair().await;
        let drain = CancellationToken::new();
        drain.cancel();
        let http = Http::new().http2_only();
        http.serve_connection(Io::new(server), service_fn(common::hello), &drain).await.unwrap();
    });
}

#[test]
fn a_stream_that_is_slow_is_waited_for_at_the_end_of_the_server() {
    run_virtually(async {
        let drain = CancellationToken::new();
        let slow = service_fn(|_: Request<Incoming>| async {
            sleep(10 * SLOW).await;
            hello_response()
        });
        let client = Client::with(Http::new(), slow, &drain, b"").await;
        client.request(Method::GET, 1).await;
        sleep(SHORT).await;
        drain.cancel();
        assert_eq!(client.frame(DATA).await.unwrap(), b"hello");
        client.serving.await.unwrap().unwrap();
    });
}

/// No limit for idle connections was left after any answer of success to a CONNECT.
#[test]
fn a_connection_is_idle_when_no_stream_that_was_handed_over_is_left() {
    run_virtually(async {
        let hello = service_fn(|_: Request<Incoming>| async { hello_response() });
        let client = Client::new(Http::new().idle_timeout(SHORT), hello).await;
        client.stream.write_all(&frames::connect(1)).await.unwrap();
        client.frame(HEADERS).await.unwrap();
        client.stream.write_all(&frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])).await.unwrap();
        client.frame(GOAWAY).await.unwrap();
        client.serving.await.unwrap().unwrap();
    });
}

#[test]
fn a_connection_is_not_idle_while_a_stream_is_handed_over() {
    run_virtually(async {
        let over = Arc::new(AutoResetEvent::new(false));
        let end = over.clone();
        let upgrade = service_fn(move |request: Request<Incoming>| {
            let end = end.clone();
            drop(spawn(async move {
                let _upgraded = hyper::upgrade::on(request).await.unwrap();
                end.wait().await;
            }));
            async { hello_response() }
        });
        let client = Client::new(Http::new().idle_timeout(SHORT), upgrade).await;
        client.stream.write_all(&frames::connect(1)).await.unwrap();
        client.frame(HEADERS).await.unwrap();
        assert!(timeout(SLOW, client.frame(GOAWAY)).await.is_err());
        over.set();
        client.frame(GOAWAY).await.unwrap();
        client.serving.await.unwrap().unwrap();
    });
}
