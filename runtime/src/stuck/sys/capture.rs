//! From a thread's mark to the addresses on its stack.

use super::modules::Modules;
use super::signal::{self, ThreadMark};
use super::unwind::Unwinder;

/// Returns where the marked thread is: its program counter and the return addresses on its stack, innermost first.
pub(crate) fn stack_of(thread: &ThreadMark) -> Option<Vec<usize>> {
    let (registers, stack) =
        signal::sample(thread, |sample| (sample.registers, sample.stack().to_vec()))?;
    // Now, because what the thread runs is loaded now.
    let modules = Modules::loaded();
    Some(Unwinder::new(&modules, registers, &stack).addresses())
}
