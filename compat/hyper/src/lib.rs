//! [`hyper`] on windlass: its servers and clients run on the workers, and no other runtime is needed.
//!
//! | for | use |
//! |---|---|
//! | handing a stream to hyper | [`Io`] for sockets and their halves, [`FuturesIo`] for other futures-io streams, such as TLS |
//! | hyper's tasks and time-outs | [`Executor`], [`Timer`] |
//! | serving connections, HTTP/1 and HTTP/2, with time-outs and a drain that loses nothing | [`server::Http`] |
//! | hyper-util's client | [`Connector`]; `UnixConnector` for local sockets |
//!
//! hyper-util's `auto::Builder` and `GracefulShutdown` run here as well. [`server::Http`] documents what it adds to
//! them.
//!
//! # What a peer can do
//!
//! No peer is trusted: neither a server's clients nor the servers that a client connects to. hyper's limits for heads
//! and streams are kept. [`server::Http`] adds time-outs for a head that never ends, for connections without a request,
//! and for answers that nobody reads. Limiting the duration and the size of a body is left to the program.
//! [SECURITY.md] lists what a peer can make grow, and what bounds it.
//!
//! [SECURITY.md]: https://github.com/windlass-rs/windlass/blob/main/SECURITY.md
//!
//! # Examples
//!
//! A server, and a client that sends it a request:
//!
//! ```
//! use http_body_util::{BodyExt, Empty, Full};
//! use hyper::body::Bytes;
//! use hyper::{Request, Response, service::service_fn};
//! use hyper_util::client::legacy::Client;
//! use windlass::net::TcpListener;
//! use windlass::sync::CancellationToken;
//! use windlass_hyper::{Connector, Executor, Io, server::Http};
//!
//! # windlass::block_on(async {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! windlass::spawn(async move {
//!     let hello = service_fn(|_request| async {
//!         Ok::<_, std::convert::Infallible>(Response::new(Full::new(Bytes::from("hello"))))
//!     });
//!     let (stream, _) = listener.accept().await.unwrap();
//!     Http::new().serve_connection(Io::new(stream), hello, &CancellationToken::new()).await
//! });
//!
//! let client = Client::builder(Executor).build::<_, Empty<Bytes>>(Connector::new());
//! let response = client.get(format!("http://{address}/").parse().unwrap()).await.unwrap();
//! assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "hello");
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```

#[cfg(feature = "client")]
mod client;
mod executor;
mod futures_io;
mod io;
#[cfg_attr(
    not(all(feature = "server", feature = "client")),
    expect(dead_code, reason = "each half reads its own")
)]
mod policy;
#[cfg(feature = "server")]
pub mod server;
mod timer;

#[cfg(feature = "client")]
#[cfg(unix)]
pub use client::UnixConnector;
#[cfg(feature = "client")]
pub use client::{Connector, HttpInfo};
pub use executor::Executor;
pub use futures_io::FuturesIo;
pub use io::Io;
pub use timer::Timer;
pub use windlass_net::adapter::{ReadUninit, WriteVectored};
