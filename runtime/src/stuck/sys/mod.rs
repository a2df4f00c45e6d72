//! The stack of another thread, where it can be had: on Linux, on x86-64 and arm64, with the feature `stack-traces`. A
//! backend provides:
//!
//! - `ThreadMark`: where a thread can be reached; with `new()` for nobody, `set()`, called by the thread itself, and
//!   `clear()`;
//! - `stack_of(&ThreadMark) -> Option<Vec<usize>>`: the program counter of the thread that has left the mark and its
//!   return addresses, innermost first. Takes some seconds if that does not answer. Called on a thread that may wait.

#[cfg(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod capture;
#[cfg(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod modules;
#[cfg(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod signal;
#[cfg(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod symbols;
#[cfg(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod unwind;

#[cfg(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) use {capture::stack_of, signal::ThreadMark, symbols::name_frames};

#[cfg(not(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod none;
#[cfg(not(all(
    feature = "stack-traces",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(crate) use none::{ThreadMark, name_frames, stack_of};
