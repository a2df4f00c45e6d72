//! A timer of the OS on the wall clock: a timerfd that reports when the clock is set.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{check, check_len, own};

#[derive(Debug)]
pub(crate) struct WallClock {
    fd: OwnedFd,
}

impl WallClock {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: takes no pointers.
        let fd = check(unsafe { libc::timerfd_create(libc::CLOCK_REALTIME, flags) })?;
        Ok(Self { fd: own(fd) })
    }

    /// Sets the time at which `take` succeeds. It also succeeds when the clock is set.
    pub(crate) fn set(&self, time: SystemTime) -> io::Result<()> {
        // The longest time that the kernel accepts; it truncates what is beyond its range.
        const LONGEST: u64 = i64::MAX as u64;
        // A time of zero would stop it.
        let since =
            time.duration_since(UNIX_EPOCH).unwrap_or_default().max(Duration::from_nanos(1));
        let value = libc::timespec {
            // `time_t` is deprecated where libc is musl.
            tv_sec: since.as_secs().min(LONGEST) as _,
            tv_nsec: since.subsec_nanos().into(),
        };
        let once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let setting = libc::itimerspec { it_interval: once, it_value: value };
        let flags = libc::TFD_TIMER_ABSTIME | libc::TFD_TIMER_CANCEL_ON_SET;
        let (fd, none) = (self.fd.as_raw_fd(), std::ptr::null_mut());
        loop {
            // SAFETY: `setting` outlives the call, and the old setting is not requested.
            let set = unsafe { libc::timerfd_settime(fd, flags, &raw const setting, none) };
            match check(set) {
                // The clock was set since the last call. This call has reported it, and the next one succeeds,
                // unless the clock was set again.
                Err(error) if error.raw_os_error() == Some(libc::ECANCELED) => {}
                set => return set.map(drop),
            }
        }
    }

    /// Succeeds if the time has come or the clock was set, and returns `WouldBlock` otherwise. After a success
    /// the timer has to be set again.
    pub(crate) fn take(&self) -> io::Result<()> {
        let mut count = [0; 8];
        // SAFETY: pointer and length describe `count`.
        let read = check_len(unsafe {
            libc::read(self.fd.as_raw_fd(), count.as_mut_ptr().cast(), count.len())
        });
        match read {
            Err(error) if error.raw_os_error() == Some(libc::ECANCELED) => Ok(()),
            read => read.map(drop),
        }
    }
}

impl AsFd for WallClock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps the clock by a microsecond and back. Returns false if that is not allowed.
    fn step() -> bool {
        for (seconds, micros) in [(0, 1), (-1, 999_999)] {
            // SAFETY: all zeroes is a valid `timex`, which asks for nothing.
            let mut timex: libc::timex = unsafe { std::mem::zeroed() };
            timex.modes = libc::ADJ_SETOFFSET;
            timex.time = libc::timeval { tv_sec: seconds, tv_usec: micros };
            // SAFETY: `timex` outlives the call.
            if unsafe { libc::adjtimex(&raw mut timex) } == -1 {
                return false;
            }
        }
        true
    }

    #[test]
    fn setting_a_timer_after_a_step_that_nobody_has_noticed_is_no_error() {
        let clock = WallClock::new().unwrap();
        let hour = SystemTime::now() + Duration::from_secs(3600);
        clock.set(hour).unwrap();
        if !step() {
            eprintln!("skipped: this needs the right to set the clock");
            return;
        }
        clock.set(hour).unwrap();
        assert_eq!(clock.take().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(step());
        // The step has been reported, and is reported once.
        clock.take().unwrap();
        clock.set(hour).unwrap();
        assert_eq!(clock.take().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
