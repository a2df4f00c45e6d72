//! The CPU time that the cgroups around the process allow, read from the kernel's files.
//!
//! A quota may be set for the cgroup of the process or for any around it, and the smallest counts. Where a controller
//! is, and how a quota is written, depends on the version of the kernel's interface:
//!
//! | | version 1 | version 2 |
//! |---|---|---|
//! | `/proc/self/cgroup` | `4:cpu,cpuacct:/own/path` | `0::/own/path` |
//! | `/proc/self/mountinfo` | type `cgroup`, with the option `cpu` | type `cgroup2` |
//! | a quota of 1.5 CPUs | `cpu.cfs_quota_us` of 150000, `cpu.cfs_period_us` of 100000 | `cpu.max` of `150000 100000` |
//! | no quota | -1 | `max 100000` |
//!
//! A system may have both. The CPU controller then belongs to one of them: to version 1 if it is listed there. The
//! mount may show only a part of the hierarchy, as in a container. If the path in `/proc/self/cgroup` is not below that
//! part, the mount point is the cgroup that counts.
//!
//! All functions take the folder that stands for the root of the file system, so that tests can have one of their own.
//! A file that is missing, or that can't be understood, sets no quota. This also covers systems without cgroups.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns how many CPUs the process's quotas let it use at a time, rounded up, or `None` if it has no quota.
pub(crate) fn quota(root: &Path) -> Option<usize> {
    let (version, own) = own_cgroup(&read(&root.join("proc/self/cgroup"))?)?;
    let mount = version.mount(&read(&root.join("proc/self/mountinfo"))?)?;
    let top = below(root, &mount.point);
    let within = Path::new(&own).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    // A path that leads out of the mounted part is not followed.
    let is_plain = !within.components().any(|part| part.as_os_str() == "..");
    let innermost = if is_plain { top.join(within) } else { top.clone() };
    innermost
        .ancestors()
        .take_while(|cgroup| cgroup.starts_with(&top))
        .filter_map(|cgroup| version.quota(cgroup))
        .min()
}

/// Returns the number of CPUs in the affinity mask of the process.
pub(crate) fn affinity(root: &Path) -> Option<usize> {
    let status = read(&root.join("proc/self/status"))?;
    let mask = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"))?;
    // Hexadecimal, in groups.
    let cpus =
        mask.chars().filter_map(|digit| digit.to_digit(16)).map(u32::count_ones).sum::<u32>();
    (cpus > 0).then_some(cpus as usize)
}

fn read(file: &Path) -> Option<String> {
    fs::read_to_string(file).ok()
}

/// Returns the place of an absolute path below another root.
fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A part of a hierarchy of cgroups, and where it is mounted.
struct Mount {
    root: String,
    point: String,
}

/// Returns the process's own cgroup of the CPU controller, and the version of the interface to it.
fn own_cgroup(text: &str) -> Option<(Version, String)> {
    let mut second = None;
    for line in text.lines() {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        if controllers.split(',').any(|name| name == "cpu") {
            return Some((Version::One, path.to_owned()));
        }
        if controllers.is_empty() {
            second = Some((Version::Two, path.to_owned()));
        }
    }
    second
}

impl Version {
    fn mount(self, mounts: &str) -> Option<Mount> {
        mounts.lines().find_map(|line| {
            // "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:1 - cgroup2 cgroup2 rw": any number
            // of fields before the dash.
            let (place, system) = line.split_once(" - ")?;
            let mut system = system.split(' ');
            let (kind, options) = (system.next()?, system.nth(1)?);
            let is_it = match self {
                Self::One => kind == "cgroup" && options.split(',').any(|name| name == "cpu"),
                Self::Two => kind == "cgroup2",
            };
            let mut place = place.split(' ').skip(3).map(str::to_owned);
            is_it.then_some(Mount { root: place.next()?, point: place.next()? })
        })
    }

