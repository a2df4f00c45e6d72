//! The reasons why a pool could not be built.

use std::error::Error;
use std::{fmt, io};

/// The error of building a pool.
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: ErrorKind,
}

#[derive(Debug)]
pub(crate) enum ErrorKind {
    GlobalPoolAlreadyInitialized,
    CurrentThreadAlreadyInPool,
    IOError(io::Error),
}

impl ThreadPoolBuildError {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self { kind }
    }
}

impl From<io::Error> for ThreadPoolBuildError {
    fn from(error: io::Error) -> Self {
        Self::new(ErrorKind::IOError(error))
    }
}

impl ErrorKind {
    fn message(&self) -> Result<&'static str, &io::Error> {
        match self {
            Self::GlobalPoolAlreadyInitialized => {
                Ok("The global thread pool has already been initialized.")
            }
            Self::CurrentThreadAlreadyInPool => {
                Ok("The current thread is already part of another thread pool.")
            }
            Self::IOError(error) => Err(error),
        }
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind.message() {
            Ok(message) => f.write_str(message),
            Err(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    // rayon's own core returns this, for programs that still call it.
    #[allow(deprecated)]
    fn description(&self) -> &str {
        self.kind.message().unwrap_or_else(Error::description)
    }

    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ErrorKind::IOError(error) => Some(error),
            _ => None,
        }
    }
}
