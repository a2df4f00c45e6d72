//! axum's own WebSockets through the bridge, over HTTP/1 and HTTP/2: messages, both ends closing at once, peers that
//! vanish, and the end of the server.

mod common;

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{self, WebSocketUpgrade, close_code};
use axum::response::Response;
use axum::routing::any;
use common::{BRIDGED, DEADLINE, Sender, Serving, connect, http2, request, run_bridged};
use futures_util::{SinkExt, StreamExt};
use http_body_util::Full;
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, StatusCode, Version};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use windlass_axum::{Drain, Switch, serve};
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::timer::timeout;
use windlass_runtime::{spawn, yield_now};
use windlass_tokio::Io;

/// What handlers know: how to be told that the server ends, and how many of them there are.
#[derive(Clone)]
struct App {
    switch: Switch,
    open: Arc<AtomicUsize>,
}

async fn upgrade(State(app): State<App>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| async move {
        app.open.fetch_add(1, Relaxed);
        converse(socket, &app.switch).await;
        app.open.fetch_sub(1, Relaxed);
    })
}

/// Echoes; says where tasks run that are spawned here; hangs up on request; and says goodbye when the server ends.
async fn converse(mut socket: ws::WebSocket, switch: &Switch) {
    let _open = switch.hold("websocket");
    loop {
        let message = tokio::select! {
            message = socket.recv() => message,
            () = switch.token().cancelled() => {
                let frame = ws::CloseFrame { code: close_code::AWAY, reason: "ending".into() };
                if socket.send(ws::Message::Close(Some(frame))).await.is_ok() {
                    // Until the client has answered, or is gone.
                    while socket.recv().await.is_some_and(|message| message.is_ok()) {}
                }
                return;
            }
        };
        let Some(Ok(message)) = message else { return };
        let answer = match &message {
            ws::Message::Text(text) if text.as_str() == "where" => {
                let here =
                    spawn(async { std::thread::current().name().unwrap_or_default().to_owned() });
                ws::Message::text(here.await.unwrap())
            }
            ws::Message::Text(text) if text.as_str() == "hang up" => return,
            ws::Message::Text(text) if text.as_str() == "close" => ws::Message::Close(None),
            ws::Message::Text(_) | ws::Message::Binary(_) => message,
            _ => continue,
        };
        if socket.send(answer).await.is_err() {
            return;
        }
    }
}

struct Served {
    address: SocketAddr,
    switch: Switch,
    serving: Serving,
    open: Arc<AtomicUsize>,
}

impl Served {
    async fn start(idle: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let drain = Drain::new();
        let (switch, open) = (drain.switch(), Arc::new(AtomicUsize::new(0)));
        let app = Router::new()
            .route("/ws", any(upgrade))
            .route("/", any(|| async {}))
            .with_state(App { switch: switch.clone(), open: open.clone() });
        let server = serve(listener, app).drain(drain).idle_timeout(idle);
        let serving = spawn(server.into_future());
        Self { address, switch, serving, open }
    }

    /// Waits until as many handlers are at work.
    async fn wait_for(&self, open: usize) {
        let reached = async {
            while self.open.load(Relaxed) != open {
                yield_now().await;
            }
        };
        timeout(DEADLINE, reached).await.expect("a handler does not end, or never begins");
    }

    async fn end(self) {
        self.switch.flip();
        let report = self.serving.await.unwrap().unwrap();
        assert!(report.is_clean() && report.panicked() == 0, "{report}");
        assert_eq!(self.open.load(Relaxed), 0);
    }
}

const HOUR: Duration = Duration::from_secs(3600);

type Http1Socket = WebSocketStream<Io<TcpStream>>;
type Http2Socket = WebSocketStream<TokioIo<Upgraded>>;

async fn over_http1(address: SocketAddr) -> Http1Socket {
    let stream = Io::new(connect(address).await);
    let url = format!("ws://{address}/ws");
    tokio_tungstenite::client_async(url, stream).await.unwrap().0
}

