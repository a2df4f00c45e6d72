//! The default number of workers: a worker for each CPU that the process may use, by its affinity mask and by the quota
//! of its cgroup.
//!
//! Each case runs this binary again, in a shell that restricts itself first. A case that the machine does not allow (no
//! root, no CPU controller in cgroup v1 or v2, a single CPU) is skipped with a message. A machine has that controller
//! in one of the two versions, so half of the cases are skipped everywhere. What is read of version 2 is tested all the
//! same, with files of our own in a mount namespace.

#![cfg(target_os = "linux")]

mod util;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use util::is_child;

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

/// The version of the kernel's interface to cgroups.
#[derive(Clone, Copy, Debug)]
enum Version {
    V1,
    V2,
}

impl Version {
    /// The folder of all cgroups.
    fn hierarchy(self) -> &'static Path {
        Path::new(match self {
            Self::V1 => "/sys/fs/cgroup/cpu",
            Self::V2 => "/sys/fs/cgroup",
        })
    }

    /// Sees to it that a new cgroup has a quota that can be set.
    fn enable(self) -> io::Result<()> {
        match self {
            Self::V1 => Ok(()),
            Self::V2 => {
                // Not there where the folder is the first version's, which is a file system like any other.
                let controllers = fs::read_to_string(self.hierarchy().join("cgroup.controllers"))?;
                if !controllers.split_whitespace().any(|name| name == "cpu") {
                    return Err(io::Error::other("the CPU controller is not version 2's"));
                }
                let enabled = self.hierarchy().join("cgroup.subtree_control");
                fs::File::options().write(true).open(enabled)?.write_all(b"+cpu")
            }
        }
    }

    fn set_quota(self, cgroup: &Path, quota: u64) -> io::Result<()> {
        match self {
            Self::V1 => {
                fs::write(cgroup.join("cpu.cfs_period_us"), PERIOD.to_string())?;
                fs::write(cgroup.join("cpu.cfs_quota_us"), quota.to_string())
            }
            Self::V2 => fs::write(cgroup.join("cpu.max"), format!("{quota} {PERIOD}")),
        }
    }
}

/// A cgroup with a quota, and one within it without; both end with it.
struct Quota(PathBuf);

impl Quota {
    /// Makes one of each version that the machine allows.
    fn all(name: &str, quota: u64) -> impl Iterator<Item = Self> {
        [Version::V1, Version::V2].into_iter().filter_map(move |version| {
            let made = Self::new(version, name, quota);
            if let Err(error) = &made {
                eprintln!("skipped: no cgroup ({version:?}) with a quota can be made: {error}");
            }
            made.ok()
        })
    }

    fn new(version: Version, name: &str, quota: u64) -> io::Result<Self> {
        version.enable()?;
        let name = format!("windlass-test-{}-{name}", std::process::id());
        let path = version.hierarchy().join(name);
        fs::create_dir(&path)?;
        let this = Self(path);
        fs::create_dir(this.inner())?;
        version.set_quota(&this.0, quota)?;
        Ok(this)
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
                    std::thread::sleep(Duration::from_millis(1));
                    false
                }
            });
        }
    }
}

fn cpus() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

/// Returns the first CPU that this process may use.
fn first_cpu() -> String {
    let allowed = fs::read_to_string("/proc/self/status").unwrap();
    let list = allowed.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().to_owned()
}

#[test]
fn an_affinity_mask_of_one_cpu_gives_one_worker() {
    const NAME: &str = "an_affinity_mask_of_one_cpu_gives_one_worker";
    if is_child() {
        return print_workers();
    }
    if let Some(workers) = workers_after(NAME, &format!("exec taskset -c {}", first_cpu())) {
        assert_eq!(workers, 1);
    }
}

