//! The number of CPUs that the process may use, which is the default number of workers.
//!
//! `std::thread::available_parallelism` honours the affinity mask and the quota of the process's cgroup and of those around
//! it. But it rounds a quota of 1.5 CPUs down, which leaves a third of it unused. So the quota is read once more, and rounded
//! up (`cgroup.rs`), as far as the affinity mask has a CPU for it. Both are read each time, so a quota that has changed since
//! counts for the next runtime.

use std::path::Path;
use std::thread::available_parallelism;

use crate::cgroup;
use crate::primitives::plain::{AtomicUsize, Ordering as Plain};

/// The last count, or 0 if there was none. A value and no protocol: any count will do.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// Counts the CPUs that the process may use. Reads several files on Linux.
pub(crate) fn count() -> usize {
    let root = Path::new("/");
    let std = available_parallelism().map_or(1, usize::from);
    let cpus = combine(std, cgroup::quota(root), || cgroup::affinity(root));
    LAST.store(cpus, Plain::Relaxed);
    cpus
}

/// Returns the last count, or counts if there is none. Good enough for a builder with a number of workers of its own,
/// where it only decides whether spinning is worth trying.
pub(crate) fn last_count() -> usize {
    match LAST.load(Plain::Relaxed) {
        0 => count(),
        cpus => cpus,
    }
}

/// Combines the count of `std` with the quota and the affinity mask.
fn combine(std: usize, quota: Option<usize>, affinity: impl FnOnce() -> Option<usize>) -> usize {
    match quota {
        Some(quota) if quota > std => affinity().map_or(std, |cpus| cpus.min(quota)).max(std),
        // `std` knows the usual places of cgroups only.
        Some(quota) => quota,
        None => std,
    }
}

#[cfg(test)]
mod tests {
    use super::combine;

    #[test]
    fn a_fraction_of_a_cpu_gets_a_worker_if_there_is_a_cpu_for_it() {
        // No quota, or a whole one.
        assert_eq!(combine(8, None, || Some(8)), 8);
        assert_eq!(combine(8, Some(8), || Some(64)), 8);
        // 1.5 and 7.5 CPUs.
        assert_eq!(combine(1, Some(2), || Some(64)), 2);
        assert_eq!(combine(7, Some(8), || Some(8)), 8);
        // 7.5 CPUs, and a mask of seven; 16, and a mask of four.
        assert_eq!(combine(7, Some(8), || Some(7)), 7);
        assert_eq!(combine(4, Some(16), || Some(4)), 4);
        // No `/proc/self/status`.
        assert_eq!(combine(1, Some(2), || None), 1);
        // A quota that `std` does not find.
        assert_eq!(combine(64, Some(2), || Some(64)), 2);
    }
}
