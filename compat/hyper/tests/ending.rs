//! How connections end: told to, after too long, or by a fault.

mod common;

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use common::{
    echo_connection, http2_client, limits, post, read_response, run, send_get, tcp_pair, text,
};
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use windlass_hyper::Io;
use windlass_hyper::server::{Error, Http};
use windlass_runtime::{spawn, yield_now};
use windlass_sync::{AutoResetEvent, CancellationToken};

/// So long that a test would hang if it had to wait for it.
const LONG: Duration = Duration::from_secs(3600);

fn patient() -> Http {
    Http::new().header_timeout(LONG).idle_timeout(LONG).linger(LONG)
}

/// The bytes are in the kernel, and nothing of the connection has been read.
#[test]
fn a_request_that_was_sent_before_the_connection_was_told_to_end_is_answered() {
    run(|| async {
        let drain = CancellationToken::new();
        drain.cancel();
        let (client, serving) = echo_connection(patient(), &drain).await;
        send_get(&client, "/late").await;
        let (head, body) = read_response(&client).await.unwrap();
        assert_eq!(body, "/late");
        assert!(head.contains("connection: close"), "{head}");
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn a_request_of_which_the_version_is_not_known_yet_is_waited_for() {
    run(|| async {
        let drain = CancellationToken::new();
        let http = patient().linger(Duration::ZERO);
        let (client, serving) = echo_connection(http, &drain).await;
        // It may be HTTP/2 so far.
        client.write_all(b"P").await.unwrap();
        // Let the server read it. If it has not, the test passes for another reason.
        for _ in 0..100 {
            yield_now().await;
        }
        drain.cancel();
        for _ in 0..100 {
            yield_now().await;
        }
        client.write_all(b"UT /half HTTP/1.1\r\n").await.unwrap();
        for _ in 0..100 {
            yield_now().await;
        }
        client.write_all(b"host: test\r\n\r\n").await.unwrap();
        assert_eq!(read_response(&client).await.unwrap().1, "/half");
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn an_idle_connection_answers_one_more_request_and_says_that_it_is_the_last() {
    run(|| async {
        let drain = CancellationToken::new();
        let (client, serving) = echo_connection(patient(), &drain).await;
        send_get(&client, "/1").await;
        let (head, _) = read_response(&client).await.unwrap();
        assert!(!head.contains("connection: close"), "{head}");
        drain.cancel();
        send_get(&client, "/2").await;
        let (head, body) = read_response(&client).await.unwrap();
        assert!(head.contains("connection: close") && body == "/2", "{head}");
        assert!(read_response(&client).await.is_none());
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn an_idle_connection_that_sends_nothing_is_closed() {
    run(|| async {
        for first in [true, false] {
            let drain = CancellationToken::new();
            let http = patient().linger(Duration::from_millis(10));
            let (client, serving) = echo_connection(http, &drain).await;
            if !first {
                send_get(&client, "/").await;
                read_response(&client).await.unwrap();
            }
            drain.cancel();
            assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
            serving.await.unwrap().unwrap();
        }
    });
}

#[test]
fn a_response_that_is_under_way_is_finished() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        let drain = CancellationToken::new();
        let events = Arc::new((AutoResetEvent::new(false), AutoResetEvent::new(false)));
        let serving = spawn({
            let (drain, events) = (drain.clone(), events.clone());
            async move {
                let service = service_fn(move |_| {
                    let events = events.clone();
                    async move {
                        events.0.set();
                        events.1.wait().await;
                        common::hello_response()
                    }
                });
                let http = patient().linger(Duration::ZERO);
                http.serve_connection(Io::new(server), service, &drain).await
            }
        });
        send_get(&client, "/").await;
        let (begun, go_on) = &*events;
        begun.wait().await;
        drain.cancel();
        for _ in 0..100 {
            yield_now().await;
        }
        go_on.set();
        let (head, body) = read_response(&client).await.unwrap();
        assert!(head.contains("connection: close") && body == "hello", "{head}");
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn http2_is_told_to_go_away_and_its_streams_are_finished() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        let drain = CancellationToken::new();
        let token = drain.clone();
        let serving = spawn(async move {
            let told = token.clone();
            let service = service_fn(move |_| {
                let told = told.clone();
                async move {
                    told.cancel();
                    for _ in 0..100 {
                        yield_now().await;
                    }
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from("slow"))))
                }
            });
            patient().serve_connection(Io::new(server), service, &token).await
        });
        let mut sender = http2_client(client).await;
        let response = sender.send_request(post("/", "")).await.unwrap();
        assert_eq!(text(response).await, "slow");
        serving.await.unwrap().unwrap();
        // The client's own connection task has yet to read what the server said last.
        while sender.ready().await.is_ok() {
            yield_now().await;
        }
    });
}

#[test]
fn a_head_that_does_not_come_to_an_end_is_not_waited_for() {
    run(|| async {
        let never = CancellationToken::new();
        for sent in ["", "P", "GET / HTTP/1.1\r\nhost: te"] {
            let http = patient().header_timeout(Duration::from_millis(20));
            let (client, serving) = echo_connection(http, &never).await;
            client.write_all(sent.as_bytes()).await.unwrap();
            assert!(read_response(&client).await.is_none());
            assert!(matches!(serving.await.unwrap(), Err(Error::HeaderTimeout)));
        }
    });
}

/// A slow loris: it always has something to say, and is cut off nevertheless. So is one that was good before.
#[test]
fn bytes_that_trickle_in_do_not_help() {
    run(|| async {
        assert!(trickles_in_vain(Duration::from_millis(50), false).await);
        for limit in limits() {
            if trickles_in_vain(limit, true).await {
                return;
            }
        }
        panic!("the first request is never in time");
    });
}

/// Returns false if the limit was over before the first request had come.
async fn trickles_in_vain(limit: Duration, good_first: bool) -> bool {
    let never = CancellationToken::new();
    let (client, serving) = echo_connection(patient().header_timeout(limit), &never).await;
    if good_first {
        send_get(&client, "/").await;
        if read_response(&client).await.is_none() {
            return false;
        }
    }
    // It may be cut off before it has said anything.
    let mut alive = client.write_all(b"GET / HTTP/1.1\r\n").await.is_ok();
    while alive {
        windlass_runtime::timer::sleep(Duration::from_millis(1)).await;
        alive = client.write_all(b"x-more: 1\r\n").await.is_ok();
    }
    assert!(matches!(serving.await.unwrap(), Err(Error::HeaderTimeout)));
    true
}

#[test]
fn an_idle_connection_is_closed_in_time_and_a_busy_one_is_not() {
    run(|| async {
        let never = CancellationToken::new();
        let http = Http::new().idle_timeout(Duration::from_millis(20));
        let (client, serving) = echo_connection(http.clone(), &never).await;
        send_get(&client, "/").await;
        read_response(&client).await.unwrap();
        assert!(read_response(&client).await.is_none());
        serving.await.unwrap().unwrap();

        let mut answered = false;
        for limit in limits() {
            let http = Http::new().idle_timeout(limit);
            let (client, serving) = echo_connection(http, &never).await;
            let mut sender = http2_client(client).await;
            // The time counts before the first request, too, which may come too late.
            if let Ok(response) = sender.send_request(post("/", "x")).await {
                text(response).await;
                serving.await.unwrap().unwrap();
                answered = true;
                break;
            }
        }
        assert!(answered, "never in time");

        let (client, server) = tcp_pair().await;
        let serving = spawn(async move {
            let slow = service_fn(|_| async {
                windlass_runtime::timer::sleep(Duration::from_millis(200)).await;
                common::hello_response()
            });
            http.serve_connection(Io::new(server), slow, &never).await
        });
        send_get(&client, "/").await;
        assert_eq!(read_response(&client).await.unwrap().1, "hello");
        drop(client);
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn a_body_over_the_limit_is_refused() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        drop(spawn(async move {
            let service = service_fn(|request: Request<Incoming>| async {
                let body = Limited::new(request.into_body(), 1000);
                let status = match body.collect().await {
                    Ok(_) => StatusCode::OK,
                    Err(_) => StatusCode::PAYLOAD_TOO_LARGE,
                };
                Response::builder().status(status).body(Full::<Bytes>::default())
            });
            let never = CancellationToken::new();
            Http::new().serve_connection(Io::new(server), service, &never).await
        }));
        let mut sender = http2_client(client).await;
        let small = sender.send_request(post("/", vec![0; 1000])).await.unwrap();
        assert_eq!(small.status(), StatusCode::OK);
        let large = sender.send_request(post("/", vec![0; 1001])).await.unwrap();
        assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
    });
}

#[test]
fn a_client_that_goes_in_the_middle_of_a_response_ends_the_connection() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        let serving = spawn(async move {
            let service = service_fn(|_| async {
                let endless = futures_core_stream(|| Frame::data(Bytes::from(vec![7; 64 * 1024])));
                Ok::<_, Infallible>(Response::new(StreamBody::new(endless)))
            });
            let never = CancellationToken::new();
            patient().serve_connection(Io::new(server), service, &never).await
        });
        send_get(&client, "/").await;
        client.read_exact(&mut [0; 1000]).await.unwrap();
        drop(client);
        assert!(matches!(serving.await.unwrap(), Err(Error::Http(_))));
    });
}

