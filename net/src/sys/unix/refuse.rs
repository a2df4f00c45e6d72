//! Closing the queue of a listener to new connections, which Linux supports.

use std::io;
use std::os::fd::AsRawFd;

use super::{Descriptor, check};

/// The position of the flags in a TCP header, and the flag of a packet that requests a connection.
const FLAGS: u32 = 13;
const SYN: u32 = 0x02;

/// Drops packets that request a connection from a TCP listener. Handshakes that have begun are completed.
///
/// The filter stays with the listener, and with the connections that it accepts from now on; their packets do not have
/// that flag.
pub(crate) fn refuse_new(listener: Descriptor<'_>) -> io::Result<bool> {
    // SAFETY: these make plain values of their arguments.
    let mut program = unsafe {
        [
            libc::BPF_STMT((libc::BPF_LD | libc::BPF_B | libc::BPF_ABS) as u16, FLAGS),
            libc::BPF_JUMP((libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16, SYN, 0, 1),
            libc::BPF_STMT((libc::BPF_RET | libc::BPF_K) as u16, 0),
            libc::BPF_STMT((libc::BPF_RET | libc::BPF_K) as u16, u32::MAX),
        ]
    };
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: pointer and length describe `filter`, which names a program that outlives the call; the OS copies it.
    check(unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            std::ptr::from_ref(&filter).cast(),
            size_of_val(&filter) as libc::socklen_t,
        )
    })?;
    Ok(true)
}

/// Makes a local listener refuse connections. Those in its queue can still be accepted.
pub(crate) fn refuse_new_local(listener: Descriptor<'_>) -> io::Result<bool> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::shutdown(listener.as_raw_fd(), libc::SHUT_RD) })?;
    Ok(true)
}
