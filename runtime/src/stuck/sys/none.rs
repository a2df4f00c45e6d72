//! For systems on which no other thread's stack can be had, and without the feature `stack-traces`.

use crate::stuck::trace::StackFrame;

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

pub(crate) fn stack_of(_thread: &ThreadMark) -> Option<Vec<usize>> {
    None
}

pub(crate) fn name_frames(addresses: &[usize]) -> Vec<StackFrame> {
    addresses.iter().map(|&address| StackFrame::new(address)).collect()
}
