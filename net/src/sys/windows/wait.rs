//! Waiting for handles, through the OS's thread pool.

use std::fmt;
use std::future::Future;
use std::io;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use windlass_runtime::io::{Descriptor, Direction, Registration};
use windlass_sync::primitives::Arc;

use super::event::take;

/// Makes any waitable handle awaitable: a process, a thread, an event, a waitable timer.
///
/// Waiting has the usual effect on the handle: none on a process, a thread or a manual-reset event. It takes the signal
/// of an auto-reset event or of a synchronization timer, and one unit of a semaphore. Mutexes are of no use here: they
/// would belong to a thread of the OS's pool.
///
/// Any number of tasks can wait. Windows only.
///
/// # Examples
///
/// ```
/// use std::process::Command;
/// use windlass::sync::os::WaitHandle;
///
/// # windlass::block_on(async {
/// let mut process = WaitHandle::new(Command::new("cmd").args(["/C", "exit 7"]).spawn()?);
/// process.wait().await?;
/// assert_eq!(process.get_mut().wait()?.code(), Some(7)); // at once
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
///
/// Waiting until the handle is signalled or a token is cancelled, which does not change the handle:
///
/// ```
/// use windlass::sync::os::WaitHandle;
/// use windlass::sync::CancellationToken;
///
/// # windlass::block_on(async {
/// let token = CancellationToken::new();
/// let thread = WaitHandle::new(std::thread::spawn(|| ()));
/// match token.run_until_cancelled(thread.wait()).await {
///     Some(signalled) => signalled?,
///     None => println!("cancelled"),
/// }
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct WaitHandle<T> {
    inner: T,
}

impl<T: AsHandle> WaitHandle<T> {
    /// Wraps a value that has a handle. The OS is not called until a task waits.
    pub fn new(inner: T) -> Self {
        Self { inner }
    }

    /// Returns a reference to the value that has the handle.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Returns a mutable reference to the value that has the handle.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the value that has the handle.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// Waits until the handle is signalled.
    ///
    /// The OS waits for a duplicate of the handle, so it never waits for a closed one. Dropping the future ends the
    /// wait and closes the duplicate. A signal that the OS has taken by then (see above) is lost; for an event that
    /// must not lose a signal use [`Event`](crate::OsEvent), which puts it back.
    ///
    /// # Errors
    ///
    /// Returns an error if the handle can't be waited for or duplicated, if the OS has no resources for the wait, or if
    /// the runtime shuts down.
    pub async fn wait(&self) -> io::Result<()> {
        match take(self.inner.as_handle()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return result,
        }
        let handle = self.inner.as_handle().try_clone_to_owned()?;
        Signalled::new(Arc::new(handle), |_| ())?.await
    }
}

impl<T: fmt::Debug> fmt::Debug for WaitHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitHandle").field(&self.inner).finish()
    }
}

/// One wait, through the current runtime.
///
/// It owns the handle instead of borrowing it: a leaked wait never ends, and a borrowed handle could be closed while
/// the OS waits for it.
pub(super) struct Signalled {
    /// `None` after it has ended. Above the handle, because it must be dropped before the handle is closed.
    registration: Option<Registration>,
    handle: Arc<OwnedHandle>,
    /// Receives a signal that was taken too late.
    put_back: fn(BorrowedHandle<'_>),
}

impl Signalled {
    pub(super) fn new(
        handle: Arc<OwnedHandle>,
        put_back: fn(BorrowedHandle<'_>),
    ) -> io::Result<Self> {
        let registration = Some(Registration::unready(Descriptor::Handle(handle.as_handle()))?);
        Ok(Self { registration, handle, put_back })
    }
}

impl Future for Signalled {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(registration) = &self.registration {
            ready!(registration.poll_ready(Direction::Read, cx))?;
            // The signal was received, so nothing has to be put back.
            self.registration = None;
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Signalled {
    fn drop(&mut self) {
        let signalled = self.registration.take().is_some_and(|it| it.end(Direction::Read));
        if signalled {
            (self.put_back)(self.handle.as_handle());
        }
    }
}
