//! What only some systems have: a look at the process from outside, and local sockets.

#[cfg(unix)]
mod local;

#[cfg(unix)]
pub(crate) use local::{pair, pipe};

#[cfg(not(unix))]
mod none;
#[cfg(not(unix))]
pub(crate) use none::{pair, pipe};

/// Returns the number of threads of this process, where that can be told.
pub(crate) fn threads() -> Option<usize> {
    entries("/proc/self/task")
}

/// Returns the number of descriptors that this process has open, where that can be told.
pub(crate) fn descriptors() -> Option<usize> {
    entries("/proc/self/fd")
}

/// Returns the KiB of memory that this process occupies, where that can be told.
pub(crate) fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn entries(path: &str) -> Option<usize> {
    Some(std::fs::read_dir(path).ok()?.count())
}
