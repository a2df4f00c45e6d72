//! Code written for tokio, on the windlass runtime.
//!
//! Programs use this crate through the facade, as `windlass::tokio`, with the feature `tokio`; or with `tokio-io`, if
//! they need only the traits. Then no tokio runtime is compiled.
//!
//! Most code written for tokio needs less of it than it seems. Look for the first line that fits:
//!
//! | a crate needs | use | tokio runtimes |
//! |---|---|---|
//! | channels, locks, `select!`, streams: see below | nothing, it works as it is | none |
//! | a stream with tokio's `AsyncRead` and `AsyncWrite` | [`Io`] around one of ours | none |
//! | a stream with the traits of the other world | [`Compat`] | none |
//! | a tokio runtime around it: `tokio::{spawn, time, net, fs, process, signal}` | `#[windlass::main(tokio = true)]`, [`BuilderExt::with_tokio`] | one, on a thread of its own, or on [several](BuilderExt::with_tokio_threads) |
//!
//! # What a peer can do
//!
//! A wrapper trusts its peer no more than the stream that it wraps does: it passes bytes on, and interprets none.
//! Crates that run on the tokio runtime beside windlass's are part of the program. Their limits are tokio's and their
//! own, and a program that reads from an untrusted peer to the end has to bound that itself. [SECURITY.md] lists what a
//! peer can make grow, and what bounds it.
//!
//! [SECURITY.md]: https://github.com/windlass-rs/windlass/blob/main/SECURITY.md
//!
//! # What works as it is
//!
//! In tasks and in `block_on`, with no tokio runtime in the process:
//!
//! | what | threads it starts |
//! |---|---|
//! | [`tokio::sync`](#tokiosync) | none |
//! | [`tokio::select!`, `join!`, `pin!`](#tokioselect-join-and-pin) | none |
//! | [`tokio::task_local!`](#tokiotask_local) | none |
//! | [`tokio::io` with `AsyncReadExt`, `BufReader`, `copy`, `duplex`](#tokioio) | none |
//! | [tokio-stream](#tokio-stream), without its feature `time` | none |
//! | [tokio-util's `codec`](#tokio-utils-codec) | none |
//! | [futures-lite](#futures-lite): `BufReader`, `lines`, `copy`, streams | none |
//! | [async-broadcast](#async-broadcast), [oneshot](#oneshot) | none |
//! | [`async-channel`, `async-lock`](#async-channel-and-async-lock) | none; they are `windlass::channel` and `windlass::lock` |
//! | [async-signal](#async-signal) and others that are built on async-io | one, on which async-io waits for the OS; `windlass::{signal, process, net}` start none |
//!
//! `tokio::task_local!` does not know that a worker may poll another task at a split point of a computation. That task
//! then sees the first task's value. If code in the scope of such a value computes with `windlass::join` and the like,
//! use `windlass::task_local!`.
//!
//! `tokio::sync`'s `blocking_send`, `blocking_recv` and `blocking_lock` block the thread: call
//! them in `spawn_blocking`.
//!
//! ### `tokio::sync`
//!
//! ```
//! # windlass::block_on(async {
//! let (sender, mut receiver) = tokio::sync::mpsc::channel(8);
//! let total = std::sync::Arc::new(tokio::sync::Mutex::new(0));
//! windlass::spawn(async move { sender.send(5).await.unwrap() });
//! while let Some(number) = receiver.recv().await {
//!     *total.lock().await += number;
//! }
//! assert_eq!(*total.lock().await, 5);
//! # });
//! ```
//!
//! ### `tokio::select!`, `join!` and `pin!`
//!
//! ```
//! use std::time::Duration;
//! use windlass::timer::sleep;
//!
//! # windlass::block_on(async {
//! let first = tokio::select! {
//!     () = sleep(Duration::from_millis(1)) => "ours",
//!     () = std::future::pending() => "never",
//! };
//! assert_eq!(tokio::join!(async { first }, async { 2 }), ("ours", 2));
//! # });
//! ```
//!
//! ### `tokio::task_local!`
//!
//! ```
//! tokio::task_local! {
//!     static USER: u32;
//! }
//!
//! # windlass::block_on(async {
//! let task = windlass::spawn(USER.scope(7, async {
//!     windlass::yield_now().await;
//!     USER.get()
//! }));
//! assert_eq!(task.await.unwrap(), 7);
//! # });
//! ```
//!
//! ### `tokio::io`
//!
//! ```
//! use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
//!
//! # windlass::block_on(async {
//! let (mut client, server) = tokio::io::duplex(64);
//! let reader = windlass::spawn(async move { BufReader::new(server).lines().next_line().await });
//! client.write_all(b"a line\n").await?;
//! assert_eq!(reader.await.unwrap()?.as_deref(), Some("a line"));
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```
//!
//! ### tokio-stream
//!
//! ```
//! use tokio_stream::StreamExt;
//!
//! # windlass::block_on(async {
//! let mut even = tokio_stream::iter(0..6).filter(|number| number % 2 == 0);
//! assert_eq!(even.next().await, Some(0));
//! assert_eq!(even.next().await, Some(2));
//! # });
//! ```
//!
//! ### tokio-util's `codec`
//!
//! ```
//! use futures_util::SinkExt;
//! use tokio_stream::StreamExt;
//! use tokio_util::codec::{Framed, LinesCodec};
//! use windlass::net::{TcpListener, TcpStream};
//! use windlass_tokio::Io;
//!
//! # windlass::block_on(async {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let client = TcpStream::connect(listener.local_addr()?).await?;
//! let (server, _) = listener.accept().await?;
//! let mut client = Framed::new(Io::new(client), LinesCodec::new());
//! let mut server = Framed::new(Io::new(server), LinesCodec::new());
//! client.send("PING").await.unwrap();
//! assert_eq!(server.next().await.unwrap().unwrap(), "PING");
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```
//!
//! ### futures-lite
//!
//! ```
//! use futures_lite::io::BufReader;
//! use futures_lite::{AsyncBufReadExt, StreamExt};
//! use windlass::net::{TcpListener, TcpStream};
//!
//! # windlass::block_on(async {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let client = TcpStream::connect(listener.local_addr()?).await?;
//! let (server, _) = listener.accept().await?;
//! client.write_all(b"one\ntwo\n").await?;
//! let mut lines = BufReader::new(server).lines(); // our streams have the traits it wants
//! assert_eq!(lines.next().await.unwrap()?, "one");
//! assert_eq!(lines.next().await.unwrap()?, "two");
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```
//!
//! ### async-broadcast
//!
//! ```
//! # windlass::block_on(async {
//! let (sender, mut receiver) = async_broadcast::broadcast(4);
//! windlass::spawn(async move { sender.broadcast(1).await.unwrap() });
//! assert_eq!(receiver.recv().await, Ok(1));
//! # });
//! ```
//!
//! ### oneshot
//!
//! ```
//! # windlass::block_on(async {
//! let (sender, receiver) = oneshot::channel();
//! windlass::spawn(async move { sender.send("done").unwrap() });
//! assert_eq!(receiver.await, Ok("done"));
//! # });
//! ```
//!
//! ### async-channel and async-lock
//!
//! ```
//! use windlass::{channel, lock};
//!
//! # windlass::block_on(async {
//! let (sender, receiver) = channel::bounded(8);
//! let total = std::sync::Arc::new(lock::Mutex::new(0));
//! windlass::spawn(async move { sender.send(5).await.unwrap() });
//! while let Ok(number) = receiver.recv().await {
//!     *total.lock().await += number;
//! }
//! assert_eq!(*total.lock().await, 5);
//! # });
//! ```
//!
//! ### async-signal
//!
//! ```
//! # windlass::block_on(async {
//! use async_signal::{Signal, Signals};
//! use futures_lite::StreamExt;
//!
//! let mut signals = Signals::new([Signal::Child]).unwrap();
//! std::process::Command::new("true").status().unwrap();
//! assert_eq!(signals.next().await.unwrap().unwrap(), Signal::Child);
//! # });
//! ```
//!
//! # What works through the traits
//!
//! Crates that are given a stream with tokio's `AsyncRead` and `AsyncWrite` take windlass's streams in [`Io`], and TLS
//! streams or anything else with the traits of `futures-io` in [`Compat`]. No tokio runtime is needed.
//!
//! | crate | hand it to |
//! |---|---|
//! | [tokio-tungstenite](#tokio-tungstenite) | `accept_async`, `client_async` |
//! | [tokio-util's `codec`](#tokio-utils-codec) | `Framed::new` |
//! | tokio-rustls | `TlsAcceptor::accept`, `TlsConnector::connect` |
//! | tokio-postgres | `Config::connect_raw`; spawn the connection with `windlass::spawn` |
//! | redis | `aio::MultiplexedConnection::new`; spawn its driver with `windlass::spawn` |
//! | hyper, axum | `windlass::hyper` and `windlass::axum` have what they need, without copying buffers |
//!
//! ### tokio-tungstenite
//!
//! ```
//! use futures_util::{SinkExt, StreamExt};
//! use tokio_tungstenite::tungstenite::Message;
//! use tokio_tungstenite::{accept_async, client_async};
//! use windlass::net::{TcpListener, TcpStream};
//! use windlass_tokio::Io;
//!
//! # windlass::block_on(async {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let client = TcpStream::connect(listener.local_addr()?).await?;
//! let (server, _) = listener.accept().await?;
//! let server = windlass::spawn(accept_async(Io::new(server)));
//! let (mut client, _) = client_async("ws://localhost/", Io::new(client)).await.unwrap();
//! let mut server = server.await.unwrap().unwrap();
//! client.send(Message::text("hello")).await.unwrap();
//! assert_eq!(server.next().await.unwrap().unwrap(), Message::text("hello"));
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```
//!
//! # What works through the bridge
//!
//! Crates that call tokio while they run, unmodified, with [`BuilderExt::with_tokio`] or
//! `#[windlass::main(tokio = true)]`:
//!
//! | what | tested with |
//! |---|---|
//! | [`tokio::{spawn, time, net, fs, process, signal}`](#tokiospawn-and-the-rest) | |
//! | [reqwest](#reqwest) | a windlass server |
//! | [tower's `timeout`, `buffer`](#tower); tower-http's time-outs | a service, and axum over HTTP/1 and HTTP/2 |
//! | axum's `WebSocketUpgrade` and `Sse::keep_alive` | `windlass::axum`, over HTTP/1 and HTTP/2 |
//! | tonic, client and server, single calls and streams; its own server runs on tokio's thread alone; with `windlass::axum` or `windlass::hyper`, its routes run on windlass's workers | each other |
//! | sqlx | SQLite, PostgreSQL 15 |
//! | tokio-postgres | PostgreSQL 15 |
//! | redis | Redis 7 |
//!
//! ### `tokio::spawn` and the rest
//!
//! ```
//! # use std::time::Duration;
//! #[windlass::main(tokio = true)]
//! async fn main() -> std::io::Result<()> {
//!     tokio::time::sleep(Duration::from_millis(1)).await; // on our worker, woken by tokio
//!     let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//!     let aside = tokio::spawn(async move { listener.local_addr() }); // on tokio's thread
//!     assert!(aside.await.unwrap()?.port() > 0);
//!     assert!(tokio::fs::metadata("Cargo.toml").await?.is_file());
//!     Ok(())
//! }
//! ```
//!
//! ### reqwest
//!
//! ```
//! # use windlass::net::TcpListener;
//! #[windlass::main(tokio = true)]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     # let listener = TcpListener::bind("127.0.0.1:0").await?;
//!     # let address = listener.local_addr()?;
//!     # windlass::spawn(async move {
//!     #     let (stream, _) = listener.accept().await.unwrap();
//!     #     stream.read(&mut [0; 1024]).await.unwrap();
//!     #     stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await.unwrap();
//!     # });
//!     let client = reqwest::Client::builder().no_proxy().build()?;
//!     let text = client.get(format!("http://{address}/")).send().await?.text().await?;
//!     assert_eq!(text, "hello");
//!     Ok(())
//! }
//! ```
//!
//! ### tower
//!
//! ```
//! use std::time::Duration;
//! use tower::{BoxError, Service, ServiceBuilder, ServiceExt};
//!
//! #[windlass::main(tokio = true)]
//! async fn main() -> Result<(), BoxError> {
//!     let double = tower::service_fn(|number: u32| async move { Ok::<_, BoxError>(2 * number) });
//!     let mut service =
//!         ServiceBuilder::new().buffer(8).timeout(Duration::from_secs(5)).service(double);
//!     assert_eq!(service.ready().await?.call(21).await?, 42);
//!     Ok(())
//! }
//! ```
//!
//! # What it costs to have tokio beside
//!
//! Measured with `cargo run --release -p windlass-tokio --example bridge_cost` on a machine with
//! two cores, all in one run:
//!
//! | | without the bridge | through it | on tokio |
//! |---|---|---|---|
//! | spawn a windlass task and await it | 92 ns | 87 ns | |
//! | `tokio::spawn` a task and await it | | **12 µs** | 0.21 µs |
//! | `block_on` of a future that is ready | 31 ns | 51 ns | |
//! | windlass's `sleep` of 1 ms | 1.03 ms | 1.03 ms | |
//! | `tokio::time::sleep` of 1 ms | | **2.1 ms** | 2.1 ms |
//! | 64 bytes there and back, windlass's sockets | 13 µs | 13 µs | |
//! | 64 bytes there and back, tokio's sockets | | **39 µs** | 13 µs |
//!
//! So code that does not use tokio pays nothing: the side runtime is entered once for each thread, not for each poll
//! (an `enter` costs 21 ns). Code that goes through the bridge pays for a change of threads each time a driver wakes a
//! windlass task, and each time a windlass task waits for one of tokio's. tokio's timers are as coarse as on tokio
//! itself. Where a crate lets you choose, use [`Io`] around windlass's sockets, and windlass's timers; the bridge is
//! for crates that don't.
//!
//! # Platforms
//!
//! The same as those of windlass and tokio.

#[cfg(feature = "bridge")]
mod bridge;
mod compat;
mod io;
// Descriptors as Unix has them.
#[cfg(unix)]
mod unix;

#[cfg(feature = "bridge")]
pub use bridge::BuilderExt;
pub use compat::{Compat, CompatExt};
pub use io::Io;
pub use windlass_net::adapter::{ReadUninit, WriteVectored};
