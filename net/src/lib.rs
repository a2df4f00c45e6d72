//! Sockets, pipes and any pollable descriptor for the windlass runtime.
//!
//! Programs use this crate through the facade `windlass`, as `windlass::net`.
//!
//! | for | use |
//! |---|---|
//! | TCP | [`TcpListener`], [`TcpStream`]; [`TcpSocket`] to set options first |
//! | UDP | [`UdpSocket`] |
//! | local sockets and pipes | `unix`, on Unix only |
//! | any other descriptor | [`Async`] |
//! | names | [`resolve`], [`ToSocketAddrs`] |
//! | signals from foreign code | [`OsEvent`] |
//! | a time of day | [`WallTimer`] |
//! | any Windows handle that can be waited for | `WaitHandle`, on Windows only |
//!
//! # What all of them have in common
//!
//! - They belong to the runtime that was current when they were created, or to the global runtime if there was none.
//!   When that runtime shuts down, waiting operations return an error. Tasks of other runtimes can use them as well,
//!   and so can plain threads with `block_on`.
//! - An operation is tried first. The task waits only if the operation would block.
//! - Methods take `&self`. One task can read while another writes. If several tasks wait for the same direction, all
//!   wake up, and one of them gets the data.
//! - Dropping a future loses no bytes, datagrams or connections. The two exceptions, `read_exact` and `write_all`, are
//!   documented.
//! - Each result counts against the task's budget, so that a socket that is always ready cannot occupy a worker.
//! - A signal that interrupts a call is not an error. Writing to a socket whose peer has closed it raises no signal.
//!
//! # What a peer can do
//!
//! A peer is not trusted. It can send nothing, send without end, stop reading, reset a connection at any point, or
//! leave a listener's queue before it is accepted. None of that panics, blocks a worker or keeps other tasks from
//! running. The program itself has to bound three things, because only it knows the protocol:
//!
//! - **Time.** A read from a silent peer and a write to one that does not read wait forever. Put
//!   [`timeout`](windlass_runtime::timer::timeout) around them.
//! - **Memory.** `read_to_end` reads as much as the peer sends. Read with `read_buf` up to a limit instead.
//! - **Descriptors.** A listener accepts as many connections as the program asks for; see
//!   [`TcpListener`](TcpListener#when-descriptors-run-out). `serve::Drain` has a limit.
//!
//! The sender's address of a UDP datagram can be forged. The credentials of a local peer come from the kernel.
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
//! [`Async`] is a descriptor and its registration with the poller; every type contains one. `bytes` implements the
//! common part of streams, `datagram` that of datagram sockets, and `methods` and `readiness` define the public
//! methods. `adapter` is the common part of the adapters to other crates' traits. `sys` is the only module that names
//! an OS.

#[doc(hidden)]
pub mod adapter;
mod addrs;
mod async_io;
mod bytes;
mod datagram;
mod halves;
mod incoming;
mod methods;
mod os_event;
mod policy;
mod readiness;
mod ready_guard;
mod sys;
pub mod tcp;
mod udp;
// Local sockets and pipes exist in this form on Unix only.
#[cfg(unix)]
pub mod unix;
mod wall_timer;

pub use addrs::{Addresses, Lookup, ToSocketAddrs, resolve};
pub use async_io::Async;
pub use halves::{Duplex, OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use incoming::Incoming;
pub use os_event::OsEvent;
pub use readiness::Interest;
pub use ready_guard::ReadyGuard;
// Handles that can be waited for exist on Windows only.
#[cfg(windows)]
pub use sys::WaitHandle;
pub use tcp::{Keepalive, TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
pub use wall_timer::{WallTimer, sleep_until_wall};
