//! What can go wrong with a connection.

use std::fmt;
use std::io;

/// Why a connection ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The protocol was violated, the service failed, or the peer went in the middle of something.
    Http(hyper::Error),
    /// The connection failed before its protocol was known.
    Io(io::Error),
    /// The head of a request did not arrive in time.
    HeaderTimeout,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::HeaderTimeout => f.write_str("the head of a request did not arrive in time"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Http(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::HeaderTimeout => None,
        }
    }
}

impl From<hyper::Error> for Error {
    fn from(error: hyper::Error) -> Self {
        Self::Http(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