/// A stream without end.
fn futures_core_stream<T: Unpin>(
    make: impl FnMut() -> T + Unpin,
) -> impl futures_core::Stream<Item = Result<T, Infallible>> {
    struct Endless<F>(F);

    impl<T, F: FnMut() -> T + Unpin> futures_core::Stream for Endless<F> {
        type Item = Result<T, Infallible>;

        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            _cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Self::Item>> {
            std::task::Poll::Ready(Some(Ok((self.0)())))
        }
    }

    Endless(make)
}

#[test]
fn a_handler_that_panics_takes_its_own_request_along_and_no_other() {
    run(|| async {
        let service = || {
            service_fn(|request: Request<Incoming>| async move {
                assert!(request.uri().path() != "/panic", "on purpose");
                common::hello_response()
            })
        };
        let never = CancellationToken::new();
        let (client, server) = tcp_pair().await;
        let token = never.clone();
        let serving = spawn(async move {
            Http::new().serve_connection(Io::new(server), service(), &token).await
        });
        send_get(&client, "/panic").await;
        assert!(read_response(&client).await.is_none());
        assert!(serving.await.unwrap_err().is_panic());

        let (client, server) = tcp_pair().await;
        drop(spawn(async move {
            Http::new().serve_connection(Io::new(server), service(), &never).await
        }));
        let mut sender = http2_client(client).await;
        assert!(sender.send_request(post("/panic", "")).await.is_err());
        assert_eq!(text(sender.send_request(post("/", "")).await.unwrap()).await, "hello");
    });
}

#[test]
fn dropping_the_future_closes_the_connection() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        let serving = spawn(async move {
            let service = service_fn(|_| pending::<Result<Response<Full<Bytes>>, Infallible>>());
            patient().serve_connection(Io::new(server), service, &CancellationToken::new()).await
        });
        send_get(&client, "/").await;
        serving.abort();
        assert!(serving.await.unwrap_err().is_cancelled());
        assert!(read_response(&client).await.is_none());
    });
}
