//! The operating system: the only module of this crate that names it.
//!
//! A platform provides:
//!
//! - `Descriptor`, `AsDescriptor`, `descriptor(&T)`: the argument of a registration, the trait of types that have a
//!   descriptor, and a function that returns it;
//! - `descriptor_traits!`: the conversions from and to the platform's own descriptor types;
//! - `set_nonblocking`, and `explain`, which makes the error of a registration clearer;
//! - `tcp_socket`, `bind`, `listen`, `into_listener`, `start_connect`, `accept`: TCP without blocking.
//!   `start_connect` returns `Ok` for an attempt that is in progress. Sockets are created non-blocking;
//! - `refuse_new`: closes the queue of a TCP listener to new connections, and returns true if that is supported;
//! - `send`, `send_vectored`: send to a connected socket, without a signal if the peer has closed it;
//! - `recv_uninit`: receives from a connected socket, into memory that need not be initialised;
//! - `SocketOption`, `option`, `get_option`, `set_option`, `linger`, `set_linger`, `device`, `bind_device`: options
//!   without methods in std;
//! - `Event`: an auto-reset event that is an object of the OS, and `EventWaits`: the waits of tasks for it;
//! - `WallWait`: waits for a time of the wall clock (`new(SystemTime)`), or until the clock is set.
//!   `poll(cx, SystemTime)` is ready when the clock has to be checked, and waits anew after that;
//! - `SHORT_WRITE_FILLS`: true if a socket that accepted fewer bytes than it was given reports when it has room
//!   again. `CONNECTS_REGISTERED`: true if a socket has to be registered before it connects.
//!   `REUSES_ADDRESSES`: true if servers need that option. `CONNECTIONS_REPORTED_ONE_BY_ONE`: true if accepting
//!   a connection causes a report of the next one, even if it is there already;
//! - `recv`, `recv_from`: receive a datagram, truncated to the room for it, and leave it in the queue if asked to;
//!   `recv_from_uninit`: the same into memory that need not be initialised.
//!
//! On Unix also: `local` (std's types of them), `bind_local`, `connect_local`, `local_datagram`,
//! `local_stream`, `no_room`, `peer_credentials`, `pipe`, `read_uninit`, `refuse_new_local`,
//! `set_blocking`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub use windows::WaitHandle;
#[cfg(windows)]
pub(crate) use windows::*;
