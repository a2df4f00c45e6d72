//! System calls that tests need and std does not have.

use std::io;

use libc::c_int;

fn check(result: c_int) {
    assert_ne!(result, -1, "{}", io::Error::last_os_error());
}

/// Sends a signal to this process.
pub(crate) fn signal_self(signal: c_int) {
    signal_to(std::process::id(), signal);
}

/// Sends a signal to a process.
pub(crate) fn signal_to(process: u32, signal: c_int) {
    // SAFETY: takes numbers only.
    check(unsafe { libc::kill(process as libc::pid_t, signal) });
}

/// True while the OS knows the process, be it as a zombie.
pub(crate) fn is_known(process: u32) -> bool {
    // SAFETY: takes numbers only; signal zero does nothing.
    unsafe { libc::kill(process as libc::pid_t, 0) == 0 }
}

/// The group that a process is in.
pub(crate) fn group_of(process: u32) -> u32 {
    // SAFETY: takes numbers only.
    unsafe { libc::getpgid(process as libc::pid_t) as u32 }
}

/// Installs a handler that gets the signal's number alone.
pub(crate) fn install_handler(signal: c_int, handler: extern "C" fn(c_int)) {
    install(signal, handler as usize, 0);
}

/// Installs a handler that is told more.
pub(crate) fn install_long_handler(
    signal: c_int,
    handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void),
) {
    install(signal, handler as usize, libc::SA_SIGINFO);
}

fn install(signal: c_int, handler: usize, flags: c_int) {
    // SAFETY: zeroes are valid for an action without flags and mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: `action` is valid, and the handlers of the tests touch nothing but atomics.
    check(unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) });
}

/// Sets how many descriptors the process may have, and returns what the limit was.
pub(crate) fn limit_descriptors(limit: u64) -> u64 {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limits` is a valid place for them.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limits) });
    let before = limits.rlim_cur as _;
    limits.rlim_cur = limit as libc::rlim_t;
    // SAFETY: `limits` is valid.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limits) });
    before
}
