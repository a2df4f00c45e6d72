//! A limit of one CPU for a process, as containers have it: a control group with a quota, of version 1.
//!
//! The group is a directory that this program makes and removes again. Where it may not, or where the
//! machine has version 2 only, there is an error that says so.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup/cpu";

/// The kernel's usual period, and all of it: one CPU.
const PERIOD_US: u32 = 100_000;

/// This process is in a group of its own while this lives.
pub(crate) struct Quota {
    home: PathBuf,
    folder: PathBuf,
}

impl Quota {
    /// Moves this process with all its threads into a group that may use one CPU.
    pub(crate) fn enter() -> Result<Quota, String> {
        let quota = Quota::create()?;
        write(&quota.folder.join(PROCESSES), "0")?;
        Ok(quota)
    }

    /// Says why there can be no quota, if so.
    pub(crate) fn possible() -> Result<(), String> {
        Quota::create().map(drop)
    }

    fn create() -> Result<Quota, String> {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let home = path_of(&groups).ok_or("no control groups of version 1 for CPU time")?;
        let home = Path::new(ROOT).join(home.trim_start_matches('/'));
        let folder = folder_of(&home, std::process::id());
        fs::create_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        let quota = Quota { home, folder };
        write(&quota.folder.join("cpu.cfs_period_us"), &PERIOD_US.to_string())?;
        write(&quota.folder.join("cpu.cfs_quota_us"), &PERIOD_US.to_string())?;
        Ok(quota)
    }

    /// Takes another process out again, which has inherited the group.
    pub(crate) fn release(&self, process: u32) -> Result<(), String> {
        write(&self.home.join(PROCESSES), &process.to_string())
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // A group can be removed once nobody is in it. What is left behind is swept by the parent.
        let _ = write(&self.home.join(PROCESSES), "0");
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes the group of a process that ended without removing it.
pub(crate) fn sweep(process: u32) {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    if let Some(home) = path_of(&groups) {
        let home = Path::new(ROOT).join(home.trim_start_matches('/'));
        // Nearly always there is none.
        let _ = fs::remove_dir(folder_of(&home, process));
    }
}

const PROCESSES: &str = "cgroup.procs";

fn folder_of(home: &Path, process: u32) -> PathBuf {
    home.join(format!("windlass-benches-{process}"))
}

/// The group of the `cpu` controller, as `/proc/self/cgroup` lists it.
fn path_of(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        controllers.split(',').any(|name| name == "cpu").then_some(path)
    })
}

/// The kernel makes these files: one that is missing is not created.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let file = OpenOptions::new().write(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|why| format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn the_group_for_cpu_time_is_found() {
        let groups = "3:cpuset:/a\n2:cpu,cpuacct:/b:c\n1:name=systemd:/d\n0::/e\n";
        assert_eq!(path_of(groups), Some("/b:c"));
        assert_eq!(path_of("0::/user.slice\n"), None);
        assert_eq!(path_of(""), None);
    }
}
