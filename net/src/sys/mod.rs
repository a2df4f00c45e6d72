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
//! - `send`, `send_vectored`: to a connected socket, without a signal if the peer has gone;
//! - `SocketOption`, `option`, `get_option`, `set_option`, `linger`, `set_linger`: what std has no
//!   methods for;
//! - `Event`: an auto-reset event that is an object of the OS.
//!
//! And where local sockets and pipes are as Unix has them: `local` (std's types of them),
//! `connect_local`, `peer_credentials`, `pipe`.

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub(crate) use unix::*;
