//! Names for addresses, by the crate `backtrace`. It takes locks and allocates, so it has no place in a signal handler.
//!
//! Finding names takes long, and threads that are stuck at the same time are often stuck in the same place. So names
//! are remembered, but only for a moment, because later another library may be at the address.

use std::collections::HashMap;
use std::time::Instant;

use super::policy::NAMES_KEPT;
use crate::primitives::Mutex;
use crate::stuck::stack_trace::StackFrame;
use crate::stuck::sys::CodeAddress;

/// The frames at an address, and since when there are any.
struct Names {
    since: Option<Instant>,
    known: Option<HashMap<usize, Vec<StackFrame>>>,
}

static NAMES: Mutex<Names> = Mutex::new(Names { since: None, known: None });

/// Returns the frames at these addresses, innermost first, with those that the compiler has inlined.
pub(crate) fn name_frames(addresses: &[CodeAddress]) -> Vec<StackFrame> {
    let mut names = NAMES.lock();
    if names.since.is_none_or(|since| since.elapsed() > NAMES_KEPT) {
        *names = Names { since: Some(Instant::now()), known: None };
    }
    let known = names.known.get_or_insert_default();
    let mut frames = Vec::new();
    for &CodeAddress { address, is_return } in addresses {
        // A return address is behind the call, which may be the last instruction of its line or function.
        let within = address - usize::from(is_return);
        let found = known.entry(within).or_insert_with(|| resolve(address, within));
        frames.extend_from_slice(found);
    }
    frames
}

fn resolve(address: usize, within: usize) -> Vec<StackFrame> {
    let mut frames = Vec::new();
    // `backtrace` treats the address as a return address, and looks at the byte before it.
    backtrace::resolve(std::ptr::without_provenance_mut(within + 1), |symbol| {
        frames.push(StackFrame {
            address,
            function: symbol.name().map(|name| format!("{name:#}")),
            file: symbol.filename().map(|file| file.display().to_string()),
            line: symbol.lineno(),
        });
    });
    if frames.is_empty() {
        frames.push(StackFrame::new(address));
    }
    frames
}
