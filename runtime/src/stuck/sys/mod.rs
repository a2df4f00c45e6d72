//! The stack of another thread, where it can be had: on Linux, on x86-64 and arm64, with the feature `stack-traces`. A
//! backend provides:
//!
//! - `ThreadMark`: where a thread can be reached; with `new()` for nobody, `set()`, called by the thread itself, and
//!   `clear()`;
//! - `stack_of(&ThreadMark) -> Option<Vec<usize>>`: the program counter of the thread that has left the mark and its
//!   return addresses, innermost first. Takes some seconds if that does not answer. Called on a thread that may wait;
//! - `name_frames(&[usize]) -> Vec<StackFrame>`: the names of the functions at these addresses, as far as they are known.

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
