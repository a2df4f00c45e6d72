//! The error of a task that has panicked or been cancelled.

use std::any::Any;
use std::fmt;
use std::io;

use super::id::Id;

/// The error returned by a [`JoinHandle`](super::JoinHandle): the task panicked, or it was cancelled by
/// [`abort`](super::JoinHandle::abort) or by the runtime's shutdown.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// # std::panic::set_hook(Box::new(|_| ()));
/// let task = windlass::spawn(async { panic!("oops") });
/// let id = task.id();
/// let error = task.await.unwrap_err();
/// assert!(error.is_panic() && !error.is_cancelled());
/// assert_eq!(error.id(), id);
/// assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "oops");
/// # });
/// ```
pub struct JoinError {
    id: Id,
    cause: Cause,
}

enum Cause {
    Cancelled,
    Panic(Payload),
}

/// The payload of a panic.
struct Payload(Box<dyn Any + Send>);

// SAFETY: a shared payload is only ever read as `&'static str` or `String`, which are `Sync`; anything else is reached
// only by value.
unsafe impl Sync for Payload {}

impl std::panic::UnwindSafe for JoinError {}
impl std::panic::RefUnwindSafe for JoinError {}

impl JoinError {
    pub(crate) fn cancelled(id: Id) -> Self {
        Self { id, cause: Cause::Cancelled }
    }

    pub(crate) fn panic(id: Id, payload: Box<dyn Any + Send>) -> Self {
        Self { id, cause: Cause::Panic(Payload(payload)) }
    }

    /// Returns true if the task was cancelled before it ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn is_cancelled(&self) -> bool {
        matches!(self.cause, Cause::Cancelled)
    }

    /// Returns true if the task panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(!task.await.unwrap_err().is_panic());
    /// # });
    /// ```
    pub fn is_panic(&self) -> bool {
        matches!(self.cause, Cause::Panic(_))
    }

    /// Returns the panic's payload, for [`std::panic::resume_unwind`].
    ///
    /// # Panics
    ///
    /// Panics if the task was cancelled; see [`try_into_panic`](Self::try_into_panic).
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// # std::panic::set_hook(Box::new(|_| ()));
    /// let error = windlass::spawn(async { panic!("oops") }).await.unwrap_err();
    /// assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "oops");
    /// # });
    /// ```
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic()
            .expect("JoinError::into_panic on a task that was cancelled: check is_panic() first")
    }

    /// Returns the panic's payload.
    ///
    /// # Errors
    ///
    /// Returns the error itself if the task was cancelled.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(std::future::pending::<()>());
    /// task.abort();
    /// let error = task.await.unwrap_err().try_into_panic().unwrap_err();
    /// assert!(error.is_cancelled());
    /// # });
    /// ```
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        match self.cause {
            Cause::Panic(Payload(payload)) => Ok(payload),
            Cause::Cancelled => Err(self),
        }
    }

    /// Returns the task's id.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(std::future::pending::<()>());
    /// task.abort();
    /// let id = task.id();
    /// assert_eq!(task.await.unwrap_err().id(), id);
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }

    /// Returns the panic's message, if it has one.
    fn message(&self) -> Option<&str> {
        match &self.cause {
            Cause::Panic(Payload(payload)) => message(&**payload),
            Cause::Cancelled => None,
        }
    }
}

/// Returns the text of a panic, if it has one.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Option<&str> {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, self.message()) {
            (Cause::Cancelled, _) => write!(f, "task {} was cancelled", self.id),
            (Cause::Panic(_), Some(text)) => write!(f, "task {} panicked: {text}", self.id),
            (Cause::Panic(_), None) => write!(f, "task {} panicked", self.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, self.message()) {
            (Cause::Cancelled, _) => write!(f, "JoinError::Cancelled({})", self.id),
            (Cause::Panic(_), Some(text)) => write!(f, "JoinError::Panic({}, {text:?})", self.id),
            (Cause::Panic(_), None) => write!(f, "JoinError::Panic({}, ..)", self.id),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> io::Error {
        io::Error::other(error)
    }
}
