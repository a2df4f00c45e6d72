//! A WebSocket through hyper's upgrade, which needs no tokio runtime.

use std::future::Future;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use windlass::serve::Switch;

pub(crate) type WebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// Turns a connection into a WebSocket, and spawns its handler.
pub(crate) fn upgrade<F>(
    mut request: Request,
    serve: impl FnOnce(WebSocket) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = ()> + Send,
{
    let Some(key) = key(request.headers()) else {
        return (StatusCode::BAD_REQUEST, "this is for WebSockets\n").into_response();
    };
    let accept = derive_accept_key(key.as_bytes());
    let upgraded = hyper::upgrade::on(&mut request);
    drop(windlass::spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            let io = TokioIo::new(upgraded);
            serve(WebSocketStream::from_raw_socket(io, Role::Server, None).await).await;
        }
    }));
    let headers = [
        (header::CONNECTION, "upgrade"),
        (header::UPGRADE, "websocket"),
        (header::SEC_WEBSOCKET_ACCEPT, accept.as_str()),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers, Body::empty()).into_response()
}

/// Returns the key of a request for a WebSocket.
fn key(headers: &HeaderMap) -> Option<String> {
    let is = |name, value: &str| {
        headers.get(name).is_some_and(|header: &axum::http::HeaderValue| {
            header.as_bytes().eq_ignore_ascii_case(value.as_bytes())
        })
    };
    let wants = is(header::UPGRADE, "websocket") && is(header::SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| wants)?;
    key.to_str().ok().map(str::to_owned)
}

/// Sends messages back in capitals until the client leaves, or until the server ends and says goodbye.
pub(crate) async fn shout(mut socket: WebSocket, switch: Switch) {
    loop {
        let sent = match switch.token().run_until_cancelled(socket.next()).await {
            Some(Some(Ok(Message::Text(text)))) => {
                socket.send(Message::text(text.to_uppercase())).await
            }
            Some(Some(Ok(_))) => Ok(()),
            Some(Some(Err(_)) | None) => return,
            None => {
                let away = CloseFrame { code: CloseCode::Away, reason: "the server ends".into() };
                let _ = socket.close(Some(away)).await;
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}
