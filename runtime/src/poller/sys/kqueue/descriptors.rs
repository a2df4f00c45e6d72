//! The descriptors that are in a queue, which a kqueue cannot list.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// A set of descriptors, with one bit each, because their numbers are small.
#[derive(Default)]
pub(super) struct Descriptors {
    words: Vec<u64>,
}

impl Descriptors {
    /// Adds a descriptor. Returns false if it is there already.
    pub(super) fn insert(&mut self, fd: RawFd) -> bool {
        let (word, bit) = place(fd);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let added = self.words[word] & bit == 0;
        self.words[word] |= bit;
        added
    }

    pub(super) fn remove(&mut self, fd: RawFd) {
        let (word, bit) = place(fd);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }
}

fn place(fd: RawFd) -> (usize, u64) {
    let fd = fd as usize;
    (fd / 64, 1 << (fd % 64))
}

/// Returns false for files and directories. A kqueue takes them, but would have a thread that waits at the end
/// of a file wait for ever.
pub(super) fn has_readiness(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: there is room for the status, and the kernel fills it unless it fails.
    let status = unsafe {
        if libc::fstat(fd.as_raw_fd(), status.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        status.assume_init()
    };
    Ok(!matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_in_it_once() {
        let mut set = Descriptors::default();
        for fd in [0, 63, 64, 1000] {
            assert!(set.insert(fd));
            assert!(!set.insert(fd));
            set.remove(fd);
            set.remove(fd);
            assert!(set.insert(fd));
        }
        set.remove(100_000);
    }
}
