//! How a task waits for the wall clock: by a waitable timer that is set to an absolute time, and for which
//! the OS's thread pool stands by. When the clock is set, the OS moves such a timer along.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle};
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windlass_runtime::io::{Descriptor, Direction, Registration};
use windows_sys::Win32::System::Threading::{CreateWaitableTimerW, SetWaitableTimer};

/// From the OS's epoch, the year 1601, to that of Unix.
const EPOCH: Duration = Duration::from_secs(11_644_473_600);

#[derive(Debug)]
pub(crate) struct WallWait {
    // Above the timer, for it has to go before that is closed.
    registration: Registration,
    timer: OwnedHandle,
}

impl WallWait {
    pub(crate) fn new(time: SystemTime) -> io::Result<Self> {
        // SAFETY: null is allowed for the attributes and for the name; one that is not reset by hand.
        let timer = unsafe { CreateWaitableTimerW(std::ptr::null(), 0, std::ptr::null()) };
        if timer.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, and nobody else has it.
        let timer = unsafe { OwnedHandle::from_raw_handle(timer) };
        set(&timer, time)?;
        let registration = Registration::unready(Descriptor::Handle(timer.as_handle()))?;
        Ok(Self { registration, timer })
    }

    /// Waits until it is time to look at the clock again, for whatever reason.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, time: SystemTime) -> Poll<io::Result<()>> {
        ready!(self.registration.poll_ready(Direction::Read, cx))?;
        set(&self.timer, time)?;
        // A registration of a handle reports once.
        self.registration = Registration::unready(Descriptor::Handle(self.timer.as_handle()))?;
        Poll::Ready(Ok(()))
    }
}

fn set(timer: &OwnedHandle, time: SystemTime) -> io::Result<()> {
    let due = due(time);
    // SAFETY: the timer is open, the time outlives the call, and there is no routine to be called.
    match unsafe { SetWaitableTimer(timer.as_raw_handle(), &due, 0, None, std::ptr::null(), 0) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A time as the OS wants it: in units of 100 ns since its epoch, rounded up. One that it can't express
/// is cut to the last; one before its epoch is past anyway.
fn due(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_add(EPOCH);
    i64::try_from(since.as_nanos().div_ceil(100)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_the_epoch_of_the_os() {
        assert_eq!(due(UNIX_EPOCH), 116_444_736_000_000_000);
        assert_eq!(due(UNIX_EPOCH + Duration::from_nanos(200)), 116_444_736_000_000_002);
        assert_eq!(due(UNIX_EPOCH - Duration::from_secs(1)), due(UNIX_EPOCH));
    }
}
