//! [`axum`] on windlass: routers, extractors and middleware unchanged, with handlers and connections on the workers.
//!
//! [`serve`] takes the place of `axum::serve`. It serves HTTP/1 and HTTP/2, with the limits and time-outs that a server
//! on the open network needs; [`Serve`] lists them.
//!
//! # What needs a runtime of tokio
//!
//! Routers, handlers, extractors, `ConnectInfo`, tower middleware that sets no timers, JSON, forms, and streams of
//! server-sent events need no tokio runtime, and run here unchanged. The following call tokio at run time, and panic
//! without a tokio runtime. If you don't want a second runtime, the last column says what to use instead:
//!
//! | what | calls | instead |
//! |---|---|---|
//! | `WebSocketUpgrade::on_upgrade` | `tokio::spawn` | hyper's upgrade, as in the example `axum_app` |
//! | `Sse::keep_alive` | `tokio::time` | a stream that sends a comment from time to time |
//! | `tower_http::timeout`, `tower::timeout` | `tokio::time` | [`windlass_runtime::timer::timeout`] in a `middleware::from_fn` |
//! | `tower::buffer`, `tower::limit::RateLimit` | `tokio::spawn`, `tokio::time` | |
//! | `tower_http::services::ServeDir` | tokio's blocking pool | |
//!
//! With a tokio runtime beside windlass's they work unmodified, over HTTP/1 and HTTP/2.
//! `#[windlass::main(tokio = true)]` starts one, and so does `windlass::tokio::BuilderExt`; this crate needs no setting
//! for it. Handlers run on windlass's workers as before. What axum passes to `tokio::spawn`, which is the callback of a
//! WebSocket, runs on tokio's thread; from there, `windlass::spawn` leads back to windlass's workers.
//!
//! # What a peer can do
//!
//! A client is not trusted. Heads, streams, silence, unread answers and the number of connections have limits by
//! default, and axum's extractors take bodies of up to 2 MiB. Limiting slow bodies and idle WebSockets is left to the
//! program. [SECURITY.md] lists what a client can make grow, and what bounds it.
//!
//! [SECURITY.md]: https://github.com/windlass-rs/windlass/blob/main/SECURITY.md
//!
//! # WebSockets, and the end of the server
//!
//! WebSocket handlers need no changes. When the server drains, a handler sees its client go away: a quarter of a second
//! later (see [`Http::linger`]), and not in the middle of a message, `recv` returns a close frame with the code 1001,
//! "going away". The client learns the same from the handler's answer to that frame or, if the handler drops the socket
//! without an answer, from the server. Anything that the client sends after that is discarded, as after any close
//! frame. A handler that does not read is waited for until the deadline. Then the connection is closed, the handler
//! sees an error, and the report contains the client's address.
//!
//! This holds for HTTP/1, which most clients speak. With HTTP/2, a WebSocket is a stream that belongs to hyper, and is
//! waited for until the deadline. Handlers that should say goodbye there, or that want to send more than a code, need
//! the [`Switch`], whose token is cancelled when the drain begins:
//!
//! ```
//! use axum::extract::State;
//! use axum::extract::ws::{CloseFrame, Message, WebSocketUpgrade, close_code};
//! use axum::response::Response;
//! use axum::{Router, routing::any};
//! use windlass::serve::{Drain, Switch};
//!
//! async fn echo(State(switch): State<Switch>, upgrade: WebSocketUpgrade) -> Response {
//!     upgrade.on_upgrade(|mut socket| async move {
//!         loop {
//!             match switch.token().run_until_cancelled(socket.recv()).await {
//!                 Some(Some(Ok(message @ Message::Text(_)))) => {
//!                     if socket.send(message).await.is_err() {
//!                         return;
//!                     }
//!                 }
//!                 Some(Some(Ok(_))) => {}
//!                 Some(_) => return, // the client is gone
//!                 None => {
//!                     let goodbye = CloseFrame { code: close_code::AWAY, reason: "".into() };
//!                     let _ = socket.send(Message::Close(Some(goodbye))).await;
//!                     return;
//!                 }
//!             }
//!         }
//!     })
//! }
//!
//! #[windlass::main(tokio = true)]
//! async fn main() -> std::io::Result<()> {
//!     let drain = Drain::new().on_signals()?;
//!     let app = Router::new().route("/", any(echo)).with_state(drain.switch());
//!     # drain.switch().flip();
//!     let listener = windlass::net::TcpListener::bind("127.0.0.1:0").await?;
//!     let report = windlass_axum::serve(listener, app).drain(drain).await?;
//!     println!("{report}");
//!     Ok(())
//! }
//! ```

mod age;
mod body;
mod connection;
mod handshake;
mod incoming;
mod policy;
mod serve;
// Local sockets as Unix has them.
#[cfg(unix)]
mod unix;

pub use connection::Connection;
pub use handshake::{Handshake, Unshaken};
pub use incoming::IncomingStream;
pub use serve::{Serve, serve};
#[cfg(unix)]
pub use unix::Peer;
pub use windlass_hyper::server::Http;
pub use windlass_serve::{Drain, DrainReport, Hold, Listener, ListenerExt, Switch, TapIo};
