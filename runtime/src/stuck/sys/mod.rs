//! The stack of another thread, where it is available: on Linux, on x86-64 and arm64, with the feature `stack-traces`.
//! A backend provides:
//!
//! - `ThreadMark`: where a thread can be reached; with `new()` for nobody, `set()`, called by the thread itself, and
//!   `clear()`;
//! - `stack_of(&ThreadMark) -> Option<Vec<CodeAddress>>`: the code addresses on the stack of the thread that has left
//!   the mark, innermost first. It takes some seconds if that thread does not answer, so it is called on a thread that
//!   may wait;
//! - `name_frames(&[CodeAddress]) -> Vec<StackFrame>`: the names of the functions there, as far as they are known.

/// Where a function continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeAddress {
    pub(crate) address: usize,
    /// The function has called another, which returns to this address: the call is before it. Otherwise it was
    /// interrupted here.
    pub(crate) is_return: bool,
}

#[cfg(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[path = "linux/mod.rs"]
mod backend;
#[cfg(not(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "none.rs"]
mod backend;

pub(crate) use backend::{ThreadMark, name_frames, stack_of};
