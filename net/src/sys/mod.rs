//! The operating system: the only place in this crate that names it, and that is unsafe.
//!
//! A platform provides:
//!
//! - `Descriptor`, `AsDescriptor`, `descriptor(&T)`: what a registration takes, the trait of what has
//!   one, and how to get it;
//! - `descriptor_traits!`: the conversions from and to the platform's own descriptor types;
//! - `set_nonblocking`, and `explain`: what the error of a registration means;
//! - `tcp_socket`, `bind`, `listen`, `into_listener`, `start_connect`, `accept`: TCP without blocking.
//!   `start_connect` says `Ok` for an attempt that is under way, and sockets are non-blocking from the
//!   start;
//! - `refuse_new`: lets no more connections into the queue of a TCP listener, and returns whether it can;
//! - `send`, `send_vectored`: to a connected socket, without a signal if the peer has gone;
//! - `recv_uninit`: from a connected socket, into memory that need not be initialised;
//! - `SocketOption`, `option`, `get_option`, `set_option`, `linger`, `set_linger`: what std has no
//!   methods for;
//! - `Event`: an auto-reset event that is an object of the OS, and `EventWaits`: how tasks wait for it;
//! - `WallWait`: waits for a time of the wall clock (`new(SystemTime)`), or for the clock being set.
//!   `poll(cx, SystemTime)` is ready when it is time to look at the clock, and waits anew after that;
//! - `SHORT_WRITE_FILLS`: whether a socket that took less than it was given reports when it has room
//!   again; `CONNECTS_REGISTERED`: whether it has to be registered before it connects;
//!   `REUSES_ADDRESSES`: whether servers want that option; `CONNECTIONS_REPORTED_ONE_BY_ONE`: whether taking a connection
//!   has the next one reported, also if it is there already;
//! - `recv`, `recv_from`: datagrams, cut to what there is room for, taken or only looked at.
//!
//! And where local sockets and pipes are as Unix has them: `local` (std's types of them),
//! `connect_local`, `peer_credentials`, `pipe`, `read_uninit`, `refuse_new_local`.

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
