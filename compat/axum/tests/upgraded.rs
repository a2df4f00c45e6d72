//! WebSocket handlers that know nothing of the server's end: they are waited for, closed at the deadline, and reported.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::routing::any;
use common::{DEADLINE, connect, run_bridged, server_with};
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use windlass_axum::{Drain, DrainReport};
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
        let (address, _, serving) = server_with(app(open), |serve| serve.drain(drain)).await;
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
