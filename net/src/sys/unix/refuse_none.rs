//! Listeners whose queue can't be closed to new connections.

use std::io;

use super::Descriptor;

pub(crate) fn refuse_new(_listener: Descriptor<'_>) -> io::Result<bool> {
    Ok(false)
}

pub(crate) fn refuse_new_local(_listener: Descriptor<'_>) -> io::Result<bool> {
    Ok(false)
}
