//! Settings of the server: what ends it, what becomes of its connections.

mod common;

use std::future::IntoFuture;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::{Router, routing};
use common::{connect, get, http2, read_response, request, run, server_with, text};
use windlass_axum::{Drain, Handshake, Http, serve};
use windlass_hyper::Io;
use windlass_hyper::server::Error;
use windlass_net::{Keepalive, TcpListener, TcpStream};
use windlass_runtime::spawn;
use windlass_runtime::timer::sleep;
use windlass_sync::{AutoResetEvent, CancellationToken};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(3600);

fn app() -> Router {
    Router::new().route("/", routing::get(|| async { "hello" }))
}

/// `drain` forgot what had been set before it.
#[test]
fn the_order_of_settings_does_not_matter() {
    run(|| async {
        for drain_comes_first in [true, false] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let end = CancellationToken::new();
            let asked = Arc::new(AutoResetEvent::new(false));
            let is_asked = asked.clone();
            let never = routing::get(|| async move {
                is_asked.set();
                std::future::pending::<()>().await;
            });
            let server = serve(listener, Router::new().route("/", never));
            let drain = Drain::new().deadline(LONG);
            let switch = drain.switch();
            let signal = end.clone();
            let server = match drain_comes_first {
                true => {
                    let signal = async move { signal.cancelled().await };
                    server.drain(drain).with_graceful_shutdown(signal).deadline(SHORT)
                }
                false => {
                    let signal = async move { signal.cancelled().await };
                    server.with_graceful_shutdown(signal).deadline(SHORT).drain(drain)
                }
            };
            let serving = spawn(server.into_future());
            let client = connect(address).await;
            client.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").await.unwrap();
            asked.wait().await;
            end.cancel();
            let report = serving.await.unwrap().unwrap();
            assert_eq!(report.aborted().len(), 1, "after the short deadline: {report}");
            assert!(switch.token().is_cancelled(), "the switch is that of the drain");
        }
    });
}

#[test]
fn a_connection_of_http1_that_is_old_ends_and_the_server_does_not() {
    run(|| async {
        // No client of a crowded machine is late.
        let linger = Http::new().linger(Duration::from_secs(20));
        let (address, switch, serving) =
            server_with(app(), |server| server.http(linger).max_connection_age(SHORT)).await;
        let client = connect(address).await;
        loop {
            client.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").await.unwrap();
            let (head, _) = read_response(&client).await.expect("an answer to each request");
            if head.contains("connection: close") {
                break;
            }
            sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        assert_eq!(get(&connect(address).await, "/").await.unwrap().1, "hello");
        switch.flip();
        let report = serving.await.unwrap().unwrap();
        assert_eq!((report.accepted(), report.failed()), (2, 0));
    });
}

#[test]
fn a_connection_of_http2_that_is_old_goes_away_and_finishes_its_streams() {
    run(|| async {
        let slow = routing::get(|| async {
            sleep(10 * SHORT).await;
            "late"
        });
        let (address, switch, serving) =
            server_with(app().route("/slow", slow), |server| server.max_connection_age(SHORT))
                .await;
        let mut sender = http2(address).await;
        let late = sender.send_request(request("/slow")).await.unwrap();
        assert_eq!(text(late).await, "late");
        // It was told to go away long ago, and has no more streams.
        while sender.ready().await.is_ok() {
            sleep(Duration::from_millis(1)).await;
        }
        switch.flip();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

#[test]
fn the_keep_alive_of_connections_is_set() {
    run(|| async {
        let seen = Arc::new(Mutex::new(Vec::new()));
        for set in [None, Some(Keepalive::new().idle(Duration::from_secs(77)))] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let see = seen.clone();
            let listener = Handshake::new(listener, move |stream: TcpStream| {
                let keepalive = stream.keepalive().unwrap();
                see.lock().unwrap().push(keepalive.map(|keepalive| keepalive.idle_time()));
                async { Ok(Io::new(stream)) }
            });
            let end = CancellationToken::new();
            let signal = end.clone().cancelled_owned();
            let server = serve(listener, app()).tcp_keepalive(set).with_graceful_shutdown(signal);
            let serving = spawn(server.into_future());
            assert_eq!(get(&connect(address).await, "/").await.unwrap().0, 200);
            end.cancel();
            serving.await.unwrap().unwrap();
        }
        let seen = seen.lock().unwrap();
        assert_eq!(*seen, [None, Some(Some(Duration::from_secs(77)))]);
    });
}

/// They were dropped, and neither counted nor told.
#[test]
fn connections_that_fail_are_told_and_counted() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = Handshake::new(listener, |stream: TcpStream| async move {
            let mut word = [0; 6];
            stream.read_exact(&mut word).await?;
            match &word {
                b"sesame" => Ok(Io::new(stream)),
                _ => Err(io::ErrorKind::PermissionDenied.into()),
            }
        });
        let failures = Arc::new(Mutex::new(Vec::new()));
        let note = failures.clone();
        let end = CancellationToken::new();
        let server = serve(listener, app())
            .on_connection_error(move |peer, error| {
                let is_handshake = matches!(error, Error::Io(_));
                note.lock().unwrap().push((*peer, is_handshake));
            })
            .with_graceful_shutdown(end.clone().cancelled_owned());
        let serving = spawn(server.into_future());
        let mut expected = Vec::new();
        for (words, is_handshake) in [("password", true), ("sesame what?\r\n\r\n", false)] {
            let client = connect(address).await;
            client.write_all(words.as_bytes()).await.unwrap();
            // Until the server has closed it.
            while matches!(client.read(&mut [0; 1024]).await, Ok(1..)) {}
            expected.push((client.local_addr().unwrap(), is_handshake));
        }
        let client = connect(address).await;
        client.write_all(b"sesame").await.unwrap();
        assert_eq!(get(&client, "/").await.unwrap().0, 200);
        drop(client);
        end.cancel();
        let report = serving.await.unwrap().unwrap();
        assert_eq!((report.accepted(), report.failed()), (3, 2));
        let mut failures = failures.lock().unwrap().clone();
        failures.sort_unstable();
        expected.sort_unstable();
        assert_eq!(failures, expected);
    });
}
