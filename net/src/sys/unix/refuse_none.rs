//! Listeners that can't be told to let no more connections in.

use std::io;

use super::Descriptor;

pub(crate) fn refuse_new(_listener: Descriptor<'_>) -> io::Result<bool> {
    Ok(false)
}

pub(crate) fn refuse_new_local(_listener: Descriptor<'_>) -> io::Result<bool> {
    Ok(false)
}
