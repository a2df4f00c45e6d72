//! The WebSocket of `axum_app`, with no tokio runtime in the process: messages, and the end of the server.

#[path = "../examples/axum_app/websocket.rs"]
mod websocket;

use std::future::IntoFuture;
use std::sync::mpsc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::get;
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use windlass::net::{TcpListener, TcpStream};
use windlass::serve::{Drain, Switch};
use windlass::tokio::Io;

const PATIENCE: Duration = Duration::from_secs(60);

async fn shout(State(switch): State<Switch>, request: Request) -> axum::response::Response {
    websocket::upgrade(request, move |socket| websocket::shout(socket, switch))
}

async fn talk() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let drain = Drain::new();
    let switch = drain.switch();
    let app = Router::new().route("/ws", get(shout)).with_state(switch.clone());
    let server = windlass::axum::serve(listener, app).drain(drain);
    let serving = windlass::spawn(server.into_future());

    let stream = Io::new(TcpStream::connect(address).await.unwrap());
    let url = format!("ws://{address}/ws");
    let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    for text in ["hello", "more"] {
        socket.send(Message::text(text)).await.unwrap();
        let answer = socket.next().await.unwrap().unwrap();
        assert_eq!(answer, Message::text(text.to_uppercase()));
    }
    switch.flip();
    match socket.next().await {
        Some(Ok(Message::Close(Some(frame)))) => assert_eq!(frame.code, CloseCode::Away),
        other => panic!("{other:?} instead of a goodbye"),
    }
    assert!(serving.await.unwrap().unwrap().is_clean());
}

#[test]
fn the_socket_shouts_and_says_goodbye_when_the_server_ends() {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        windlass::Builder::new().workers(2).build().unwrap().block_on(talk());
        done.send(()).unwrap();
    });
    ended.recv_timeout(PATIENCE).expect("it hangs, or has failed");
}
