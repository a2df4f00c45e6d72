//! Clients that misbehave, and handlers that do.

mod common;

use std::error::Error;
use std::future::IntoFuture;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use common::{
    Items, connect, get as ask, http2, read_response, request, run, server, server_with, text,
};
use futures_util::StreamExt;
use windlass_axum::{Connection, Drain, Listener, serve};
use windlass_hyper::Io;
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::{Handle, spawn, yield_now};

fn hello() -> Router {
    Router::new().route("/", get(|| async { "hello" }))
}

#[test]
fn a_slow_head_is_not_waited_for() {
    run(|| async {
        let limit = Duration::from_millis(50);
        let (address, ..) = server_with(hello(), |serve| serve.header_timeout(limit)).await;
        let silent = connect(address).await;
        let slow = connect(address).await;
        slow.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        while slow.write_all(b"x-more: 1\r\n").await.is_ok() {
            windlass_runtime::timer::sleep(Duration::from_millis(1)).await;
        }
        assert!(read_response(&silent).await.is_none());
        // On a crowded machine, any client may be slow.
        let answer = loop {
            if let Some(answer) = ask(&connect(address).await, "/").await {
                break answer;
            }
        };
        assert_eq!(answer.1, "hello");
    });
}

#[test]
fn an_idle_connection_is_closed() {
    run(|| async {
        let limit = Duration::from_millis(20);
        let (address, ..) = server_with(hello(), |serve| serve.idle_timeout(limit)).await;
        let client = connect(address).await;
        assert_eq!(ask(&client, "/").await.unwrap().1, "hello");
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    });
}

#[test]
fn a_body_over_the_limit_is_refused() {
    run(|| async {
        let app =
            Router::new().route("/", post(|body: Bytes| async move { body.len().to_string() }));
        let (address, ..) = server(app).await;
        // axum's limit is 2 MiB.
        for (length, status) in [(2 << 20, 200), ((2 << 20) + 1, 413)] {
            let client = connect(address).await;
            let head = format!("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n\r\n");
            client.write_all(head.as_bytes()).await.unwrap();
            // What is refused may be answered before all of it is sent.
            let sent = client.write_all(&vec![0; length]).await;
            assert!(sent.is_ok() || status == 413);
            let (head, _) = read_response(&client).await.unwrap();
            assert!(head.starts_with(&format!("http/1.1 {status}")), "{head}");
        }
    });
}

/// A slow loris of the body. It held its connection for ever.
#[test]
fn a_body_that_stops_coming_is_not_waited_for() {
    run(|| async {
        let limit = Duration::from_millis(50);
        let app = Router::new()
            .route("/all", post(|body: Bytes| async move { body.len().to_string() }))
            .route(
                "/parts",
                post(|body: Body| async move {
                    let error = axum::body::to_bytes(body, usize::MAX).await.unwrap_err();
                    format!("{:?}", kind_of(&error))
                }),
            );
        let (address, ..) = server_with(app, |serve| serve.body_timeout(limit)).await;
        for (path, answer) in [("/all", "400"), ("/parts", "200")] {
            let client = connect(address).await;
            let head = format!("POST {path} HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\n");
            client.write_all(head.as_bytes()).await.unwrap();
            client.write_all(b"half").await.unwrap();
            let (head, body) = read_response(&client).await.unwrap();
            assert_eq!(head.split(' ').nth(1), Some(answer), "{head}");
            assert!(path == "/all" || body == "Some(TimedOut)", "{body}");
        }
        // A body that comes in time is read, and so is one that has no limit.
        let whole = "POST /all HTTP/1.1\r\nhost: test\r\ncontent-length: 4\r\n\r\n1234";
        let answer = common::ask(&connect(address).await, whole).await.unwrap();
        assert_eq!(answer, (200, "4".into()));
    });
}

/// The error came again and again.
#[test]
fn a_body_ends_with_its_error() {
    run(|| async {
        let parts = post(|body: Body| async move {
            let mut stream = body.into_data_stream();
            let mut errors = 0;
            while let Some(part) = stream.next().await {
                errors += usize::from(part.is_err());
                assert!(errors < 3, "it has no end");
            }
            errors.to_string()
        });
        let app = Router::new().route("/", parts);
        let limit = Duration::from_millis(50);
        let (address, ..) = server_with(app, |serve| serve.body_timeout(limit)).await;
        let half = "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\nhalf";
        let answer = common::ask(&connect(address).await, half).await.unwrap();
        assert_eq!(answer, (200, "1".into()));
    });
}

/// The kind of the error of I/O behind another error.
fn kind_of(error: &dyn Error) -> Option<io::ErrorKind> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

#[test]
fn a_client_that_goes_in_the_middle_of_a_response_does_no_harm() {
    run(|| async {
        let endless =
            || async { Body::from_stream(Items(|| Some(Bytes::from(vec![7; 64 * 1024])))) };
        let (address, switch, serving) = server(hello().route("/endless", get(endless))).await;
        for _ in 0..20 {
            let client = connect(address).await;
            client.write_all(b"GET /endless HTTP/1.1\r\nhost: test\r\n\r\n").await.unwrap();
            client.read_exact(&mut [0; 100]).await.unwrap();
        }
        assert_eq!(ask(&connect(address).await, "/").await.unwrap().1, "hello");
        switch.flip();
        let report = serving.await.unwrap().unwrap();
        assert!(report.is_clean() && report.panicked() == 0, "{report}");
    });
}

