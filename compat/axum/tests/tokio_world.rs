//! Parts of axum and tower that call tokio while they run, unmodified through the bridge, over HTTP/1 and HTTP/2.

mod common;

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use axum::routing::get;
use common::{connect, http2, request, run_bridged, server};
use futures_util::stream;
use http_body_util::BodyExt;
use tower_http::timeout::TimeoutLayer;
use windlass_axum::{Drain, Switch, serve};
use windlass_net::TcpListener;
use windlass_runtime::spawn;
use windlass_sync::CancellationToken;

/// An event, nothing but comments until `go`, and a last event.
fn events(
    go: CancellationToken,
) -> Sse<impl futures_core::Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(0, move |number| {
        let go = go.clone();
        async move {
            match number {
                0 => {}
                1 => go.cancelled().await,
                _ => return None,
            }
            Some((Ok(Event::default().data(format!("event {number}"))), number + 1))
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_millis(5)).text("alive"))
}

/// Comments keep the stream alive, until it goes on; all of it is in order.
fn check(text: &str) {
    let (first, rest) = text.split_once("data: event 0\n\n").expect("a first event");
    let (comments, last) = rest.split_once("data: event 1\n\n").expect("a second event");
    assert!(first.is_empty() && last.is_empty(), "{text:?}");
    assert!(comments.matches(": alive\n\n").count() >= 3, "{text:?}");
}

#[test]
fn server_sent_events_are_kept_alive_over_http1() {
    run_bridged(|| async {
        let go = CancellationToken::new();
        let stream = {
            let go = go.clone();
            move || async move { events(go) }
        };
        let (address, switch, serving) = server(Router::new().route("/", get(stream))).await;
        let client = connect(address).await;
        client
            .write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut bytes = Vec::new();
        while String::from_utf8_lossy(&bytes).matches(": alive").count() < 3 {
            assert_ne!(client.read_buf(&mut bytes).await.unwrap(), 0);
        }
        go.cancel();
        while client.read_buf(&mut bytes).await.unwrap() > 0 {}
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("text/event-stream"), "{head}");
        check(&unchunked(body));
        switch.flip();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

/// The content of a body with chunked transfer encoding.
fn unchunked(mut body: &str) -> String {
    let mut content = String::new();
    loop {
        let (length, rest) = body.split_once("\r\n").unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return content;
        }
        content.push_str(&rest[..length]);
        body = &rest[length + 2..];
    }
}

#[test]
fn server_sent_events_are_kept_alive_over_http2() {
    run_bridged(|| async {
        let go = CancellationToken::new();
        let stream = {
            let go = go.clone();
            move || async move { events(go) }
        };
        let (address, switch, serving) = server(Router::new().route("/", get(stream))).await;
        let mut sender = http2(address).await;
        let mut body = sender.send_request(request("/")).await.unwrap().into_body();
        let mut text = String::new();
        while let Some(frame) = body.frame().await {
            let bytes = frame.unwrap().into_data().unwrap();
            text.push_str(std::str::from_utf8(&bytes).unwrap());
            if text.matches(": alive").count() >= 3 {
                go.cancel();
            }
        }
        check(&text);
        switch.flip();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

/// A stream without an end, which is told that the server ends.
#[test]
fn server_sent_events_end_with_the_server() {
    run_bridged(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let drain = Drain::new();
        let switch = drain.switch();
        let app = Router::new()
            .route(
                "/",
                get(|State(switch): State<Switch>| async move { events(switch.token().clone()) }),
            )
            .with_state(switch.clone());
        let serving =
            spawn(std::future::IntoFuture::into_future(serve(listener, app).drain(drain)));
        let mut sender = http2(address).await;
        let mut body = sender.send_request(request("/")).await.unwrap().into_body();
        body.frame().await.unwrap().unwrap();
        switch.flip();
        let rest = body.collect().await.unwrap().to_bytes();
        assert!(rest.ends_with(b"data: event 1\n\n"));
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

/// A handler that waits for ever, and one that does not, below a time-out of tower-http.
fn timed() -> Router {
    let limit = Duration::from_millis(20);
    Router::new()
        .route("/slow", get(std::future::pending::<()>))
        .route(
            "/fast",
            get(|| async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                "fast"
            }),
        )
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, limit))
}

#[test]
fn the_time_outs_of_tower_http_work_over_http1() {
    run_bridged(|| async {
        let (address, switch, serving) = server(timed()).await;
        let client = connect(address).await;
        for _ in 0..3 {
            assert_eq!(common::get(&client, "/slow").await.unwrap().0, 504);
        }
        // How long that takes is up to the machine: it may be too late, and nothing else.
        while common::get(&client, "/fast").await.unwrap() != (200, "fast".into()) {}
        drop(client);
        switch.flip();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

#[test]
fn the_time_outs_of_tower_http_work_over_http2() {
    run_bridged(|| async {
        let (address, switch, serving) = server(timed()).await;
        let mut sender = http2(address).await;
        // Side by side, each in a task that hyper spawns.
        let slow: Vec<_> = (0..50).map(|_| spawn(sender.send_request(request("/slow")))).collect();
        for response in slow {
            assert_eq!(response.await.unwrap().unwrap().status(), StatusCode::GATEWAY_TIMEOUT);
        }
        while sender.send_request(request("/fast")).await.unwrap().status() != StatusCode::OK {}
        switch.flip();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}
