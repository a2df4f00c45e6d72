//! Recorded counts: one file for each compiler and target, which decide on the code, and each C
//! library, whose allocator is part of some paths.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much more than was recorded a path may take. Counts of the same program differ by less;
/// the rest is for what the compiler does differently next door to a change.
const TOLERANCE: f64 = 0.03;

/// Counts by the name of the path.
#[derive(Debug, PartialEq)]
pub(crate) struct Baseline(BTreeMap<String, f64>);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Same,
    Better,
    Worse,
}

pub(crate) fn judge(recorded: f64, now: f64) -> Verdict {
    match now / recorded - 1.0 {
        more if more > TOLERANCE => Verdict::Worse,
        more if more < -TOLERANCE => Verdict::Better,
        _ => Verdict::Same,
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Same => "",
            Verdict::Better => "fewer: record them, lest they come back",
            Verdict::Worse => "MORE",
        })
    }
}

/// What to say where there is nothing to compare with.
pub(crate) fn unknown() -> String {
    format!(
        "SKIPPED: no counts are recorded for {}.\nRecord them on a state that you trust: \
         scripts/instructions record",
        named()
    )
}

impl Baseline {
    pub(crate) fn new() -> Baseline {
        Baseline(BTreeMap::new())
    }

    /// The counts for this compiler, target and C library; `None` if there are none.
    pub(crate) fn read() -> Result<Option<Baseline>, String> {
        let path = file();
        match fs::read_to_string(&path) {
            Ok(text) => parsed(&text).map(Some).map_err(|why| format!("{}: {why}", path.display())),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(format!("{}: {why}", path.display())),
        }
    }

    /// Gives the name of the file.
    pub(crate) fn write(&self) -> Result<String, String> {
        let path = file();
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        fs::write(&path, self.text()).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(path.display().to_string())
    }

    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    pub(crate) fn set(&mut self, name: &str, count: f64) {
        self.0.insert(name.to_owned(), count);
    }

    fn text(&self) -> String {
        let head = format!("# Instructions per operation: {}.\n", named());
        self.0.iter().fold(head, |text, (name, count)| text + &format!("{name:<16} {count:>8.1}\n"))
    }
}

fn parsed(text: &str) -> Result<Baseline, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let pair = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, count) = (words.next()?, words.next()?.parse().ok()?);
        Some((name.to_owned(), count))
    };
    let pairs = lines.map(|line| pair(line).ok_or_else(|| format!("not a count: `{line}`")));
    pairs.collect::<Result<_, _>>().map(Baseline)
}

/// What the counts are valid for.
fn named() -> String {
    format!("{}-rustc-{}-{}", env!("COUNTED_TARGET"), env!("COUNTED_RUSTC"), c_library())
}

/// "glibc-2.36".
fn c_library() -> String {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let text = said.ok().and_then(|out| String::from_utf8(out.stdout).ok()).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { "unknown-libc".to_owned() } else { words.join("-") }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("baselines").join(format!("{}.txt", named()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_their_file() {
        let mut baseline = Baseline::new();
        baseline.set("spawn", 312.5);
        baseline.set("yield", 90.0);
        assert_eq!(parsed(&baseline.text()), Ok(baseline));
        assert!(parsed("spawn many").is_err());
    }

    #[test]
    fn a_little_more_is_the_same() {
        assert_eq!(judge(100.0, 102.9), Verdict::Same);
        assert_eq!(judge(100.0, 103.1), Verdict::Worse);
        assert_eq!(judge(100.0, 96.0), Verdict::Better);
    }
}
