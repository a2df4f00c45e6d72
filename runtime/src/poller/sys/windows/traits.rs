//! The manual loop as a handle.

use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, RawHandle};

use super::Descriptor;
use crate::manual::Loop;

/// Signalled when `ready_tasks` has something to do. Waiting for it does not reset it.
impl AsHandle for Loop {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        match self.descriptor() {
            Descriptor::Handle(handle) => handle,
            _ => unreachable!("a poller is a handle"),
        }
    }
}

impl AsRawHandle for Loop {
    fn as_raw_handle(&self) -> RawHandle {
        self.as_handle().as_raw_handle()
    }
}