async fn over_http2(address: SocketAddr) -> Http2Socket {
    upgraded(&mut http2(address).await).await
}

/// By the extended CONNECT of RFC 8441. A polite client would wait for the server's settings, which offer it.
async fn upgraded(sender: &mut Sender) -> Http2Socket {
    try_upgraded(sender).await.expect("the server closes the connection")
}

async fn try_upgraded(sender: &mut Sender) -> Option<Http2Socket> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::CONNECT;
    *request.version_mut() = Version::HTTP_2;
    *request.uri_mut() = "http://test/ws".parse().unwrap();
    request.headers_mut().insert("sec-websocket-version", "13".parse().unwrap());
    request.extensions_mut().insert(hyper::ext::Protocol::from_static("websocket"));
    let response = sender.send_request(request).await.ok()?;
    assert_eq!(response.status(), StatusCode::OK);
    let upgraded = hyper::upgrade::on(response).await.ok()?;
    Some(WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Client, None).await)
}

async fn ask<S>(socket: &mut WebSocketStream<S>, text: &str) -> Message
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    socket.send(Message::text(text)).await.unwrap();
    socket.next().await.unwrap().unwrap()
}

/// Messages there and back, a task spawned in the handler, and an orderly end by the client.
async fn converses<S>(mut socket: WebSocketStream<S>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    for number in 0..100 {
        let text = format!("message {number}");
        assert_eq!(ask(&mut socket, &text).await, Message::text(text));
    }
    let large = Message::binary(vec![7; 1 << 20]);
    socket.send(large.clone()).await.unwrap();
    assert!(socket.next().await.unwrap().unwrap() == large);
    // Or on a spare, if the OS keeps a worker from running.
    let worker = ask(&mut socket, "where").await.into_text().unwrap();
    let is_ours = worker.starts_with(&format!("{BRIDGED}-")) && !worker.ends_with("-tokio");
    assert!(is_ours, "on {worker:?}");
    // Over HTTP/2, a server that has answered may have ended the stream before this is through.
    let _ = socket.close(None).await;
    while socket.next().await.is_some_and(|message| message.is_ok()) {}
}

#[test]
fn handlers_echo_over_http1_and_spawn_on_the_runtime_that_serves_them() {
    run_bridged(|| async {
        let served = Served::start(HOUR).await;
        converses(over_http1(served.address).await).await;
        served.wait_for(0).await;
        served.end().await;
    });
}

#[test]
fn handlers_echo_over_http2_and_spawn_on_the_runtime_that_serves_them() {
    run_bridged(|| async {
        let served = Served::start(HOUR).await;
        converses(over_http2(served.address).await).await;
        served.wait_for(0).await;
        served.end().await;
    });
}

/// The close code that the server says goodbye with.
async fn goodbye<S>(mut socket: WebSocketStream<S>) -> u16
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    loop {
        match socket.next().await {
            Some(Ok(Message::Close(frame))) => return frame.map_or(0, |frame| frame.code.into()),
            Some(Ok(_)) => {}
            other => panic!("{other:?} before a goodbye"),
        }
    }
}

#[test]
fn a_server_that_ends_says_1001_and_waits_for_the_answer() {
    run_bridged(|| async {
        let served = Served::start(HOUR).await;
        let mut clients = Vec::new();
        for _ in 0..10 {
            let (first, second) =
                (over_http1(served.address).await, over_http2(served.address).await);
            clients.push((spawn(goodbye(first)), spawn(goodbye(second))));
        }
        served.wait_for(20).await;
        served.end().await;
        for (first, second) in clients {
            assert_eq!((first.await.unwrap(), second.await.unwrap()), (1001, 1001));
        }
    });
}

