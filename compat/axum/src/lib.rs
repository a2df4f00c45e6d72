//! [`axum`] on windlass: routers, extractors and middleware as they are, with handlers and connections on the
//! workers.
//!
//! [`serve`] takes the place of `axum::serve`. It serves HTTP/1 and HTTP/2, and has limits and time-outs that a server on the
//! open network needs; [`Serve`] lists them.
//!
//! # What needs a runtime of tokio
//!
//! Routers, handlers, extractors, `ConnectInfo`, middleware of tower that sets no timers, JSON, forms, and streams of
//! server-sent events need none, and run here as they are. These call tokio at run time, and panic outside of one:
//!
//! | what | calls | instead |
//! |---|---|---|
//! | `WebSocketUpgrade::on_upgrade` | `tokio::spawn` | hyper's upgrade; the example `axum_app` does that in some lines |
//! | `Sse::keep_alive` | `tokio::time` | a stream that sends a comment now and then |
//! | `tower_http::timeout`, `tower::timeout` | `tokio::time` | [`windlass_runtime::timer::timeout`] in a `middleware::from_fn` |
//! | `tower::buffer`, `tower::limit::RateLimit` | `tokio::spawn`, `tokio::time` | |
//! | `tower_http::services::ServeDir` | tokio's blocking pool | |
//!
//! With a runtime of tokio entered on the worker threads they work unmodified. Nothing here has to be told about it: connections, and
//! the tasks of HTTP/2 streams, run on those threads.

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
