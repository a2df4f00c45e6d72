//! A saved run as SVG charts: ratios with their spread, latency distributions, growth.

mod growth;
mod latency;
mod panels;
mod ratios;
mod style;

use std::fs;
use std::path::{Path, PathBuf};

use crate::results::{self, Results};

/// What can go wrong in a backend that writes to memory and then to a file: nothing but the file.
type Drawn = Result<(), Box<dyn std::error::Error>>;

type Draw = fn(&Results, &Path) -> Drawn;

const CHARTS: &[(&str, Draw)] =
    &[("ratios", ratios::draw), ("latency", latency::draw), ("growth", growth::draw)];

/// Draws all charts for which the run has figures: beside its file, or into a directory.
pub(crate) fn from_file(name: Option<&str>, to: Option<&str>) -> Result<(), String> {
    let file = results::find(name)?;
    let results = Results::read(Some(&file.to_string_lossy()))?;
    let folder = to.map_or_else(|| file.with_extension(""), PathBuf::from);
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;

    for (name, draw) in CHARTS {
        let path = folder.join(format!("{name}.svg"));
        draw(&results, &path).map_err(|why| format!("{}: {why}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// When and where it was measured, in a line.
fn caption(results: &Results) -> String {
    let fact = |key: &str| results.machine[key].as_str().unwrap_or("unknown").to_owned();
    let date = fact("date");
    let date = date.split('T').next().unwrap_or_default();
    let cores = &results.machine["cores"];
    let rounds = &results.asked["rounds"];
    format!(
        "{date}, revision {}, {} ({cores} cores), Linux {}, rounds: {rounds}",
        fact("revision"),
        fact("cpu"),
        fact("kernel"),
    )
}