/// A guest counts as a thread that computes. On one CPU there is no room for a worker beside it, and nothing else had
/// switched the monitor on, which would have noticed that the guest blocks.
#[test]
fn a_guest_that_blocks_on_one_cpu_gets_a_worker_for_its_job() {
    const NAME: &str = "a_guest_that_blocks_on_one_cpu_gets_a_worker_for_its_job";
    if is_child() {
        thread::spawn(|| {
            thread::sleep(Duration::from_secs(60));
            println!("[0 workers]");
            std::process::exit(1);
        });
        let runtime = windlass::Runtime::new().unwrap();
        let _entered = runtime.enter();
        // The runtime comes to rest. Were it not to within this time, the test would show nothing, but would not fail.
        thread::sleep(Duration::from_millis(300));
        let done = Barrier::new(2);
        windlass::scope_in_place(|scope| {
            scope.spawn(|_| _ = done.wait());
            done.wait();
        });
        return print_workers();
    }
    if let Some(workers) = workers_after(NAME, &format!("exec taskset -c {}", first_cpu())) {
        assert_eq!(workers, 1, "none if the job was not run");
    }
}

#[test]
fn a_quota_of_one_cpu_gives_one_worker() {
    const NAME: &str = "a_quota_of_one_cpu_gives_one_worker";
    if is_child() {
        return print_workers();
    }
    for quota in [PERIOD, PERIOD / 2] {
        for cgroup in Quota::all("whole", quota) {
            if let Some(workers) = cgroup.workers_in(NAME, &cgroup.0) {
                assert_eq!(workers, 1, "with a quota of {quota} µs in {PERIOD}");
            }
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
    for cgroup in Quota::all("fraction", PERIOD * 3 / 2) {
        if let Some(workers) = cgroup.workers_in(NAME, &cgroup.0) {
            assert_eq!(workers, 2);
        }
    }
}

#[test]
fn the_quota_of_an_enclosing_cgroup_counts() {
    const NAME: &str = "the_quota_of_an_enclosing_cgroup_counts";
    if is_child() {
        return print_workers();
    }
    if cpus() < 2 {
        return eprintln!("skipped: one CPU is too few");
    }
    for cgroup in Quota::all("enclosing", PERIOD) {
        if let Some(workers) = cgroup.workers_in(NAME, &cgroup.inner()) {
            assert_eq!(workers, 1);
        }
    }
}

/// Returns how many workers a runtime has by default in a cgroup of version 2 with the quota `inner`, within one with
/// the quota `outer`. Both are files in a mount namespace.
fn workers_in_namespace(test: &str, outer: &str, inner: &str) -> Option<usize> {
    let script = format!(
        "mount -t tmpfs tmpfs /sys/fs/cgroup
        cd /sys/fs/cgroup
        mkdir -p outer/inner
        echo cpu > cgroup.controllers
        echo {outer} {PERIOD} > outer/cpu.max
        echo {inner} {PERIOD} > outer/inner/cpu.max
        echo 0::/outer/inner > own
        echo 30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw > mounts
        mount --bind own /proc/$$/cgroup
        mount --bind mounts /proc/$$/mountinfo
        exec \"$0\" \"$@\""
    );
    workers_after(test, &format!("exec unshare --mount sh -ec '{script}'"))
}

#[test]
fn the_quotas_of_the_second_version_count_where_they_are_read() {
    const NAME: &str = "the_quotas_of_the_second_version_count_where_they_are_read";
    if is_child() {
        return print_workers();
    }
    if cpus() < 2 {
        return eprintln!("skipped: one CPU is too few");
    }
    let half_more = (PERIOD * 3 / 2).to_string();
    let one = PERIOD.to_string();
    for (outer, inner, workers) in [
        ("max", "max", cpus()),
        ("max", &one, 1),
        ("max", &half_more, 2),
        (&one, "max", 1),
        (&half_more, "max", 2),
        (&one, &half_more, 1),
    ] {
        if let Some(count) = workers_in_namespace(NAME, outer, inner) {
            assert_eq!(count, workers, "{inner} in {outer}");
        }
    }
}
