//! Kicks, which make a queue return from its wait.
//!
//! A kick is a user event where the OS has them: macOS and FreeBSD. NetBSD has had them only since version 10, and
//! OpenBSD not for long, so there it is a byte in a pipe. `--cfg windlass_kick="pipe"` chooses the pipe on the others
//! too.

#[cfg(any(target_os = "netbsd", target_os = "openbsd", windlass_kick = "pipe"))]
mod pipe;
#[cfg(not(any(target_os = "netbsd", target_os = "openbsd", windlass_kick = "pipe")))]
mod user;

#[cfg(any(target_os = "netbsd", target_os = "openbsd", windlass_kick = "pipe"))]
pub(super) use pipe::Kick;
#[cfg(not(any(target_os = "netbsd", target_os = "openbsd", windlass_kick = "pipe")))]
pub(super) use user::Kick;
