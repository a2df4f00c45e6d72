//! Runs a path under callgrind and reads how many instructions it took.

use std::fs;
use std::path::{Path as File, PathBuf};
use std::process::{Command, Stdio};

use crate::paths::Path;

/// The instructions of one operation. `how` is the command by which the path is run.
pub(crate) fn per_operation(path: &Path, how: &str) -> Result<f64, String> {
    let once = counted(path, how, path.times)?;
    let twice = counted(path, how, 2 * path.times)?;
    Ok((twice as f64 - once as f64) / path.times as f64)
}

/// The instructions of the busiest thread.
fn counted(path: &Path, how: &str, times: usize) -> Result<u64, String> {
    let folder = Folder::new()?;
    let program = std::env::current_exe().map_err(|why| format!("own path: {why}"))?;
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--separate-threads=yes"])
        .arg(format!("--callgrind-out-file={}", folder.0.join("out").display()))
        .arg(program)
        .args([how, path.name, &times.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|why| format!("valgrind: {why}"))?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        return Err(format!("{} under callgrind: {}\n{}", path.name, run.status, said.trim()));
    }
    let threads = fs::read_dir(&folder.0).map_err(|why| format!("callgrind's output: {why}"))?;
    let counts = threads.flatten().filter_map(|file| total(&file.path()));
    counts.max().ok_or_else(|| "callgrind has written no counts".to_owned())
}

/// The count at the end of one thread's file.
fn total(file: &File) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals: "))?;
    line.trim().parse().ok()
}

/// A directory for callgrind's files, gone with this.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let path =
            std::env::temp_dir().join(format!("windlass-instructions-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
