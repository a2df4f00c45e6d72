//! Random bytes from the device that every Unix has, and the terminal's size from its driver.

use std::fs::File;
use std::io::{self, Read};

/// Returns random bytes from the OS.
pub(crate) fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns the columns and the lines of the terminal on standard output, or `None` if it is not a terminal or does not
/// know.
pub(crate) fn terminal_size() -> Option<(usize, usize)> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the pointer is to a `winsize`, which `TIOCGWINSZ` writes; it fails if the descriptor is not a terminal.
    let result = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    let known = result == 0 && size.ws_col > 0 && size.ws_row > 0;
    known.then(|| (size.ws_col.into(), size.ws_row.into()))
}
