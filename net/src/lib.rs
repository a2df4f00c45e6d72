//! Sockets, pipes and any pollable descriptor for the windlass runtime.
//!
//! Programs use this crate through the facade `windlass`, as `windlass::net`.
//!
//! | for | use |
//! |---|---|
//! | TCP | [`TcpListener`], [`TcpStream`]; [`TcpSocket`] to set options first |
//! | UDP | [`UdpSocket`] |
//! | local sockets and pipes | `unix`, which Windows does not have |
//! | any other descriptor | [`Async`] |
//! | names | [`resolve`], [`ToSocketAddrs`] |
//! | being signalled by foreign code | [`OsEvent`] |
//! | a time of day | [`WallTimer`] |
//! | any handle of Windows that can be waited for | `WaitHandle`, which only Windows has |
//!
//! # What all of them have in common
//!
//! - They belong to the runtime that was current when they were made (the global one outside of any).
//!   When it shuts down, whoever waits is told so by an error. They may be used from tasks of other
//!   runtimes and from plain threads (by `block_on`).
//! - Operations are tried first; a task waits only if there is nothing to do yet.
//! - Methods take `&self`. One task may read while another writes; several may wait for the same
//!   direction, all wake, and one gets what there is.
//! - Dropping a future loses no byte, no datagram and no connection that was not returned. The two
//!   exceptions, `read_exact` and `write_all`, say so.
//! - The result of an operation counts against the task's budget, so that a socket that is always
//!   ready cannot hold a worker.
//! - An interrupting signal is not an error, and writing to a socket whose peer has gone raises none.
//!
//! # Examples
//!
//! ```no_run
//! use windlass::net::TcpListener;
//!
//! # async fn serve() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:7000").await?;
//! loop {
//!     let (stream, _peer) = listener.accept().await?;
//!     windlass::spawn(async move {
//!         let mut buf = vec![0; 4096];
//!         while let Ok(n @ 1..) = stream.read(&mut buf).await {
//!             if stream.write_all(&buf[..n]).await.is_err() {
//!                 break;
//!             }
//!         }
//!     });
//! }
//! # }
//! ```
//!
//! # How it is built
//!
//! [`Async`] joins a descriptor and its registration with the poller; every type has one inside. `bytes`
//! has what streams share, `datagram` what datagram sockets share, and `methods` and `readiness` give it to the
//! public types. `sys` is the only place that names an OS.

mod addrs;
mod async_io;
mod bytes;
mod datagram;
mod halves;
mod incoming;
mod methods;
mod os_event;
mod readiness;
mod sys;
mod tcp;
mod udp;
// Local sockets and pipes as Unix has them are not to be had elsewhere.
#[cfg(unix)]
pub mod unix;
mod wall_timer;

pub use addrs::{Addresses, Lookup, ToSocketAddrs, resolve};
pub use async_io::Async;
pub use halves::{Duplex, OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use incoming::Incoming;
pub use os_event::OsEvent;
pub use readiness::Interest;
// Handles that can be waited for are a thing of Windows.
#[cfg(windows)]
pub use sys::WaitHandle;
pub use tcp::{Keepalive, TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
pub use wall_timer::{WallTimer, sleep_until_wall};
