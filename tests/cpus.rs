//! The default number of workers: a worker for each CPU that the process may use, by its affinity mask and by the quota
//! of its cgroup.
//!
//! Each case runs this binary again, in a shell that restricts itself first. A case that the machine does not allow
//! (no root, no cgroup v1, a single CPU) is skipped with a message.

#![cfg(target_os = "linux")]

mod util;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use util::is_child;

const HIERARCHY: &str = "/sys/fs/cgroup/cpu";
const PERIOD: u64 = 100_000;

/// Prints how many workers a runtime has by default.
fn print_workers() {
    let runtime = windlass::Runtime::new().unwrap();
    println!("[{} workers]", runtime.metrics().workers.len());
}

/// Returns how many workers a runtime has by default in a process that has run `restrict`, or `None` if that failed.
fn workers_after(test: &str, restrict: &str) -> Option<usize> {
    let output = Command::new("sh")
        .args(["-c", &format!("{restrict} \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("WINDLASS_TEST_CHILD", "1")
        .env_remove("WINDLASS_WORKERS")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let count = text.split_once('[').and_then(|(_, rest)| rest.split_once(" workers]"));
    if count.is_none() {
        eprintln!("skipped: {restrict:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Some(count?.0.parse().unwrap())
}

/// A cgroup (v1) with a quota, and one within it without; both end with it.
struct Quota(PathBuf);

impl Quota {
    fn new(name: &str, quota: u64) -> Option<Self> {
        let path =
            Path::new(HIERARCHY).join(format!("windlass-test-{}-{name}", std::process::id()));
        let made = fs::create_dir(&path).and_then(|()| {
            let this = Self(path);
            fs::create_dir(this.inner())?;
            fs::write(this.0.join("cpu.cfs_period_us"), PERIOD.to_string())?;
            fs::write(this.0.join("cpu.cfs_quota_us"), quota.to_string())?;
            Ok(this)
        });
        if let Err(error) = &made {
            eprintln!("skipped: no cgroup (v1) with a quota can be made: {error}");
        }
        made.ok()
    }

    fn inner(&self) -> PathBuf {
        self.0.join("inner")
    }

    fn workers_in(&self, test: &str, cgroup: &Path) -> Option<usize> {
        workers_after(test, &format!("echo $$ > {}/cgroup.procs && exec", cgroup.display()))
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // Busy for a moment after its last process has ended.
        for path in [self.inner(), self.0.clone()] {
            let gone = || fs::remove_dir(&path).is_ok() || !path.exists();
            (0..1000).any(|_| {
                gone() || {
                    std::thread::yield_now();
                    false
                }
            });
        }
    }
}

fn cpus() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

#[test]
fn an_affinity_mask_of_one_cpu_gives_one_worker() {
    const NAME: &str = "an_affinity_mask_of_one_cpu_gives_one_worker";
    if is_child() {
        return print_workers();
    }
    let allowed = fs::read_to_string("/proc/self/status").unwrap();
    let list = allowed.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let first = list.trim().split([',', '-']).next().unwrap();
    if let Some(workers) = workers_after(NAME, &format!("exec taskset -c {first}")) {
        assert_eq!(workers, 1);
    }
}

#[test]
fn a_quota_of_one_cpu_gives_one_worker() {
    const NAME: &str = "a_quota_of_one_cpu_gives_one_worker";
    if is_child() {
        return print_workers();
    }
    for quota in [PERIOD, PERIOD / 2] {
        let Some(cgroup) = Quota::new("whole", quota) else { return };
        if let Some(workers) = cgroup.workers_in(NAME, &cgroup.0) {
            assert_eq!(workers, 1, "with a quota of {quota} µs in {PERIOD}");
        }
    }
}

#[test]
fn a_fractional_quota_is_rounded_up() {
    const NAME: &str = "a_fractional_quota_is_rounded_up";
    if is_child() {
        return print_workers();
    }
    if cpus() < 2 {
        return eprintln!("skipped: one CPU is too few");
    }
    let Some(cgroup) = Quota::new("fraction", PERIOD * 3 / 2) else { return };
    if let Some(workers) = cgroup.workers_in(NAME, &cgroup.0) {
        assert_eq!(workers, 2);
    }
}

#[test]
fn the_quota_of_an_enclosing_cgroup_counts() {
    const NAME: &str = "the_quota_of_an_enclosing_cgroup_counts";
    if is_child() {
        return print_workers();
    }
    // With two, a difference of one CPU can't be told from a fraction.
    if cpus() < 3 {
        return eprintln!("skipped: needs three CPUs");
    }
    let Some(cgroup) = Quota::new("enclosing", PERIOD) else { return };
    if let Some(workers) = cgroup.workers_in(NAME, &cgroup.inner()) {
        assert_eq!(workers, 1);
    }
}
