//! The command line: what was asked for, or a sentence saying what is wrong with it.

use std::fmt::Write as _;
use std::str::FromStr;
use std::time::Duration;

use crate::load::Job;
use crate::measure::Budget;
use crate::workloads::crowd::{self, Cell, Neighbours};
use crate::workloads::{self, Workload};

pub(crate) const USAGE: &str = "\
usage: windlass-benches <command>

  run [options]              measure, save the results, print the report
      --quick                3 short rounds of most of them, in less than 3 minutes
      --rounds N             rounds (5)
      --time MS              measuring time of each child (400)
      --workload a,b         only these, or all whose names start so
      --peer x,y             only these
  matrix [options]           measure the crowding matrix, or a part of it
      --http                 HTTP instead of echo
      --loads 1,2,4          load processes
      --connections 1,16,64,256,1024
                             connections in all
      --neighbours none,1,2,quota
                             processes that burn CPU time, or a limit of 1 CPU for the server
      --rounds N             rounds (3)
      --seconds S            measuring time of each child (0.6)
      --peers x,y            only these
  report [FILE] [--to PATH]  Markdown tables of a saved run (the newest)
  plot [FILE] [--to DIR]     SVG charts of a saved run, beside its file or in DIR
  one WORKLOAD PEER [--seconds S]
                             repeat one workload in this process, for a profiler (5 s)
  list                       workloads and their peers
";

/// What a quick run may take; less than is promised, because the last round may be a slow one.
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
        Some("matrix") => matrix(words).map(Command::Run),
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
    with_peers_only(asked)
}

/// Leaves out what none of the chosen peers can do.
fn with_peers_only(mut asked: Run) -> Result<Run, String> {
    let peers = &asked.peers;
    asked.workloads.retain(|workload| workload.peers_among(peers).next().is_some());
    if asked.workloads.is_empty() {
        return Err("none of the chosen workloads has one of the chosen peers".to_owned());
    }
    Ok(asked)
}

/// A run of some cells of the crowding matrix.
fn matrix<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Run, String> {
    let mut service = "echo";
    let (mut loads, mut connections) = (crowd::LOADS.to_vec(), crowd::CONNECTIONS.to_vec());
    let mut neighbours = crowd::NEIGHBOURS.to_vec();
    let (mut rounds, mut seconds, mut peers) = (3, 0.6, Vec::new());
    while let Some(word) = words.next() {
        match word {
            "--http" => service = "http",
            "--loads" => loads = among(word, words.next(), &loads, |name| name.parse().ok())?,
            "--connections" => {
                connections = among(word, words.next(), &connections, |name| name.parse().ok())?;
            }
            "--neighbours" => {
                neighbours = among(word, words.next(), &neighbours, Neighbours::named)?;
            }
            "--rounds" => rounds = number(word, words.next())?,
            "--seconds" => seconds = number(word, words.next())?,
            "--peers" | "--peer" => peers = chosen_peers(value(word, words.next())?)?,
            other => return Err(format!("`matrix` has no option `{other}`")),
        }
    }
    if rounds == 0 {
        return Err("--rounds must be at least 1".to_owned());
    }
    let wanted = |workload: &&Workload| {
        Cell::of(workload.name).is_some_and(|cell| {
            cell.service == service
                && loads.contains(&cell.loads)
                && connections.contains(&cell.connections)
                && neighbours.contains(&cell.neighbours)
        })
    };
    let workloads: Vec<_> = workloads::all().filter(wanted).collect();
    if workloads.is_empty() {
        return Err("there must be a connection for each load".to_owned());
    }
    let mut budget = Budget::FULL;
    budget.time = duration("--seconds", seconds / crowd::LONGER)?;
    with_peers_only(Run { rounds, budget, limit: None, workloads, peers })
}

/// The values of a list that an option names, each of which is one of those there are.
fn among<T: Copy + PartialEq>(
    option: &str,
    given: Option<&str>,
    known: &[T],
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, String> {
    let names = value(option, given)?.split(',');
    let one = |name: &str| {
        let found = parse(name).filter(|value| known.contains(value));
        found.ok_or_else(|| format!("{option} has no `{name}`"))
    };
    names.map(one).collect()
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
                budget.time = duration(word, number(word, words.next())?)?;
            }
            "--warm-up" => budget.warm_up = Duration::from_millis(number(word, words.next())?),
            "--time" => budget.time = Duration::from_millis(number(word, words.next())?),
            "--capacity" => budget.capacity = Some(number(word, words.next())?),
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

fn duration(option: &str, seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds).map_err(|why| format!("{option} {seconds}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(line: &str) -> Result<Run, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match parse(&words)? {
            Command::Run(run) => Ok(run),
            _ => Err("not a run".to_owned()),
        }
    }

    #[test]
    fn a_part_of_the_matrix_can_be_chosen() {
        let run = run_of(
            "matrix --loads 1,2 --connections 1,16 --neighbours none,quota --peers windlass,tokio \
             --rounds 2 --seconds 1.5",
        )
        .unwrap();
        let names: Vec<&str> = run.workloads.iter().map(|workload| workload.name).collect();
        assert_eq!(
            names,
            [
                "crowd_echo_none_1x1",
                "crowd_echo_none_1x16",
                "crowd_echo_none_2x16",
                "crowd_echo_quota_1x1",
                "crowd_echo_quota_1x16",
                "crowd_echo_quota_2x16",
            ]
        );
        assert_eq!((run.rounds, run.budget.time), (2, Duration::from_secs(1)));
        assert_eq!(run.peers, ["windlass", "tokio"]);
        let http = run_of("matrix --http --connections 64 --loads 4 --neighbours 2").unwrap();
        assert_eq!(http.workloads[0].name, "crowd_http_2_4x64");
        assert_eq!(http.rounds, 3);
    }

    #[test]
    fn what_the_matrix_has_not_is_said() {
        for line in [
            "matrix --loads 3",
            "matrix --connections none",
            "matrix --neighbours 7",
            "matrix --loads 2 --connections 1",
            "matrix --rounds 0",
            "matrix --seconds -1",
            "matrix --peers nobody",
            "matrix --peers smol",
            "matrix --time 3",
            "matrix --loads",
        ] {
            assert!(run_of(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_quick_run_leaves_long_workloads_out_unless_they_are_named() {
        let quick = run_of("run --quick").unwrap();
        assert!(quick.workloads.iter().all(|workload| !workload.takes_long()));
        let named = run_of("run --quick --workload mutex").unwrap();
        assert_eq!(named.workloads[0].name, "mutex");
    }
}
