//! The error of those who come too late: their runtime has shut down, or is about to.

use std::error::Error;
use std::fmt;
use std::io;

/// What is inside such an error.
#[derive(Debug)]
struct Gone(&'static str);

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Gone {}

/// An error by which [`is_shutdown_error`] knows that a runtime is gone.
#[cold]
pub(crate) fn gone(message: &'static str) -> io::Error {
    io::Error::other(Gone(message))
}

/// True if an operation failed because its runtime has shut down or is shutting down, and not because of what it was
/// about. A task sees it seldom, as it is cancelled then. Sockets that outlive their runtime, or that are used from
/// another one, report it from all that would have to wait; making one on a runtime that ends does, and so does
/// [`resume_on_pool`](crate::resume_on_pool).
///
/// An error of another type around it, as libraries make them, does not hide it if its `source` leads there.
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
        // Its source is that of what is inside, which would be passed over.
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}
