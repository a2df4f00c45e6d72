//! The number of CPUs that the process may use, which is the default number of workers.
//!
//! Two counts are combined, because each knows something that the other does not:
//!
//! | | `num_cpus` | `std::thread::available_parallelism` |
//! |---|---|---|
//! | affinity mask | honoured | honoured |
//! | quota of the process's own cgroup, v1 or v2 | honoured | honoured |
//! | quota of 1.5 CPUs | rounded up: 2 | rounded down: 1 |
//! | quota of an enclosing cgroup | not seen | honoured |
//! | quota that changes while the process runs | the first is kept | read each time |
//!
//! Rounding down leaves a third of a quota of 1.5 CPUs unused, so `num_cpus` decides where the two differ by that one
//! CPU. Where they differ by more, rounding is not the reason, and `std` has seen a quota that `num_cpus` has not.
//! On systems without cgroups the two are equal.

use std::thread::available_parallelism;

use crate::primitives::plain::{AtomicUsize, Ordering as Plain};

/// The last count, or 0 if there was none. A value and no protocol: any count will do.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// Counts the CPUs that the process may use. Reads several files on Linux.
pub(crate) fn count() -> usize {
    let cpus = combine(num_cpus::get(), available_parallelism().map_or(1, usize::from));
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

/// Combines the two counts as described at the top.
fn combine(num_cpus: usize, std: usize) -> usize {
    if num_cpus == std + 1 { num_cpus } else { std }
}

#[cfg(test)]
mod tests {
    use super::combine;

    #[test]
    fn a_fraction_of_a_cpu_gets_a_worker_and_an_enclosing_quota_is_kept() {
        // No quota, or a whole one.
        assert_eq!(combine(8, 8), 8);
        // 1.5 and 7.5 CPUs.
        assert_eq!(combine(2, 1), 2);
        assert_eq!(combine(8, 7), 8);
        // 64 CPUs, and a quota of 2 or 2.5 in an enclosing cgroup.
        assert_eq!(combine(64, 2), 2);
        // A quota that was raised or lowered after the first count.
        assert_eq!(combine(2, 16), 16);
        assert_eq!(combine(16, 4), 4);
    }
}
