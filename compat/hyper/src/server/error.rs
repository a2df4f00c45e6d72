//! The errors of a connection.

use std::fmt;
use std::io;

/// Why a connection ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The protocol was violated, the service failed, or the peer went away in the middle of something.
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
        // The inner error is already displayed, so a report of all causes continues with the cause behind it.
        match self {
            Self::Http(error) => error.source(),
            Self::Io(error) => error.source(),
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

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[derive(Debug)]
    struct Deep;

    impl fmt::Display for Deep {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("deep down")
        }
    }

    impl std::error::Error for Deep {}

    #[derive(Debug)]
    struct Outer(Deep);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("on the surface")
        }
    }

    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_report_of_all_causes_has_each_of_them_once() {
        let error = Error::Io(io::Error::other(Outer(Deep)));
        let mut report = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(error) = cause {
            report.push(error.to_string());
            cause = error.source();
        }
        assert_eq!(report, ["on the surface", "deep down"]);
        assert!(Error::HeaderTimeout.source().is_none());
    }
}
