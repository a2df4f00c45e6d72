//! The error of operations on a runtime that has shut down or is shutting down.

use std::error::Error;
use std::fmt;
use std::io;

/// The inner error, by which [`is_shutdown_error`] recognises it.
#[derive(Debug)]
struct Gone(&'static str);

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Gone {}

/// Returns an error for which [`is_shutdown_error`] is true.
#[cold]
pub(crate) fn gone(message: &'static str) -> io::Error {
    io::Error::other(Gone(message))
}

/// Returns true if an operation failed because its runtime has shut down or is shutting down.
///
/// Tasks rarely see such an error, because they are cancelled at shutdown. Sockets that outlive their runtime return it
/// from every operation that would have to wait. Creating a socket on a runtime that is shutting down returns it too,
/// and so does [`resume_on_pool`](crate::resume_on_pool).
///
/// An error that a library has wrapped is recognised as well, provided that its `source` leads to the original.
///
/// # Examples
///
/// ```
/// use windlass::net::UdpSocket;
///
/// let runtime = windlass::Runtime::new()?;
/// let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0"))?;
/// drop(runtime);
/// let error = windlass::block_on(socket.recv(&mut [0; 16])).unwrap_err();
/// assert!(windlass::is_shutdown_error(&error));
/// assert!(!windlass::is_shutdown_error(&std::io::ErrorKind::ConnectionReset.into()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_shutdown_error(error: &io::Error) -> bool {
    let mut next = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    while let Some(error) = next {
        if error.is::<Gone>() {
            return true;
        }
        // The source of an `io::Error` is that of its inner error, which would be skipped.
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}
