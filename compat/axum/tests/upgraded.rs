//! WebSocket handlers that know nothing of the server's end: they see a client that goes away, and the client is told
//! 1001; what does not end by that is waited for, closed at the deadline, and reported.

mod common;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::extract::ws::{self, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use common::{DEADLINE, Serving, connect, run_bridged, server_with};
use futures_util::{SinkExt, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use windlass_axum::{Drain, DrainReport, Http, Switch};
use windlass_net::TcpStream;
use windlass_runtime::timer::timeout;
use windlass_runtime::yield_now;
use windlass_tokio::Io;

type Socket = WebSocketStream<Io<TcpStream>>;

/// A router as one finds it in axum's examples, with a count of the handlers at work.
fn app(open: Arc<AtomicUsize>) -> Router {
    let echo = move |mut socket: WebSocket| async move {
        open.fetch_add(1, Relaxed);
        while let Some(Ok(message)) = socket.recv().await {
            if socket.send(message).await.is_err() {
                break;
            }
        }
        open.fetch_sub(1, Relaxed);
    };
    Router::new().route("/", any(|upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(echo) }))
}

async fn client(address: std::net::SocketAddr) -> Socket {
    let stream = Io::new(connect(address).await);
    let url = format!("ws://{address}/");
    let mut socket = tokio_tungstenite::client_async(url, stream).await.unwrap().0;
    socket.send(Message::text("hello")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hello"));
    socket
}

#[test]
fn a_websocket_that_knows_nothing_of_the_end_is_waited_for() {
    run_bridged(|| async {
        let open = Arc::new(AtomicUsize::new(0));
        let drain = Drain::new().grace(Duration::ZERO);
        let switch = drain.switch();
        let http = Http::new().linger(Duration::from_secs(3600));
        let (address, _, serving) =
            server_with(app(open), |serve| serve.drain(drain).http(http)).await;
        let mut socket = client(address).await;
        switch.flip();
        for _ in 0..1000 {
            yield_now().await;
        }
        assert!(!serving.is_finished());
        socket.send(Message::text("still there?")).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("still there?"));
        socket.close(None).await.unwrap();
        let report = serving.await.unwrap().unwrap();
        assert!(report.is_clean() && report.accepted() == 1, "{report}");
    });
}

/// The connection is cut, the handler ends, and the report has the peer's address.
async fn is_cut(report: DrainReport, mut socket: Socket, open: &AtomicUsize) {
    let name = format!("connection of {}", socket.get_ref().get_ref().local_addr().unwrap());
    assert_eq!(report.aborted().len(), 1);
    assert_eq!(report.aborted()[0].name(), Some(name.as_str()));
    assert!(!matches!(socket.next().await, Some(Ok(_))));
    let ended = async {
        while open.load(Relaxed) > 0 {
            yield_now().await;
        }
    };
    timeout(DEADLINE, ended).await.expect("the handler ends");
}

#[test]
fn a_websocket_that_lasts_longer_than_the_drain_is_closed_and_reported() {
    run_bridged(|| async {
        let open = Arc::new(AtomicUsize::new(0));
        let drain = Drain::new().deadline(Duration::from_millis(20));
        let switch = drain.switch();
        let (address, _, serving) =
            server_with(app(open.clone()), |serve| serve.drain(drain)).await;
        let socket = client(address).await;
        switch.flip();
        is_cut(serving.await.unwrap().unwrap(), socket, &open).await;
    });
}

#[test]
fn a_second_signal_closes_websockets_too() {
    run_bridged(|| async {
        let open = Arc::new(AtomicUsize::new(0));
        let drain = Drain::new().deadline(Duration::MAX);
        let switch = drain.switch();
        let (address, _, serving) =
            server_with(app(open.clone()), |serve| serve.drain(drain)).await;
        let socket = client(address).await;
        switch.flip();
        switch.flip();
        is_cut(serving.await.unwrap().unwrap(), socket, &open).await;
    });
}

/// Serves a handler, with no time to say goodbye by itself.
async fn serve_one<F, Fut>(handler: F) -> (std::net::SocketAddr, Switch, Serving)
where
    F: Fn(WebSocket) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let upgrade = |upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(handler) };
    let app = Router::new().route("/", any(upgrade));
    let drain = Drain::new().deadline(DEADLINE).grace(Duration::ZERO);
    let switch = drain.switch();
    let http = Http::new().linger(Duration::ZERO);
    let (address, _, serving) = server_with(app, |serve| serve.drain(drain).http(http)).await;
    (address, switch, serving)
}

/// The code that the client is told, which then answers.
async fn code(socket: &mut Socket) -> u16 {
    match timeout(DEADLINE, socket.next()).await.expect("no goodbye") {
        Some(Ok(Message::Close(Some(frame)))) => frame.code.into(),
        other => panic!("{other:?} in place of a goodbye"),
    }
}

