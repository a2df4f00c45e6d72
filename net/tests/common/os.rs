//! What the tests want of the OS that std has no functions for.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

fn check(result: i32) {
    assert_ne!(result, -1, "{}", io::Error::last_os_error());
}

/// How many descriptors the process has open.
pub(crate) fn open_descriptors() -> usize {
    let limit = limit_descriptors(None).min(1 << 16) as i32;
    // SAFETY: asks for flags, of whatever number.
    (0..limit).filter(|&fd| unsafe { libc::fcntl(fd, libc::F_GETFD) } != -1).count()
}

/// Sets the limit of open descriptors, if one is passed, and returns the previous one.
pub(crate) fn limit_descriptors(limit: Option<u64>) -> u64 {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limits` is a valid place for them.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limits) });
    let before = limits.rlim_cur as _;
    if let Some(limit) = limit {
        limits.rlim_cur = limit as libc::rlim_t;
        // SAFETY: `limits` is valid.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limits) });
    }
    before
}

/// Has as many descriptors allowed as can be had, and gives their number.
pub(crate) fn most_descriptors() -> u64 {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limits` is a valid place for them.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limits) });
    limits.rlim_cur = limits.rlim_max;
    // SAFETY: `limits` is valid.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limits) });
    limits.rlim_max as _
}

/// The CPU time that the process has used, in microseconds.
pub(crate) fn cpu_micros() -> u64 {
    // SAFETY: zeroes are valid for numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for it.
    check(unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) });
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    micros(usage.ru_utime) + micros(usage.ru_stime)
}

/// The C call.
pub(crate) fn raw_write(fd: &impl AsRawFd, bytes: &[u8]) -> isize {
    // SAFETY: pointer and length describe `bytes`.
    unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) }
}

/// Sends one byte as urgent data.
pub(crate) fn send_urgent(socket: &impl AsFd, byte: u8) {
    // SAFETY: there is one byte.
    let sent = unsafe {
        libc::send(socket.as_fd().as_raw_fd(), (&raw const byte).cast(), 1, libc::MSG_OOB)
    };
    assert_eq!(sent, 1, "{}", io::Error::last_os_error());
}

/// Sends bytes, and a descriptor along with them.
pub(crate) fn send_with_descriptor(socket: &impl AsFd, bytes: &[u8], passed: &impl AsFd) {
    // Room for one header and one descriptor, aligned as headers are.
    let mut control = [0_u64; 4];
    let mut buffer =
        libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: a message of zeroes is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut buffer;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: it only computes.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(4) } as _;
    // SAFETY: the control buffer has room for the header and the descriptor (24 of 32 bytes), and all
    // that `message` names lives to the end of the call.
    let sent = unsafe {
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header).cast::<i32>().write_unaligned(passed.as_fd().as_raw_fd());
        libc::sendmsg(socket.as_fd().as_raw_fd(), &message, 0)
    };
    assert_eq!(sent, bytes.len() as isize, "{}", io::Error::last_os_error());
}

extern "C" fn ignore(_signal: libc::c_int) {}

/// Interrupts the process a thousand times a second from now on, without `SA_RESTART`.
pub(crate) fn start_signal_storm() {
    // SAFETY: zeroes are valid for an action without flags and mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = ignore as extern "C" fn(libc::c_int) as usize;
    // SAFETY: `action` is valid, and its handler does nothing.
    check(unsafe { libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut()) });
    set_storm(1000);
}

pub(crate) fn stop_signal_storm() {
    set_storm(0);
}

fn set_storm(micros: i64) {
    let period = libc::timeval { tv_sec: 0, tv_usec: micros as _ };
    let timer = libc::itimerval { it_interval: period, it_value: period };
    // SAFETY: `timer` is valid.
    check(unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) });
}

/// Has SIGPIPE end the process, as in programs that are not Rust's.
pub(crate) fn restore_sigpipe() {
    // SAFETY: the default action needs no handler.
    let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    assert_ne!(before, libc::SIG_ERR);
}

/// Steps the wall clock by a microsecond and back: whoever waits for it is told. False if that is not
/// allowed.
#[cfg(target_os = "linux")]
pub(crate) fn step_clock() -> bool {
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

/// Makes a FIFO.
pub(crate) fn make_fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a string that ends with zero, and lives as long as the call.
    check(unsafe { libc::mkfifo(path.as_ptr(), 0o600) });
}

/// Opens a FIFO for reading, without waiting for a writer.
pub(crate) fn open_to_read(path: &Path) -> File {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).unwrap()
}

/// Forks, has the child close all of its descriptors and end, and returns its status.
///
/// The child has one thread and copies of all descriptors, among them those of the runtime that this process goes on
/// using.
pub(crate) fn fork_and_close_everything() -> i32 {
    let most = limit_descriptors(None).min(1 << 16) as i32;
    // SAFETY: the child calls nothing but functions that may be called after a fork, and does not return.
    let child = unsafe { libc::fork() };
    check(child);
    if child == 0 {
        for fd in 0..most {
            // SAFETY: whatever it is, this process uses it no more.
            unsafe { libc::close(fd) };
        }
        // SAFETY: ends the process.
        unsafe { libc::_exit(0) };
    }
    let mut status = -1;
    // SAFETY: `status` is a valid place for it.
    check(unsafe { libc::waitpid(child, &mut status, 0) });
    status
}
