//! The progress line: what runs now, and how long it will still take.

use std::collections::HashMap;
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Where nobody watches a terminal, a line this often is enough.
const LOG_EVERY: Duration = Duration::from_secs(15);

/// Learns how long each (workload, peer) takes and predicts the rest from it.
pub(crate) struct Progress<'a> {
    /// The jobs of one round; every round has the same.
    jobs: Vec<(&'a str, &'a str)>,
    rounds: usize,
    done: usize,
    seen: HashMap<(&'a str, &'a str), Duration>,
    terminal: bool,
    logged: Option<Instant>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(jobs: Vec<(&'a str, &'a str)>, rounds: usize) -> Progress<'a> {
        let terminal = stderr().is_terminal();
        Progress { jobs, rounds, done: 0, seen: HashMap::new(), terminal, logged: None }
    }

    pub(crate) fn begin(&mut self, round: usize, workload: &str, peer: &str) {
        let total = self.jobs.len() * self.rounds;
        let left = match self.left(round) {
            Some(left) => format!("{} left", readable(left)),
            None => "…".to_owned(),
        };
        let line = format!(
            "[{}/{total}] round {}/{}  {workload} on {peer}  {left}",
            self.done + 1,
            round + 1,
            self.rounds,
        );
        if self.terminal {
            eprint!("\r\x1b[K{line}");
            let _ = stderr().flush();
        } else if self.logged.is_none_or(|at| at.elapsed() >= LOG_EVERY) {
            eprintln!("{line}");
            self.logged = Some(Instant::now());
        }
    }

    pub(crate) fn end(&mut self, workload: &'a str, peer: &'a str, took: Duration) {
        self.done += 1;
        self.seen.insert((workload, peer), took);
    }

    /// Says something that stays on the screen.
    pub(crate) fn note(&self, text: &str) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        eprintln!("{clear}{text}");
    }

    pub(crate) fn finish(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }

    /// A whole round as far as known, the average standing in for what has not run yet.
    fn left(&self, round: usize) -> Option<Duration> {
        let known: Duration = self.seen.values().sum();
        let average = known.checked_div(u32::try_from(self.seen.len()).ok()?)?;
        let unknown = u32::try_from(self.jobs.len() - self.seen.len()).ok()?;
        let whole_round = known + average * unknown;
        let rounds_after = u32::try_from(self.rounds - round - 1).ok()?;
        let done_in_round = self.done - round * self.jobs.len();
        // Within a round the order rotates, so a share of the round is near enough.
        let share = 1.0 - done_in_round as f64 / self.jobs.len() as f64;
        Some(whole_round * rounds_after + whole_round.mul_f64(share))
    }
}

fn readable(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}
