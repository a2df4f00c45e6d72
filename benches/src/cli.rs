//! The command line: what was asked for, or a sentence saying what is wrong with it.

use std::fmt::Write as _;
use std::str::FromStr;
use std::time::Duration;

use crate::load::Job;
use crate::measure::Budget;
use crate::workloads::{self, Workload};

pub(crate) const USAGE: &str = "\
usage: windlass-benches <command>

  run [options]              measure, save the results, print the report
      --quick                3 short rounds of most of them, in less than 3 minutes
      --rounds N             rounds (5)
      --time MS              measuring time of each child (400)
      --workload a,b         only these, or all whose names start so
      --peer x,y             only these
  report [FILE] [--to PATH]  Markdown tables of a saved run (the newest)
  plot [FILE] [--to DIR]     SVG charts of a saved run, beside its file or in DIR
  one WORKLOAD PEER [--seconds S]
                             repeat one workload in this process, for a profiler (5 s)
  list                       workloads and their peers
";

/// What a quick run may take; less than is promised, for the last round to be a slow one.
const QUICKLY: Duration = Duration::from_secs(170);

pub(crate) enum Command {
    Run(Run),
    Report(Saved),
    Plot(Saved),
    One(Single),
    Child(Single),
    Load(Job),
    List,
    Help,
}

/// What `run` shall measure.
pub(crate) struct Run {
    pub(crate) rounds: usize,
    pub(crate) budget: Budget,
    /// No round is begun that would probably end after this.
    pub(crate) limit: Option<Duration>,
    pub(crate) workloads: Vec<&'static Workload>,
    /// Empty for all.
    pub(crate) peers: Vec<String>,
}

/// What `report` and `plot` shall show, and where.
pub(crate) struct Saved {
    /// The newest, if none is named.
    pub(crate) file: Option<String>,
    pub(crate) to: Option<String>,
}

/// One workload on one peer.
pub(crate) struct Single {
    pub(crate) workload: &'static Workload,
    pub(crate) peer: String,
    pub(crate) budget: Budget,
}

pub(crate) fn parse(args: &[String]) -> Result<Command, String> {
    let mut words = args.iter().map(String::as_str);
    match words.next() {
        None | Some("help" | "-h" | "--help") => Ok(Command::Help),
        Some("run") => run(words).map(Command::Run),
        Some("report") => saved(words).map(Command::Report),
        Some("plot") => saved(words).map(Command::Plot),
        Some("one") => single(words, Budget::lasting(Duration::from_secs(5))).map(Command::One),
        // Not in the usage: what `run` calls its children with.
        Some("child") => single(words, Budget::FULL).map(Command::Child),
        // Nor this: what a server under test calls its load with.
        Some("load") => Job::parse(words).map(Command::Load),
        Some("list") => Ok(Command::List),
        Some(other) => Err(format!("unknown command `{other}`")),
    }
}

/// The workloads and peers there are, a line each.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for workload in workloads::all() {
        let peers: Vec<&str> = workload.peers.iter().map(|(name, _)| *name).collect();
        let _ = writeln!(text, "{:<20} {}", workload.name, workload.about);
        let _ = writeln!(text, "{:<20} [{}]", "", peers.join(", "));
    }
    text
}

