//! Random bytes from the device that every Unix has.

use std::fs::File;
use std::io::{self, Read};

/// Returns random bytes from the OS.
pub(crate) fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
