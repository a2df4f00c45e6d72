//! The CPU time of a thread: Win32's count, which goes up with the ticks of the system's timer.

use std::time::Duration;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{GetCurrentThread, GetThreadTimes};

/// Returns the CPU time of the current thread so far, if the OS tells.
pub(crate) fn cpu_time_of_thread() -> Option<Duration> {
    let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
    let [created, exited, kernel, user] = &mut times;
    // SAFETY: the places outlive the call, and the pseudo-handle of the current thread needs no closing.
    let got = unsafe { GetThreadTimes(GetCurrentThread(), created, exited, kernel, user) };
    let units =
        |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    let [_, _, kernel, user] = times.map(units);
    // In units of 100 ns.
    (got != 0).then(|| Duration::from_nanos((kernel + user) * 100))
}
