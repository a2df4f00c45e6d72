//! The stack of another thread: a signal handler copies it, and the unwinder walks the copy.

mod modules;
mod policy;
mod signal;
mod symbols;
mod unwind;

use modules::Modules;
use unwind::Unwinder;

use super::CodeAddress;

pub(crate) use signal::ThreadMark;
pub(crate) use symbols::name_frames;

/// Returns where the marked thread is: its program counter and the return addresses on its stack, innermost first.
pub(crate) fn stack_of(thread: &ThreadMark) -> Option<Vec<CodeAddress>> {
    let (registers, stack) =
        signal::sample(thread, |sample| (sample.registers, sample.stack().to_vec()))?;
    // Read now, while what the thread runs is loaded.
    let modules = Modules::loaded();
    Some(Unwinder::new(&modules, registers, &stack).addresses())
}
