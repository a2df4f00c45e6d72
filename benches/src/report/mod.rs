//! A saved run as Markdown: medians, paired ratios, and honest words about who won.

pub(crate) mod growth;
pub(crate) mod heat;
mod limits;

use std::fmt::Write as _;

use serde_json::Value;

use crate::results::Results;
use crate::run::{BUSY, OTHERS};
use crate::stats::Spread;
use crate::verdict::{Line, SUBJECT, Verdict};
use crate::workloads::{self, Aim, Better, Row, Section, Workload};

/// What `measure::passes` adds to the time of a workload.
const CPU: Row = Row::cost("cpu_ns_per_op", "ns CPU");

/// Prints the report of the named file, or of the newest, or writes it to a file.
pub(crate) fn from_file(name: Option<&str>, to: Option<&str>) -> Result<(), String> {
    let text = markdown(&Results::read(name)?);
    match to {
        Some(path) => std::fs::write(path, text).map_err(|why| format!("{path}: {why}")),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

pub(crate) fn markdown(results: &Results) -> String {
    let mut score = Score::default();
    let sections: String = workloads::SECTIONS
        .iter()
        .map(|section| of_section(results, section, &mut score))
        .collect();
    let heats = heat::tables(results, &mut score);
    let doubt = if disturbed(results) { " On a busy machine." } else { "" };
    let mut text = heading(results);
    let _ = writeln!(text, "{}{doubt}\n\n{LEGEND}", score.sentence());
    text.push_str(&sections);
    text.push_str(&heats);
    text.push_str(&growth::tables(results));
    text.push_str(&limits::table(results));
    text.push_str(&cpu_time(results));
    text.push_str(&skipped(results));
    text.push_str(&failures(results));
    text
}

/// What grows has tables of its own, and so has what is in heat tables.
fn listed(section: &Section) -> impl Iterator<Item = &'static Workload> {
    let apart = |name: &str| workloads::growth::series_of(name).is_some() || heat::holds(name);
    section.workloads().filter(move |workload| !apart(workload.name))
}

fn of_section(results: &Results, section: &Section, score: &mut Score) -> String {
    let peers = peers_of(results, listed(section));
    if peers.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&peers, true);
    for workload in listed(section) {
        for row in workload.rows {
            if let Some(line) = Line::of(results, workload, row, &peers) {
                score.count(&line);
                table.add(workload, row, &line);
            }
        }
    }
    table.below(section.title)
}

fn cpu_time(results: &Results) -> String {
    let listed = || workloads::SECTIONS.iter().flat_map(listed);
    let peers = peers_of(results, listed());
    if peers.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&peers, false);
    for workload in listed() {
        if let Some(line) = Line::of(results, workload, &CPU, &peers) {
            table.add(workload, &CPU, &line);
        }
    }
    table.below("CPU time (user and system time of all threads)")
}

const LEGEND: &str = "\
Medians over all rounds; in brackets the median of the ratios to the base peer of the same round
(tokio's multi-threaded runtime where nothing else is said). The last ratio has its quartiles.
*win* and *loss*: nine of ten rounds agree, there are three or more, and the median is more than
2 % off. An aim is met or missed by the median; *within the spread* if it lies between the
quartiles.
";

/// A Markdown table with a column for each peer.
struct Table {
    text: String,
    lines: usize,
    aims: bool,
}

impl Table {
    fn new(peers: &[&str], aims: bool) -> Table {
        let mut text = "| | unit |".to_owned();
        for peer in peers {
            let _ = write!(text, " {peer} |");
        }
        let _ = write!(text, " {SUBJECT} ÷ base | |");
        text.push_str(if aims { " aim | |\n" } else { "\n" });
        text.push_str("|---|---|");
        text.push_str(&"---:|".repeat(peers.len()));
        text.push_str("---:|---|");
        text.push_str(if aims { "---:|---|\n" } else { "\n" });
        Table { text, lines: 0, aims }
    }

    /// The table with a heading; nothing if it is empty.
    fn below(self, heading: &str) -> String {
        if self.lines == 0 { String::new() } else { format!("\n## {heading}\n\n{}", self.text) }
    }

    fn add(&mut self, workload: &Workload, row: &Row, line: &Line<'_>) {
        self.lines += 1;
        let _ = write!(self.text, "| {} | {} |", workload.name, row.unit);
        for cell in &line.cells {
            let _ = match cell {
                Some((value, Some(ratio))) => {
                    write!(self.text, " {} ({}) |", figure(*value), figure(*ratio))
                }
                Some((value, None)) => write!(self.text, " {} |", figure(*value)),
                None => write!(self.text, " |"),
            };
        }
        let _ = write!(self.text, " {} | {} |", compared(line), line.verdict.word());
        if self.aims {
            let _ = write!(self.text, " {} |", aimed(row, line));
        }
        self.text.push('\n');
    }
}

/// The ratio to the base, with its quartiles.
fn compared(line: &Line<'_>) -> String {
    let Some(ratio) = line.ratio else {
        return "–".to_owned();
    };
    let ratio = with_quartiles(ratio);
    if line.base == "tokio" { ratio } else { format!("{ratio} of {}", line.base) }
}

/// The aim and whether it is met: two cells.
fn aimed(row: &Row, line: &Line<'_>) -> String {
    let Some((aim, reached)) = line.aim else {
        return " | ".to_owned();
    };
    let sign = if row.better == Better::Less { "≤" } else { "≥" };
    let aim = match aim {
        Aim::Ratio(aim) => format!("{sign} {aim:.2}"),
        Aim::Value(aim) => format!("{sign} {aim} {}", row.unit),
    };
    let met = if reached.met { "met" } else { "**missed**" };
    let doubt = if reached.sure { "" } else { ", within the spread" };
    format!("{aim} | {met}{doubt}")
}

#[derive(Default)]
struct Score {
    won: usize,
    even: usize,
    lost: usize,
    met: usize,
    aims: usize,
}

impl Score {
    fn count(&mut self, line: &Line<'_>) {
        match line.verdict {
            Verdict::Win => self.won += 1,
            Verdict::Even => self.even += 1,
            Verdict::Loss => self.lost += 1,
            Verdict::None => {}
        }
        if let Some((_, reached)) = line.aim {
            self.aims += 1;
            self.met += usize::from(reached.met);
        }
    }

    fn add(&mut self, other: &Score) {
        self.won += other.won;
        self.even += other.even;
        self.lost += other.lost;
        self.met += other.met;
        self.aims += other.aims;
    }

    fn words(&self) -> String {
        let Score { won, even, lost, met, aims } = self;
        let aims = if *aims == 0 { String::new() } else { format!("; {met} of {aims} aims met") };
        format!("{won} won, {even} even, {lost} lost{aims}")
    }

    fn sentence(&self) -> String {
        format!("**{SUBJECT}: {}.**", self.words())
    }
}

/// The peers that have figures of these workloads, in the order in which these name them, ours last.
fn peers_of(
    results: &Results,
    workloads: impl Iterator<Item = &'static Workload>,
) -> Vec<&'static str> {
    let mut peers = Vec::new();
    for (workload, name) in
        workloads.flat_map(|workload| workload.peers.iter().map(move |(name, _)| (workload, name)))
    {
        if results.has(workload.name, name) && !peers.contains(name) {
            peers.push(*name);
        }
    }
    peers.sort_by_key(|name| *name == SUBJECT);
    peers
}

