//! Facts about the machine and the build, without which a figure means nothing.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// All facts, as the first line of a result file.
pub(crate) fn facts() -> Value {
    let crates: Map<String, Value> = env!("BENCH_CRATES")
        .split(' ')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, version)| (name.to_owned(), json!(version)))
        .collect();
    json!({
        "kind": "machine",
        "date": now().to_string(),
        "cpu": cpu_model(),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "kernel": read("/proc/sys/kernel/osrelease"),
        "load_at_start": load(),
        "rustc": env!("BENCH_RUSTC"),
        "optimised": !cfg!(debug_assertions),
        "revision": revision(),
        "crates": crates,
        "workers": crate::peers::WORKERS,
    })
}

/// A point in time (UTC) to the second.
pub(crate) struct Stamp {
    days: u64,
    seconds: u64,
}

pub(crate) fn now() -> Stamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    Stamp { days: since / 86_400, seconds: since % 86_400 }
}

impl Stamp {
    /// Year, month and day in the Gregorian calendar.
    fn date(&self) -> (u64, u64, u64) {
        let leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let mut left = self.days;
        let mut year = 1970;
        while left >= 365 + u64::from(leap(year)) {
            left -= 365 + u64::from(leap(year));
            year += 1;
        }
        let february = 28 + u64::from(leap(year));
        let mut month = 1;
        for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
            if left < length {
                break;
            }
            left -= length;
            month += 1;
        }
        (year, month, left + 1)
    }

    fn time(&self) -> (u64, u64, u64) {
        (self.seconds / 3600, self.seconds / 60 % 60, self.seconds % 60)
    }

    /// Sorts by time and is fit for a file name.
    pub(crate) fn file_stem(&self) -> String {
        let (year, month, day) = self.date();
        let (hour, minute, second) = self.time();
        format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
    }
}

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, day) = self.date();
        let (hour, minute, second) = self.time();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

fn cpu_model() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
    model.to_owned()
}

/// The commit that this was built from, if the tree is a clone; and what the tree is at by now, if that is
/// something else.
fn revision() -> Option<String> {
    let built = Some(env!("BENCH_REVISION")).filter(|revision| !revision.is_empty())?;
    match revision_of_tree() {
        Some(now) if now != built => Some(format!("{built} (the tree is at {now})")),
        _ => Some(built.to_owned()),
    }
}

fn revision_of_tree() -> Option<String> {
    let out = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    out.status.success().then(|| text.trim().to_owned())
}

/// How many were running or wanted to, over 1, 5 and 15 minutes.
fn load() -> String {
    let load = read("/proc/loadavg");
    load.splitn(4, ' ').take(3).collect::<Vec<_>>().join(" ")
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Stamp;

    #[test]
    fn dates_across_leap_years() {
        let date = |days| Stamp { days, seconds: 0 }.date();
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(date(20_453), (2025, 12, 31));
        assert_eq!(date(20_454), (2026, 1, 1));
        let stamp = Stamp { days: 20_454, seconds: 3_661 };
        assert_eq!(stamp.to_string(), "2026-01-01T01:01:01Z");
        assert_eq!(stamp.file_stem(), "20260101-010101");
    }
}