    /// Returns the quota of one cgroup, in CPUs.
    fn quota(self, cgroup: &Path) -> Option<usize> {
        let (quota, period) = match self {
            Self::One => {
                (read(&cgroup.join("cpu.cfs_quota_us"))?, read(&cgroup.join("cpu.cfs_period_us"))?)
            }
            Self::Two => {
                let both = read(&cgroup.join("cpu.max"))?;
                let (quota, period) = both.split_once(' ')?;
                (quota.to_owned(), period.to_owned())
            }
        };
        // "max" and -1 can't be parsed as unsigned numbers.
        let (quota, period) =
            (quota.trim().parse::<u64>().ok()?, period.trim().parse::<u64>().ok()?);
        let cpus = quota.checked_add(period.checked_sub(1)?)? / period;
        usize::try_from(cpus).ok().map(|cpus| cpus.max(1))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A folder that stands for the root of a file system.
    struct Root(PathBuf);

    impl Root {
        fn new(cgroup: &str, mountinfo: &str) -> Self {
            static NUMBER: AtomicUsize = AtomicUsize::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("windlass-cgroup-{}-{number}", std::process::id());
            let this = Self(std::env::temp_dir().join(name));
            this.write("proc/self/cgroup", cgroup);
            this.write("proc/self/mountinfo", mountinfo);
            this
        }

        fn write(&self, path: &str, text: &str) -> &Self {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            self
        }

        fn quota(&self) -> Option<usize> {
            quota(&self.0)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const MOUNTED_2: &str = "\
24 29 0:22 / /proc rw,relatime shared:5 - proc proc rw
31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate
";
    const MOUNTED_1: &str = "\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
";

    #[test]
    fn the_second_version() {
        let root = Root::new("0::/outer/inner\n", MOUNTED_2);
        assert_eq!(root.quota(), None, "there are no files");
        for (text, cpus) in [
            ("max 100000\n", None),
            ("100000 100000\n", Some(1)),
            ("150000 100000\n", Some(2)),
            ("50000 100000\n", Some(1)),
            ("0 100000\n", Some(1)),
            ("6400000 100000\n", Some(64)),
            ("25000 10000\n", Some(3)),
        ] {
            root.write("sys/fs/cgroup/outer/inner/cpu.max", text);
            assert_eq!(root.quota(), cpus, "{text}");
        }
    }

    #[test]
    fn the_smallest_quota_counts_wherever_it_is_set_and_whenever() {
        let root = Root::new("0::/outer/inner\n", MOUNTED_2);
        root.write("sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n")
            .write("sys/fs/cgroup/outer/cpu.max", "250000 100000\n");
        assert_eq!(root.quota(), Some(3), "that of the enclosing one");
        root.write("sys/fs/cgroup/outer/inner/cpu.max", "200000 100000\n");
        assert_eq!(root.quota(), Some(2), "its own was lowered");
        root.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
        assert_eq!(root.quota(), Some(3), "and lifted");
        root.write("sys/fs/cgroup/cpu.max", "100000 100000\n");
        assert_eq!(root.quota(), Some(1), "a container has one at the top");
        root.write("sys/fs/cpu.max", "1 100000\n").write("cpu.max", "1 100000\n");
        root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
        assert_eq!(root.quota(), Some(2), "nothing counts outside of the hierarchy");
    }

    #[test]
    fn the_first_version() {
        let root =
            Root::new("5:cpuset:/\n4:cpu,cpuacct:/job\n1:name=systemd:/\n0::/job\n", MOUNTED_1);
        root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
            .write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
        assert_eq!(root.quota(), None);
        root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
        assert_eq!(root.quota(), Some(3));
    }

    #[test]
    fn a_container_sees_a_part_of_the_hierarchy() {
        // Its own cgroup is named as the system outside knows it, and mounted as the whole.
        let mounted = "33 31 0:30 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
        let root = Root::new("4:cpu:/docker/abc\n", mounted);
        root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n")
            .write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "75000\n");
        assert_eq!(root.quota(), Some(2));
        // Moved out of the mounted part, or named from a namespace beside it.
        for own in ["/docker/other", "/../sibling"] {
            root.write("proc/self/cgroup", &format!("4:cpu:{own}\n"));
            assert_eq!(root.quota(), Some(2), "{own}");
        }
    }

    #[test]
    fn what_is_not_understood_sets_no_quota() {
        for (cgroup, mountinfo) in [
            ("", ""),
            ("0::/\n", ""),
            ("nonsense\n", MOUNTED_2),
            ("0::/\n", "nonsense\n - \n1 2 3 - cgroup2 x\n"),
            ("3:memory:/\n", MOUNTED_1),
        ] {
            let root = Root::new(cgroup, mountinfo);
            root.write("sys/fs/cgroup/cpu.max", "100000 100000\n");
            assert_eq!(root.quota(), None, "{cgroup:?}, {mountinfo:?}");
        }
        let root = Root::new("0::/\n", MOUNTED_2);
        for text in ["", "100000", "100000 0\n", "-5 100000\n", "x y\n", "18446744073709551615 2\n"]
        {
            root.write("sys/fs/cgroup/cpu.max", text);
            assert_eq!(root.quota(), None, "{text:?}");
        }
        assert_eq!(quota(Path::new("/nowhere/at/all")), None);
    }

    #[test]
    fn the_affinity_mask_is_counted() {
        let root = Root::new("", "");
        assert_eq!(affinity(&root.0), None);
        for (mask, cpus) in [("3", Some(2)), ("ff,00000001", Some(9)), ("0", None)] {
            root.write("proc/self/status", &format!("Name:\tx\nCpus_allowed:\t{mask}\n"));
            assert_eq!(affinity(&root.0), cpus, "{mask}");
        }
    }
}