#[test]
fn a_handler_that_panics_is_counted_and_the_server_lives() {
    run(|| async {
        #[allow(unreachable_code, reason = "a handler returns something")]
        let app = hello().route(
            "/panic",
            get(|| async {
                panic!("on purpose");
                ""
            }),
        );
        let (address, switch, serving) = server(app).await;
        assert!(ask(&connect(address).await, "/panic").await.is_none());
        let mut sender = http2(address).await;
        assert!(sender.send_request(request("/panic")).await.is_err());
        assert_eq!(text(sender.send_request(request("/")).await.unwrap()).await, "hello");
        assert_eq!(ask(&connect(address).await, "/").await.unwrap().1, "hello");
        switch.flip();
        // That of HTTP/2 is a stream's, which has a task of its own, and not the connection's.
        assert_eq!(serving.await.unwrap().unwrap().panicked(), 1);
        // Counted when the worker is through with the task, which may be after its client has heard.
        while Handle::current().metrics().tasks_panicked < 2 {
            yield_now().await;
        }
        assert_eq!(Handle::current().metrics().tasks_panicked, 2);
    });
}

#[test]
fn connections_beyond_the_limit_wait_their_turn() {
    run(|| async {
        let (address, ..) = server_with(hello(), |serve| serve.limit(2)).await;
        let mut clients = Vec::new();
        for _ in 0..20 {
            clients.push(spawn(async move {
                let client = connect(address).await;
                assert_eq!(ask(&client, "/").await.unwrap().1, "hello");
            }));
        }
        for client in clients {
            client.await.unwrap();
        }
    });
}

/// Connections that have to say a word first, or never come to an end with it.
struct Guarded(TcpListener);

struct Unproven(TcpStream);

impl Listener for Guarded {
    type Stream = Unproven;
    type Addr = SocketAddr;

    async fn accept(&self) -> io::Result<(Unproven, SocketAddr)> {
        self.0.accept().await.map(|(stream, peer)| (Unproven(stream), peer))
    }

    fn try_accept(&self) -> io::Result<(Unproven, SocketAddr)> {
        self.0.try_accept().map(|(stream, peer)| (Unproven(stream), peer))
    }

    fn refuse_new(&self) -> io::Result<bool> {
        self.0.refuse_new()
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connection for Unproven {
    type Io = Io<TcpStream>;

    async fn into_io(self) -> io::Result<Self::Io> {
        let mut word = [0; 6];
        self.0.read_exact(&mut word).await?;
        if &word != b"sesame" {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Io::new(self.0))
    }
}

#[test]
fn a_handshake_that_fails_or_hangs_holds_nobody_up() {
    run(|| async {
        let inner = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = inner.local_addr().unwrap();
        let drain = Drain::new();
        let switch = drain.switch();
        let limit = Duration::from_millis(50);
        let server = serve(Guarded(inner), hello()).drain(drain).header_timeout(limit);
        let serving = spawn(server.into_future());
        let silent = connect(address).await;
        let wrong = connect(address).await;
        wrong.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        // On a crowded machine, any client may be slow.
        let answer = loop {
            let right = connect(address).await;
            let in_time = right.write_all(b"sesame").await.is_ok();
            if let (true, Some(answer)) = (in_time, ask(&right, "/").await) {
                break answer;
            }
        };
        assert_eq!(answer.1, "hello");
        assert!(read_response(&wrong).await.is_none());
        assert!(read_response(&silent).await.is_none());
        switch.flip();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

/// Without a limit of its own, a handshake has some time after the server was told to end, and the
/// request behind it is answered.
#[test]
fn a_handshake_that_hangs_does_not_hold_up_the_end_and_one_that_does_not_is_waited_for() {
    run(|| async {
        // On a crowded machine, two seconds may be over before the slow one goes on.
        for _ in 0..5 {
            if slow_handshake_is_waited_for().await {
                return;
            }
        }
        panic!("it is not waited for");
    });
}

async fn slow_handshake_is_waited_for() -> bool {
    let inner = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = inner.local_addr().unwrap();
    let drain = Drain::new().deadline(Duration::MAX);
    let switch = drain.switch();
    let server = serve(Guarded(inner), hello()).drain(drain).header_timeout(None);
    let serving = spawn(server.into_future());
    let silent = connect(address).await;
    let slow = connect(address).await;
    slow.write_all(b"ses").await.unwrap();
    switch.flip();
    for _ in 0..100 {
        yield_now().await;
    }
    let goes_on = slow.write_all(b"ame").await.is_ok();
    let answer = if goes_on { ask(&slow, "/").await } else { None };
    assert!(read_response(&silent).await.is_none());
    assert!(serving.await.unwrap().unwrap().is_clean());
    answer.is_some_and(|(_, body)| body == "hello")
}