fn heading(results: &Results) -> String {
    let fact = |key: &str| plain(&results.machine[key]);
    let asked = |key: &str| plain(&results.asked[key]);
    let crates = results.machine["crates"].as_object().into_iter().flatten();
    let crates: Vec<String> =
        crates.map(|(name, version)| format!("{name} {}", plain(version))).collect();
    let mut text = format!(
        "# Benchmarks of {}\n\n{}, {} cores, Linux {}, {}; revision {}; {}.\n\
         {} rounds of {} ms after {} ms of warm-up, {} workers; load at the start {}.\n\n",
        fact("date"),
        fact("cpu"),
        fact("cores"),
        fact("kernel"),
        fact("rustc"),
        fact("revision"),
        crates.join(", "),
        asked("rounds"),
        asked("time_ms"),
        asked("warm_up_ms"),
        fact("workers"),
        fact("load_at_start"),
    );
    if let Some(Spread { median, high, .. }) = others(results) {
        let (median, high) = (100.0 * median, 100.0 * high);
        let _ = writeln!(
            text,
            "Others used {median:.0} % of the machine during the median run, and {high:.0} % or \
             more during a quarter of them.\n",
        );
    }
    if disturbed(results) {
        text.push_str(
            "**The machine was busy: these ratios are not only noisy but skewed**, against the \
             peers that spread their work over all cores.\n\n",
        );
    }
    if results.machine["optimised"] == Value::Bool(false) {
        text.push_str("**Not an optimised build: these figures mean nothing.**\n\n");
    }
    text
}

/// How much of the machine somebody else used, run by run.
fn others(results: &Results) -> Option<Spread> {
    let shares = results.samples.iter().filter_map(|sample| sample.metrics.get(OTHERS));
    Spread::of(&shares.copied().collect::<Vec<f64>>())
}

fn disturbed(results: &Results) -> bool {
    others(results).is_some_and(|others| others.high > BUSY)
}

fn skipped(results: &Results) -> String {
    let skipped = results.asked["skipped"].as_array().into_iter().flatten();
    let lines: String = skipped.map(|why| format!("- {}\n", plain(why))).collect();
    if lines.is_empty() { lines } else { format!("\n## Left out\n\n{lines}") }
}

fn failures(results: &Results) -> String {
    if results.failures.is_empty() {
        return String::new();
    }
    let mut text = "\n## Runs that failed\n\n".to_owned();
    for failure in &results.failures {
        let why = failure.why.lines().next().unwrap_or("");
        let (workload, peer) = (&failure.workload, &failure.peer);
        let _ = writeln!(text, "- {workload} on {peer}, round {}: {why}", failure.round + 1);
    }
    text
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "unknown".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn with_quartiles(Spread { low, median, high }: Spread) -> String {
    format!("{} [{}–{}]", figure(median), figure(low), figure(high))
}

/// Three digits that count.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || size == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
