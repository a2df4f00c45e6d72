//! The CPU time of a thread: a Unix clock.

use std::time::Duration;

/// Returns the CPU time of the current thread so far, if the OS tells.
pub(crate) fn cpu_time_of_thread() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call.
    let got = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
    (got == 0).then(|| Duration::new(seconds, nanos))
}
