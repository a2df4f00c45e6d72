//! System calls that fail on demand: errors that can't be brought about otherwise without harming other programs.

use std::io;

/// Has these system calls fail with this error from now on, on the current thread and those it will start.
pub(crate) fn refuse(calls: &[libc::c_long], error: i32) {
    // The number of the call is the first word of what the filter is shown.
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let jump = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let end = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut program = vec![step(load, 0, 0, 0)];
    for call in calls {
        program.push(step(jump, 0, 1, *call as u32));
        program.push(step(end, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32));
    }
    program.push(step(end, 0, 0, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: numbers only.
    let first = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(first, 0, "{}", io::Error::last_os_error());
    let mode = libc::SECCOMP_MODE_FILTER;
    // SAFETY: the program and what it points to outlive the call, which copies them.
    let second = unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) };
    assert_eq!(second, 0, "{}", io::Error::last_os_error());
}
