//! Random bytes from the keys that the standard library asks the OS for.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::thread;

/// Returns random bytes from the OS.
///
/// Windows has no device to read them from, and calling its functions takes unsafe code. The standard library calls one
/// for the key of each thread's hash maps. A keyed hash does not reveal its key, and each thread here is a new one.
pub(crate) fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    for half in bytes.chunks_mut(8) {
        let thread = thread::Builder::new().spawn(|| RandomState::new().hash_one(0))?;
        let number = thread.join().map_err(|_| io::Error::other("no random number"))?;
        half.copy_from_slice(&number.to_ne_bytes());
    }
    Ok(bytes)
}

/// Returns `None`: asking the console would take unsafe code and a dependency. Use `COLUMNS` instead.
pub(crate) fn terminal_size() -> Option<(usize, usize)> {
    None
}