/// All ways to end a handler that one finds in programs, none of which knows of the server's end.
#[test]
fn handlers_that_know_nothing_of_the_end_see_a_client_that_goes_and_it_is_told() {
    async fn echo(socket: &mut WebSocket, message: ws::Message) {
        if matches!(message, ws::Message::Text(_)) {
            socket.send(message).await.unwrap();
        }
    }
    async fn ends_with_the_stream(mut socket: WebSocket) {
        while let Some(Ok(message)) = socket.recv().await {
            echo(&mut socket, message).await;
        }
    }
    async fn ends_with_the_close_frame(mut socket: WebSocket) {
        while let Some(Ok(message)) = socket.recv().await {
            if let ws::Message::Close(frame) = message {
                assert_eq!(frame.unwrap().code, ws::close_code::AWAY);
                return;
            }
            echo(&mut socket, message).await;
        }
        panic!("no close frame");
    }
    async fn answers_itself(mut socket: WebSocket) {
        while let Some(Ok(message)) = socket.recv().await {
            let is_close = matches!(message, ws::Message::Close(_));
            if socket.send(message).await.is_err() || is_close {
                return;
            }
        }
    }
    /// Nothing there knows of a runtime.
    async fn is_dropped_on_a_thread_of_its_own(mut socket: WebSocket) {
        while let Some(Ok(message @ ws::Message::Text(_))) = socket.recv().await {
            socket.send(message).await.unwrap();
        }
        drop(std::thread::spawn(move || drop(socket)));
    }
    async fn reads_and_writes_in_two_tasks(socket: WebSocket) {
        let (mut sink, mut stream) = socket.split();
        let (queue, mut queued) = tokio::sync::mpsc::channel(8);
        let mut writing = tokio::spawn(async move {
            while let Some(message) = queued.recv().await {
                sink.send(message).await.unwrap();
            }
        });
        let mut reading = tokio::spawn(async move {
            while let Some(Ok(message @ ws::Message::Text(_))) = stream.next().await {
                queue.send(message).await.unwrap();
            }
        });
        tokio::select! {
            _ = &mut writing => reading.abort(),
            _ = &mut reading => writing.abort(),
        }
    }
    async fn check<F, Fut>(handler: F)
    where
        F: Fn(WebSocket) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (address, switch, serving) = serve_one(handler).await;
        let mut clients = Vec::new();
        for _ in 0..10 {
            clients.push(client(address).await);
        }
        switch.flip();
        for socket in &mut clients {
            assert_eq!(code(socket).await, 1001);
            // The answer, and the end of the connection.
            assert!(socket.next().await.is_none());
        }
        let report = serving.await.unwrap().unwrap();
        assert!(report.is_clean() && report.panicked() == 0, "{report}");
    }
    run_bridged(|| async {
        check(ends_with_the_stream).await;
        check(ends_with_the_close_frame).await;
        check(answers_itself).await;
        check(reads_and_writes_in_two_tasks).await;
        check(is_dropped_on_a_thread_of_its_own).await;
    });
}

/// A message of which a part has come is waited for, and answered, before the goodbye.
#[test]
fn a_message_that_is_under_way_comes_before_the_goodbye() {
    run_bridged(|| async {
        let open = Arc::new(AtomicUsize::new(0));
        let drain = Drain::new().deadline(DEADLINE).grace(Duration::ZERO);
        let switch = drain.switch();
        let http = Http::new().linger(Duration::ZERO);
        let (address, _, serving) =
            server_with(app(open), |serve| serve.drain(drain).http(http)).await;
        let mut others = client(address).await;
        let mut socket = client(address).await;
        // A text of five bytes, masked with zeros, in two parts. The first comes in one packet with a whole message: when
        // that is answered, both have been read.
        let bytes = [0x81, 0x81, 0, 0, 0, 0, b'!', 0x81, 0x85, 0, 0, 0, 0, b'w', b'o'];
        socket.get_mut().write_all(&bytes).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("!"));
        switch.flip();
        // By then all that are to be told have been.
        assert_eq!(code(&mut others).await, 1001);
        socket.get_mut().write_all(b"rld").await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("world"));
        assert_eq!(code(&mut socket).await, 1001);
        assert!(socket.next().await.is_none() && others.next().await.is_none());
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

/// A client that never pauses gets its goodbye too.
#[test]
fn a_client_that_sends_without_end_does_not_hold_up_the_goodbye() {
    run_bridged(|| async {
        let silent = |mut socket: WebSocket| async move {
            while let Some(Ok(message)) = socket.recv().await {
                if message == ws::Message::text("hello") {
                    socket.send(message).await.unwrap();
                }
            }
        };
        let (address, switch, serving) = serve_one(silent).await;
        let (mut sink, mut stream) = client(address).await.split();
        let sending = windlass_runtime::spawn(async move {
            while sink.send(Message::text("and another thing")).await.is_ok() {}
        });
        switch.flip();
        let told = timeout(DEADLINE, stream.next()).await.expect("no goodbye");
        assert!(matches!(told, Some(Ok(Message::Close(Some(_))))), "{told:?}");
        drop(stream);
        sending.await.unwrap();
        assert!(serving.await.unwrap().unwrap().is_clean());
    });
}

/// A client that does not answer is waited for, but not for long.
#[test]
fn a_client_that_does_not_answer_the_goodbye_does_not_hold_up_the_end() {
    run_bridged(|| async {
        let (address, switch, serving) = serve_one(|mut socket: WebSocket| async move {
            while let Some(Ok(message @ ws::Message::Text(_))) = socket.recv().await {
                socket.send(message).await.unwrap();
            }
        })
        .await;
        let mut socket = client(address).await;
        switch.flip();
        let report = serving.await.unwrap().unwrap();
        assert!(report.is_clean(), "{report}");
        assert_eq!(code(&mut socket).await, 1001);
    });
}
