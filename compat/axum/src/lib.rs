//! [`axum`] on windlass: routers, extractors and middleware as they are, with handlers and connections on the
//! workers.
//!
//! [`serve`] takes the place of `axum::serve`. It serves HTTP/1 and HTTP/2, and has limits and time-outs that a server on the
//! open network needs; [`Serve`] lists them.
//!
//! # What needs a runtime of tokio
//!
//! Routers, handlers, extractors, `ConnectInfo`, middleware of tower that sets no timers, JSON, forms, and streams of
//! server-sent events need none, and run here as they are. These call tokio at run time, and panic without one; what they can
//! be replaced by, if you want no second runtime, is in the last column:
//!
//! | what | calls | instead |
//! |---|---|---|
//! | `WebSocketUpgrade::on_upgrade` | `tokio::spawn` | hyper's upgrade, as in the example `axum_app` |
//! | `Sse::keep_alive` | `tokio::time` | a stream that sends a comment now and then |
//! | `tower_http::timeout`, `tower::timeout` | `tokio::time` | [`windlass_runtime::timer::timeout`] in a `middleware::from_fn` |
//! | `tower::buffer`, `tower::limit::RateLimit` | `tokio::spawn`, `tokio::time` | |
//! | `tower_http::services::ServeDir` | tokio's blocking pool | |
//!
//! With a runtime of tokio beside ours they work unmodified, over HTTP/1 and HTTP/2: `#[windlass::main(tokio = true)]` starts
//! one, and `windlass::tokio::BuilderExt`. Nothing here has to be told about it. Handlers run on our workers as before; what
//! axum gives to `tokio::spawn`, which is the callback of a WebSocket, runs on tokio's thread, where `windlass::spawn`
//! leads back to our workers.
//!
//! # WebSockets, and the end of the server
//!
//! A handler of WebSockets works as it is. A server that is told to end waits for its connection as for any other; at the
//! deadline the connection is closed, the handler sees an error, and the report contains the client's address.
//!
//! An upgraded connection has left HTTP, so the server can't tell its client goodbye. A handler that does needs the
//! [`Switch`], whose token is cancelled when the drain begins. The message to send is a close frame with the code 1001,
//! "going away":
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

mod connection;
mod incoming;
mod serve;
// Local sockets as Unix has them.
#[cfg(unix)]
mod unix;

pub use connection::Connection;
pub use incoming::IncomingStream;
pub use serve::{Serve, serve};
#[cfg(unix)]
pub use unix::Peer;
pub use windlass_hyper::server::Http;
pub use windlass_serve::{Drain, DrainReport, Hold, Listener, Switch};
