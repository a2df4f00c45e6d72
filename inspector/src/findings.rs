//! Finds problems, and says in plain words what to do about them.

use std::time::Duration;

use crate::model::{Snapshot, Spread, StuckIn};
use crate::policy::{
    FINDINGS_OF_A_KIND, LONG_POLL, LONG_WAIT, MANY_TASKS, NAMES, SATURATED, SEVERAL,
};
use crate::text::{duration, thousands};
use crate::waits::Graph;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Bad,
    Warning,
    Note,
}

impl Severity {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// An observation that is worth a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) text: String,
}

/// Returns the problems, worst first.
///
/// `recent` has histograms of the last seconds instead of those since the start, and `load` the share of time for which
/// each worker was busy.
pub(crate) fn findings(recent: &Snapshot, graph: &Graph<'_>, load: &[f64]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |severity, text| found.push(Finding { severity, text });
    for stuck in recent.stuck.iter().filter(|stuck| stuck.lasts).take(FINDINGS_OF_A_KIND) {
        let who = match &stuck.name {
            Some(name) => format!("task “{name}” ({})", stuck.site),
            None if stuck.task.is_none() && stuck.site.is_empty() => "a fork-join job".to_owned(),
            None => format!("a task of {}", stuck.site),
        };
        let worker = stuck
            .worker
            .map_or_else(|| "its thread".to_owned(), |worker| format!("worker {worker}"));
        let lasted = duration(stuck.lasted);
        match stuck.within {
            StuckIn::Poll => add(
                Severity::Bad,
                format!(
                    "{who} has kept {worker} in one poll for {lasted}: move what blocks to spawn_blocking, what computes to compute"
                ),
            ),
            StuckIn::Leaf => add(
                Severity::Note,
                format!(
                    "{who} has computed on {worker} without a split point for {lasted}: with join or scope, others could help"
                ),
            ),
            StuckIn::BlockingPool => add(
                Severity::Bad,
                format!(
                    "the blocking pool has been full for {lasted}, {}: raise Builder::max_blocking, or find out what its closures wait for",
                    stuck.site
                ),
            ),
        }
    }
    for circle in graph.circles.iter().take(FINDINGS_OF_A_KIND) {
        let name = |id: &u64| {
            let known = graph.joins.iter().find(|(task, _)| task.id == *id);
            known.and_then(|(task, _)| task.name.clone()).unwrap_or_else(|| format!("task {id}"))
        };
        let members = &circle.members[..circle.members.len().min(NAMES)];
        let mut names: Vec<_> = members.iter().map(name).collect();
        if circle.total > members.len() {
            names.push(format!("{} more", thousands((circle.total - members.len()) as u64)));
        }
        names.extend(members.first().map(name));
        add(
            Severity::Bad,
            format!(
                "{} wait for each other’s end and will wait for ever: one of them has to end first",
                names.join(" → ")
            ),
        );
    }
    let mut slow: Vec<_> = recent
        .sites
        .iter()
        .filter(|site| !site.computes && site.spread.above(LONG_POLL) >= SEVERAL)
        .map(|site| (site.spread.quantile(0.99), site))
        .filter(|(p99, _)| *p99 >= LONG_POLL)
        .collect();
    slow.sort_by_key(|(p99, site)| std::cmp::Reverse((*p99, site.busy)));
    for (p99, site) in slow.into_iter().take(FINDINGS_OF_A_KIND) {
        add(
            Severity::Warning,
            format!(
                "site {} blocks its worker for {} at p99: use spawn_blocking or compute",
                site.name,
                duration(p99)
            ),
        );
    }
    for times in recent.times.iter().filter(|times| times.name.starts_with("wake to poll")) {
        if let Some(p99) = late(&times.spread) {
            let full = !load.is_empty() && load.iter().all(|&share| share >= SATURATED);
            let why = if full {
                "all workers are busy: there is more work than CPUs"
            } else {
                "long polls are in the way"
            };
            add(
                Severity::Warning,
                format!(
                    "ready tasks wait {} for a worker at p99 ({}): {why}",
                    duration(p99),
                    times.name
                ),
            );
        }
    }
    let spread = |name: &str| recent.times.iter().find(|times| times.name == name);
    if let Some(late) = spread("timer lateness").and_then(|times| late(&times.spread)) {
        add(
            Severity::Warning,
            format!(
                "timers are late by {} at p99: long polls are in the way, or the machine is overloaded",
                duration(late)
            ),
        );
    }
    if let Some(late) = spread("blocking pool wait").and_then(|times| late(&times.spread)) {
        add(
            Severity::Warning,
            format!(
                "closures wait {} at p99 for a thread of the blocking pool: raise Builder::max_blocking, unless the machine is overloaded",
                duration(late)
            ),
        );
    }
    for site in recent.sites.iter().filter(|site| site.alive >= MANY_TASKS).take(FINDINGS_OF_A_KIND)
    {
        add(
            Severity::Note,
            format!(
                "site {} has {} tasks alive: does it spawn without a limit?",
                site.name,
                thousands(site.alive)
            ),
        );
    }
    if recent.totals.panicked > 0 {
        let (count, s) =
            (recent.totals.panicked, if recent.totals.panicked == 1 { " has" } else { "s have" });
        add(Severity::Note, format!("{} task{s} panicked since the start", thousands(count)));
    }
    found.sort_by_key(|finding| finding.severity);
    found
}