fn run<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Run, String> {
    let mut asked = Run {
        rounds: 5,
        budget: Budget::FULL,
        limit: None,
        workloads: Vec::new(),
        peers: Vec::new(),
    };
    let (mut rounds, mut time, mut quick) = (None, None, false);
    while let Some(word) = words.next() {
        match word {
            "--quick" => {
                quick = true;
                asked.rounds = 3;
                asked.budget = Budget::QUICK;
                asked.limit = Some(QUICKLY);
            }
            "--rounds" => rounds = Some(number(word, words.next())?),
            "--time" => time = Some(number(word, words.next())?),
            "--workload" => asked.workloads = chosen_workloads(value(word, words.next())?)?,
            "--peer" => asked.peers = chosen_peers(value(word, words.next())?)?,
            other => return Err(format!("`run` has no option `{other}`")),
        }
    }
    asked.rounds = rounds.unwrap_or(asked.rounds);
    if asked.rounds == 0 {
        return Err("--rounds must be at least 1".to_owned());
    }
    if let Some(ms) = time {
        asked.budget.time = Duration::from_millis(ms);
    }
    if asked.workloads.is_empty() {
        let wanted = |workload: &&Workload| !(quick && workload.takes_long());
        asked.workloads = workloads::all().filter(wanted).collect();
    }
    let peers = &asked.peers;
    asked.workloads.retain(|workload| workload.peers_among(peers).next().is_some());
    if asked.workloads.is_empty() {
        return Err("none of the chosen workloads has one of the chosen peers".to_owned());
    }
    Ok(asked)
}

fn saved<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Saved, String> {
    let mut saved = Saved { file: None, to: None };
    while let Some(word) = words.next() {
        match word {
            "--to" => saved.to = Some(value(word, words.next())?.to_owned()),
            _ if word.starts_with('-') => return Err(format!("unknown option `{word}`")),
            _ if saved.file.is_some() => return Err(format!("one file, and not `{word}` too")),
            _ => saved.file = Some(word.to_owned()),
        }
    }
    Ok(saved)
}

fn single<'a>(
    mut words: impl Iterator<Item = &'a str>,
    mut budget: Budget,
) -> Result<Single, String> {
    let (Some(workload), Some(peer)) = (words.next(), words.next()) else {
        return Err("name a workload and a peer (see `list`)".to_owned());
    };
    let workload = workloads::all()
        .find(|known| known.name == workload)
        .ok_or_else(|| format!("unknown workload `{workload}` (see `list`)"))?;
    if workload.run_of(peer).is_none() {
        return Err(format!("`{}` does not run on `{peer}` (see `list`)", workload.name));
    }
    while let Some(word) = words.next() {
        match word {
            "--seconds" => {
                let seconds: f64 = number(word, words.next())?;
                let time = Duration::try_from_secs_f64(seconds);
                budget.time = time.map_err(|why| format!("--seconds {seconds}: {why}"))?;
            }
            "--warm-up" => budget.warm_up = Duration::from_millis(number(word, words.next())?),
            "--time" => budget.time = Duration::from_millis(number(word, words.next())?),
            "--passes" => budget.fewest_passes = number(word, words.next())?,
            other => return Err(format!("unknown option `{other}`")),
        }
    }
    Ok(Single { workload, peer: peer.to_owned(), budget })
}

fn chosen_workloads(list: &str) -> Result<Vec<&'static Workload>, String> {
    let names: Vec<&str> = list.split(',').collect();
    for name in &names {
        if !workloads::all().any(|known| known.name.starts_with(name)) {
            return Err(format!("unknown workload `{name}` (see `list`)"));
        }
    }
    // An exact name means that one alone, even where it begins another one's name.
    let exact = |name: &str| workloads::all().any(|known| known.name == name);
    let wanted = |known: &&Workload| {
        names.iter().any(|&name| {
            if exact(name) { known.name == name } else { known.name.starts_with(name) }
        })
    };
    Ok(workloads::all().filter(wanted).collect())
}

fn chosen_peers(list: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = list.split(',').map(str::to_owned).collect();
    for name in &names {
        if !workloads::all().any(|workload| workload.run_of(name).is_some()) {
            return Err(format!("unknown peer `{name}` (see `list`)"));
        }
    }
    Ok(names)
}

fn value<'a>(option: &str, given: Option<&'a str>) -> Result<&'a str, String> {
    given.ok_or_else(|| format!("{option} needs a value"))
}

fn number<T: FromStr>(option: &str, given: Option<&str>) -> Result<T, String> {
    let text = value(option, given)?;
    text.parse().map_err(|_| format!("{option} needs a number, not `{text}`"))
}
