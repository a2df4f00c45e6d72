//! [`axum`] on windlass: routers, extractors and middleware as they are, with handlers and connections on the
//! workers.
//!
//! [`serve`] takes the place of `axum::serve`. It serves HTTP/1 and HTTP/2, and has limits and time-outs that a server
//! on the open network needs; [`Serve`] lists them.
//!
//! # What needs a runtime of tokio
//!
//! Routers, handlers, extractors, `ConnectInfo`, middleware of tower that sets no timers, JSON, forms, and streams of
//! server-sent events need none, and run here as they are. These call tokio at run time, and panic without one; what
//! they can be replaced by, if you want no second runtime, is in the last column:
//!
//! | what | calls | instead |
//! |---|---|---|
//! | `WebSocketUpgrade::on_upgrade` | `tokio::spawn` | hyper's upgrade, as in the example `axum_app` |
//! | `Sse::keep_alive` | `tokio::time` | a stream that sends a comment now and then |
//! | `tower_http::timeout`, `tower::timeout` | `tokio::time` | [`windlass_runtime::timer::timeout`] in a `middleware::from_fn` |
//! | `tower::buffer`, `tower::limit::RateLimit` | `tokio::spawn`, `tokio::time` | |
//! | `tower_http::services::ServeDir` | tokio's blocking pool | |
//!
//! With a runtime of tokio beside ours they work unmodified, over HTTP/1 and HTTP/2: `#[windlass::main(tokio = true)]`
//! starts one, and `windlass::tokio::BuilderExt`. Nothing here has to be told about it. Handlers run on our workers as
//! before; what axum gives to `tokio::spawn`, which is the callback of a WebSocket, runs on tokio's thread, where
//! `windlass::spawn` leads back to our workers.
//!
//! # What a peer can do
//!
//! A client is not trusted. Heads, streams, silence, and answers that nobody reads have limits by default, as has the number of
//! connections; axum's extractors take bodies of 2 MiB. A body that comes slowly, or a WebSocket that stays, is left to the
//! program. [SECURITY.md] lists what a client can grow, and what bounds it.
//!
//! [SECURITY.md]: https://github.com/windlass-rs/windlass/blob/main/SECURITY.md
//!
//! # WebSockets, and the end of the server
//!
//! A handler of WebSockets works as it is. When the server is told to end, it sees a client that goes away: a quarter
//! of a second later (see [`Http::linger`]), and not in the middle of a message, `recv` returns a close frame with the
//! code 1001, "going away". The client is told the same, by the answer to that frame or, if the handler drops the
//! socket without one, by the server. What the client sends after that is discarded, as after any close frame. A
//! handler that does not read is waited for until the deadline; then the connection is closed, the handler sees an
//! error, and the report contains the client's address.
//!
//! This holds for HTTP/1, which is what most clients speak. With HTTP/2 a WebSocket is a stream in hyper's hands, and is
//! waited for until the deadline. Handlers that are to say goodbye there, or that have more to say than a code, need
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
