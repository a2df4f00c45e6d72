//! The number of CPUs that the process may use, which is the default number of workers, and the CPU time of a thread.
//!
//! `num_cpus` counts them, except under the quota of a cgroup on Linux. There it does not see the quotas of the cgroups
//! around that of the process, and keeps the first quota that it has seen (`the_quota_of_an_enclosing_cgroup_counts` in
//! `tests/cpus.rs`). `std::thread::available_parallelism` sees them, but rounds a quota of 1.5 CPUs down, which leaves
//! a third of it unused. So this crate reads the quotas itself (`cgroup.rs`) and rounds them up, as far as the affinity
//! mask has a CPU for it. They are read each time, so a quota that has changed since counts for the next runtime.

use std::path::Path;
use std::thread::available_parallelism;

use crate::cgroup;
pub(crate) use crate::poller::cpu_time_of_thread;
use crate::primitives::plain::{AtomicUsize, Ordering as Plain};

/// The last count, or 0 if there was none. It orders nothing: any count will do.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// Counts the CPUs that the process may use. Reads several files on Linux.
pub(crate) fn count() -> usize {
    let root = Path::new("/");
    let std = available_parallelism().map_or(1, usize::from);
    let cpus = match cgroup::quota(root) {
        Some(quota) => within(quota, std, || cgroup::affinity(root)),
        // `num_cpus` may have kept a quota that has been lifted.
        None => num_cpus::get().max(std),
    };
    LAST.store(cpus, Plain::Relaxed);
    cpus
}

/// Returns the last count, or counts if there is none. Good enough for a builder whose number of workers is set, where
/// it only decides whether spinning is worth trying.
pub(crate) fn last_count() -> usize {
    match LAST.load(Plain::Relaxed) {
        0 => count(),
        cpus => cpus,
    }
}

/// Combines a quota with the count of `std` and the affinity mask.
fn within(quota: usize, std: usize, affinity: impl FnOnce() -> Option<usize>) -> usize {
    if quota > std {
        affinity().map_or(std, |cpus| cpus.min(quota)).max(std)
    } else {
        // `std` knows only the usual places of cgroups.
        quota
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn a_fraction_of_a_cpu_gets_a_worker_if_there_is_a_cpu_for_it() {
        // A whole quota.
        assert_eq!(within(8, 8, || Some(64)), 8);
        // 1.5 and 7.5 CPUs.
        assert_eq!(within(2, 1, || Some(64)), 2);
        assert_eq!(within(8, 7, || Some(8)), 8);
        // 7.5 CPUs, and a mask of seven; 16, and a mask of four.
        assert_eq!(within(8, 7, || Some(7)), 7);
        assert_eq!(within(16, 4, || Some(4)), 4);
        // No `/proc/self/status`.
        assert_eq!(within(2, 1, || None), 1);
        // A quota that `std` does not find.
        assert_eq!(within(2, 64, || Some(64)), 2);
    }
}
