//! For systems on which the stack of another thread is not available, and for builds without the feature
//! `stack-traces`.

use super::CodeAddress;
use crate::stuck::stack_trace::StackFrame;

/// Nothing: no thread is ever asked.
#[derive(Default)]
pub(crate) struct ThreadMark;

impl ThreadMark {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn set(&self) {}

    pub(crate) fn clear(&self) {}
}

pub(crate) fn stack_of(_thread: &ThreadMark) -> Option<Vec<CodeAddress>> {
    None
}

pub(crate) fn name_frames(addresses: &[CodeAddress]) -> Vec<StackFrame> {
    addresses.iter().map(|code| StackFrame::new(code.address)).collect()
}
