//! Result files: JSON lines, written as the run goes, so that an interrupted run is not lost.
//!
//! The first line holds the facts of the machine, the second what was asked for; then one line per
//! child: its figures, or why there are none.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::machine;

/// A saved run, read back.
pub(crate) struct Results {
    pub(crate) machine: Value,
    pub(crate) asked: Value,
    pub(crate) samples: Vec<Sample>,
    pub(crate) failures: Vec<Failure>,
}

/// The figures of one child.
pub(crate) struct Sample {
    pub(crate) round: usize,
    pub(crate) workload: String,
    pub(crate) peer: String,
    pub(crate) metrics: BTreeMap<String, f64>,
}

/// A child that brought no figures.
pub(crate) struct Failure {
    pub(crate) round: usize,
    pub(crate) workload: String,
    pub(crate) peer: String,
    pub(crate) why: String,
}

impl Results {
    /// Reads the named file, or the newest.
    pub(crate) fn read(name: Option<&str>) -> Result<Results, String> {
        let path = find(name)?;
        let text = fs::read_to_string(&path).map_err(|why| in_file(&path, &why))?;
        let mut results = Results {
            machine: Value::Null,
            asked: Value::Null,
            samples: Vec::new(),
            failures: Vec::new(),
        };
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).map_err(|why| in_file(&path, &why))?;
            results.take(line);
        }
        if results.machine.is_null() {
            return Err(in_file(&path, &"not a result file of this program"));
        }
        Ok(results)
    }

    /// True if a peer has brought figures of a workload.
    pub(crate) fn has(&self, workload: &str, peer: &str) -> bool {
        self.samples.iter().any(|sample| sample.workload == workload && sample.peer == peer)
    }

    /// The (round, value) pairs of one metric.
    pub(crate) fn series(&self, workload: &str, peer: &str, metric: &str) -> Vec<(usize, f64)> {
        let of_it = |sample: &&Sample| sample.workload == workload && sample.peer == peer;
        let samples = self.samples.iter().filter(of_it);
        samples.filter_map(|sample| Some((sample.round, *sample.metrics.get(metric)?))).collect()
    }

    fn take(&mut self, line: Value) {
        let text = |key: &str| line[key].as_str().unwrap_or("").to_owned();
        let round = line["round"].as_u64().unwrap_or(0) as usize;
        match line["kind"].as_str() {
            Some("machine") => self.machine = line,
            Some("asked") => self.asked = line,
            Some("sample") => {
                let metrics = line["metrics"].as_object().into_iter().flatten();
                let metrics = metrics
                    .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)))
                    .collect();
                let (workload, peer) = (text("workload"), text("peer"));
                self.samples.push(Sample { round, workload, peer, metrics });
            }
            Some("failure") => {
                let (workload, peer, why) = (text("workload"), text("peer"), text("why"));
                self.failures.push(Failure { round, workload, peer, why });
            }
            // A newer program may write more kinds of lines than this one knows.
            _ => {}
        }
    }
}

/// Appends to a new result file.
pub(crate) struct Writer {
    file: File,
    path: PathBuf,
}

impl Writer {
    pub(crate) fn create(asked: &Value) -> Result<Writer, String> {
        let folder = folder();
        fs::create_dir_all(&folder).map_err(|why| in_file(&folder, &why))?;
        let path = folder.join(format!("{}.jsonl", machine::now().file_stem()));
        let file = File::create_new(&path).map_err(|why| in_file(&path, &why))?;
        let mut writer = Writer { file, path };
        writer.line(&machine::facts())?;
        writer.line(asked)?;
        Ok(writer)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn sample(
        &mut self,
        round: usize,
        workload: &str,
        peer: &str,
        metrics: Value,
    ) -> Result<(), String> {
        self.line(&json!({
            "kind": "sample", "round": round, "workload": workload, "peer": peer,
            "metrics": metrics,
        }))
    }

    pub(crate) fn failure(
        &mut self,
        round: usize,
        workload: &str,
        peer: &str,
        why: &str,
    ) -> Result<(), String> {
        self.line(&json!({
            "kind": "failure", "round": round, "workload": workload, "peer": peer, "why": why,
        }))
    }

    fn line(&mut self, line: &Value) -> Result<(), String> {
        writeln!(self.file, "{line}").map_err(|why| in_file(&self.path, &why))
    }
}

/// The named file, or the newest.
pub(crate) fn find(name: Option<&str>) -> Result<PathBuf, String> {
    match name {
        Some(name) => Ok(named(name)),
        None => newest().ok_or_else(|| "no results yet: `run` first".to_owned()),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// A path as given, or a file of the results folder with or without its ending.
fn named(name: &str) -> PathBuf {
    let given = PathBuf::from(name);
    if given.exists() {
        return given;
    }
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    folder().join(format!("{stem}.jsonl"))
}

fn newest() -> Option<PathBuf> {
    let entries = fs::read_dir(folder()).ok()?;
    let files = entries.flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).max()
}

fn in_file(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("{}: {why}", path.display())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The round, workload, peer and figures of a sample.
    pub(crate) type Row<'a> = (usize, &'a str, &'a str, &'a [(&'a str, f64)]);

    /// A run with these samples.
    pub(crate) fn results(samples: &[Row<'_>]) -> Results {
        let sample = |&(round, workload, peer, metrics): &Row<'_>| Sample {
            round,
            workload: workload.to_owned(),
            peer: peer.to_owned(),
            metrics: metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        };
        Results {
            machine: Value::Null,
            asked: Value::Null,
            samples: samples.iter().map(sample).collect(),
            failures: Vec::new(),
        }
    }
}