/// Returns the 99th percentile of waits, if long waits are more than an accident.
fn late(spread: &Spread) -> Option<Duration> {
    Some(spread.quantile(0.99))
        .filter(|p99| *p99 >= LONG_WAIT && spread.above(LONG_WAIT) >= SEVERAL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Site, Stuck, Task, Times, Totals, Waits};

    fn spread(millis: u64) -> Spread {
        let time = Duration::from_millis(millis);
        Spread { buckets: vec![(time.as_nanos() as u64, 10)], max: time }
    }

    fn texts(snapshot: &Snapshot, load: &[f64]) -> String {
        let found = findings(snapshot, &Graph::of(&snapshot.tasks), load);
        found
            .iter()
            .map(|finding| format!("{}: {}\n", finding.severity.word(), finding.text))
            .collect()
    }

    #[test]
    fn a_quiet_runtime_has_none() {
        let site = Site { name: "a.rs:1".into(), spread: spread(1), ..Site::default() };
        let times = vec![Times { name: "wake to poll: I/O", spread: spread(1) }];
        assert_eq!(
            texts(&Snapshot { sites: vec![site], times, ..Snapshot::default() }, &[0.1]),
            ""
        );
    }

    #[test]
    fn a_site_that_blocks_is_named_with_what_to_do() {
        let site = Site { name: "src/db.rs:41".into(), spread: spread(30), ..Site::default() };
        assert_eq!(
            texts(&Snapshot { sites: vec![site], ..Snapshot::default() }, &[]),
            "warning: site src/db.rs:41 blocks its worker for 30 ms at p99: use spawn_blocking or compute\n"
        );
    }

    #[test]
    fn computations_and_single_polls_are_no_finding() {
        let site = |computes, count| {
            let spread =
                Spread { buckets: vec![(40_000_000, count)], max: Duration::from_millis(40) };
            Site { name: "a.rs:1".into(), computes, spread, ..Site::default() }
        };
        let sites = vec![site(true, 100), site(false, 2)];
        assert_eq!(texts(&Snapshot { sites, ..Snapshot::default() }, &[]), "");
    }

    #[test]
    fn a_stuck_task_comes_first_and_a_circle_is_spelled_out() {
        let task = |id, name: &str, joins| Task {
            id,
            name: Some(name.to_owned()),
            waits: Waits { kind: "join", joins: Some(joins), ..Waits::default() },
            ..Task::default()
        };
        let stuck = Stuck {
            name: Some("cache".into()),
            site: "src/c.rs:1".into(),
            worker: Some(1),
            lasted: Duration::from_millis(1_200),
            lasts: true,
            ..Stuck::default()
        };
        let over = Stuck { lasts: false, ..stuck.clone() };
        let snapshot = Snapshot {
            tasks: vec![task(1, "a", 2), task(2, "b", 1)],
            stuck: vec![over, stuck],
            totals: Totals { panicked: 1, ..Totals::default() },
            ..Snapshot::default()
        };
        let texts = texts(&snapshot, &[]);
        let lines: Vec<_> = texts.lines().collect();
        assert!(
            lines[0].starts_with(
                "bad: task “cache” (src/c.rs:1) has kept worker 1 in one poll for 1.20 s"
            ),
            "{texts}"
        );
        assert!(lines[1].starts_with("bad: a → b → a wait for each other"), "{texts}");
        assert_eq!(lines[2], "note: 1 task has panicked since the start");
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn two_long_waits_are_no_finding() {
        let spread = Spread { buckets: vec![(40_000_000, 2)], max: Duration::from_millis(40) };
        let names = ["wake to poll: timer", "timer lateness", "blocking pool wait"];
        let times = names.map(|name| Times { name, spread: spread.clone() }).into();
        assert_eq!(texts(&Snapshot { times, ..Snapshot::default() }, &[]), "");
    }

    #[test]
    fn waits_for_a_worker_say_whether_the_machine_is_full() {
        let times = vec![
            Times { name: "wake to poll: I/O", spread: spread(20) },
            Times { name: "blocking pool wait", spread: spread(500) },
        ];
        let snapshot = Snapshot { times, ..Snapshot::default() };
        assert!(texts(&snapshot, &[0.99, 1.0]).contains("more work than CPUs"));
        let texts = texts(&snapshot, &[0.99, 0.2]);
        assert!(
            texts.contains("long polls are in the way") && texts.contains("max_blocking"),
            "{texts}"
        );
    }
}