/// Of the requests on such a connection none is under way, and still it is in use.
#[test]
fn a_quiet_socket_over_http2_is_not_idle() {
    run_bridged(|| async {
        let idle = Duration::from_millis(20);
        let served = Served::start(idle).await;
        // On a busy machine a connection may be idle for as long before its first request comes.
        let (mut sender, mut socket) = loop {
            let mut sender = http2(served.address).await;
            let Some(socket) = try_upgraded(&mut sender).await else { continue };
            if sender.send_request(request("/")).await.is_ok() {
                break (sender, socket);
            }
        };
        // What has no socket on it is closed meanwhile.
        let other = connect(served.address).await;
        let _ = common::get(&other, "/").await;
        assert!(matches!(other.read(&mut [0]).await, Ok(0) | Err(_)));
        assert_eq!(ask(&mut socket, "still there?").await, Message::text("still there?"));
        // Nor were its clients told that it ends.
        sender.send_request(request("/")).await.unwrap();
        drop((socket, sender));
        served.wait_for(0).await;
        served.end().await;
    });
}

/// How a client goes.
#[derive(Clone, Copy)]
enum Leaving {
    /// It closes while the server closes too.
    Both,
    /// It closes, and does not wait for the answer.
    WithoutWaiting,
    /// It is gone in the middle of a message.
    InAMessage,
    /// The server hangs up, without a word.
    ServerHangsUp,
}

async fn leave<S>(mut socket: WebSocketStream<S>, way: Leaving)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    match way {
        Leaving::Both => {
            socket.send(Message::text("close")).await.unwrap();
            // The server's frame may be there already, or not.
            let _ = socket.close(None).await;
            while socket.next().await.is_some_and(|message| message.is_ok()) {}
        }
        // Over HTTP/2, a server that has answered may have ended the stream before this is through.
        Leaving::WithoutWaiting => drop(socket.close(None).await),
        Leaving::InAMessage => {
            // A text of five bytes, masked, of which one comes.
            let mut stream = socket.into_inner();
            let part = [0x81, 0x85, 0, 0, 0, 0, b'h'];
            tokio::io::AsyncWriteExt::write_all(&mut stream, &part).await.unwrap();
        }
        Leaving::ServerHangsUp => {
            // As above.
            let _ = socket.send(Message::text("hang up")).await;
            while socket.next().await.is_some_and(|message| message.is_ok()) {}
        }
    }
}

const WAYS: [Leaving; 4] =
    [Leaving::Both, Leaving::WithoutWaiting, Leaving::InAMessage, Leaving::ServerHangsUp];

#[test]
fn clients_that_leave_in_any_way_leave_nothing_behind() {
    run_bridged(|| async {
        let served = Served::start(HOUR).await;
        for _ in 0..10 {
            for way in WAYS {
                leave(over_http1(served.address).await, way).await;
                leave(over_http2(served.address).await, way).await;
            }
        }
        served.wait_for(0).await;
        converses(over_http1(served.address).await).await;
        served.end().await;
    });
}

/// The client's goodbye and the server's are on their way at once.
#[test]
fn clients_that_leave_while_the_server_ends_do_not_hold_it_up() {
    run_bridged(|| async {
        for _ in 0..10 {
            let served = Served::start(HOUR).await;
            let mut leaving = Vec::new();
            for way in WAYS {
                let first = over_http1(served.address).await;
                let second = over_http2(served.address).await;
                leaving.push(spawn(async move {
                    leave_if_possible(first, way).await;
                    leave_if_possible(second, way).await;
                }));
            }
            served.end().await;
            for client in leaving {
                client.await.unwrap();
            }
        }
    });
}

/// As [`leave`], where the server may be gone already.
async fn leave_if_possible<S>(mut socket: WebSocketStream<S>, way: Leaving)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    match way {
        Leaving::Both | Leaving::WithoutWaiting => drop(socket.close(None).await),
        Leaving::ServerHangsUp => {
            let _ = socket.send(Message::text("hang up")).await;
            while socket.next().await.is_some_and(|message| message.is_ok()) {}
        }
        Leaving::InAMessage => {
            let part = [0x81, 0x85, 0, 0, 0, 0, b'h'];
            let mut stream = socket.into_inner();
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, &part).await;
        }
    }
}
