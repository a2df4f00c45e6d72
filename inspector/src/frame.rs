//! A frame: the JSON that the clients get at each tick.
//!
//! The part that all clients have in common is written once, and each adds the rows of its own view. Times are in
//! nanoseconds, shares between 0 and 1, rates in events per second. The only readers are `page/page.js` and `top.rs`,
//! which know the members by name.

use std::collections::HashMap;
use std::time::Duration;

use crate::findings::findings;
use crate::json::Json;
use crate::model::{Snapshot, Spread, Task, Worker};
use crate::policy::{BLOCKED, SITES, TEXT_LIMIT};
use crate::view::View;
use crate::waits::Graph;

/// A frame, without the rows of a particular view.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The members that all clients have in common, without the last brace.
    common: String,
}

impl Frame {
    /// Writes the part that all clients have in common. `before` is the snapshot of the last tick, for rates, and
    /// `past` is some seconds old, for histograms of the time since then.
    pub(crate) fn new(now: &Snapshot, before: Option<&Snapshot>, past: Option<&Snapshot>) -> Self {
        let start = Snapshot::default();
        let interval = before.map_or(now.at, |before| now.at.saturating_sub(before.at));
        let before = before.unwrap_or(&start);
        let recent = since(now, past.unwrap_or(&start));
        let graph = Graph::of(&now.tasks);
        let shares: Vec<_> =
            now.workers.iter().map(|worker| Shares::of(worker, before, interval)).collect();
        let load: Vec<_> = now
            .workers
            .iter()
            .zip(&shares)
            .filter(|(worker, _)| !worker.spare)
            .map(|(_, shares)| 1.0 - shares.idle - shares.os)
            .collect();
        let mut json = Json::new();
        json.object(|json| {
            json.key("at").number(nanos(now.at));
            json.key("interval").number(nanos(interval));
            json.key("runtime").string(cut(&now.runtime));
            json.key("findings").array(findings(&recent, &graph, &load), |json, finding| {
                json.object(|json| {
                    json.key("severity").string(finding.severity.word());
                    json.key("text").string(cut_to(&finding.text, 3 * TEXT_LIMIT));
                });
            });
            json.key("totals").object(|json| {
                let (totals, old) = (now.totals, before.totals);
                json.key("alive").number(totals.alive);
                json.key("spawned").number(totals.spawned);
                json.key("finished").number(totals.finished);
                json.key("panicked").number(totals.panicked);
                json.key("spawn_rate").decimal(rate(totals.spawned, old.spawned, interval));
                json.key("finish_rate").decimal(rate(totals.finished, old.finished, interval));
            });
            json.key("queues").object(|json| {
                for &(name, count) in &now.queues {
                    json.key(name).number(count);
                }
            });
            json.key("workers").array(now.workers.iter().zip(&shares), |json, (worker, shares)| {
                write_worker(json, worker, shares, before, interval);
            });
            json.key("times").array(&recent.times, |json, times| {
                json.object(|json| {
                    json.key("name").string(times.name);
                    write_spread(json, &times.spread);
                });
            });
            json.key("all_sites").number(now.sites.len() as u64);
            json.key("sites").array(top_sites(&recent), |json, site| {
                json.object(|json| {
                    json.key("name").string(cut(&site.name));
                    json.key("computes").bool(site.computes);
                    json.key("spawned").number(site.spawned);
                    json.key("alive").number(site.alive);
                    json.key("polls").number(site.polls);
                    json.key("busy").number(nanos(site.busy));
                    json.key("worst").number(nanos(site.worst));
                    json.key("waited").number(nanos(site.waited));
                    write_spread(json, &site.spread);
                });
            });
            json.key("stuck").array(&now.stuck, |json, stuck| {
                json.object(|json| {
                    json.key("within").string(stuck.within.word());
                    json.key("task").number_or_null(stuck.task);
                    json.key("name").string_or_null(stuck.name.as_deref().map(cut));
                    json.key("site").string(cut(&stuck.site));
                    json.key("worker").number_or_null(stuck.worker.map(|worker| worker as u64));
                    json.key("lasted").number(nanos(stuck.lasted));
                    json.key("lasts").bool(stuck.lasts);
                    json.key("stack").array(&stuck.stack, |json, line| json.string(cut(line)));
                });
            });
            write_graph(json, &graph);
        });
        let mut common = json.into_text();
        common.pop();
        Self { common }
    }

    /// Returns the whole frame for a client.
    pub(crate) fn for_view(&self, now: &Snapshot, view: &View) -> String {
        let (rows, matching) = view.select(&now.tasks);
        let mut json = Json::new();
        json.object(|json| {
            json.key("total").number(now.tasks.len() as u64);
            json.key("matching").number(matching as u64);
            json.key("rows").array(rows, write_task);
        });
        format!("{},\"tasks\":{}}}", self.common, json.into_text())
    }
}

/// The parts of a worker's time since the last tick.
#[derive(Debug, Clone, Copy)]
struct Shares {
    poll: f64,
    computing: f64,
    blocked: f64,
    os: f64,
    idle: f64,
}

impl Shares {
    fn of(worker: &Worker, before: &Snapshot, interval: Duration) -> Self {
        let start = Worker::default();
        let old = before.workers.iter().find(|old| old.index == worker.index).unwrap_or(&start);
        let spent = |now: Duration, old: Duration| now.saturating_sub(old).as_secs_f64();
        let lasting = match &worker.task {
            Some(task) if task.since >= BLOCKED => task.since.min(interval).as_secs_f64(),
            _ => 0.0,
        };
        // The busy time includes the other parts. A computation counts when it has ended, and while it is under way, as
        // far as it can be seen.
        let busy = spent(worker.busy, old.busy);
        let lasting = lasting.min(busy.max(0.0));
        let (blocked, under_way) = if worker.computes { (0.0, lasting) } else { (lasting, 0.0) };
        let computing = spent(worker.computing, old.computing).max(under_way).min(busy - blocked);
        let poll = busy - blocked - computing;
        let os = spent(worker.os, old.os);
        let idle = spent(worker.idle, old.idle);
        let known = poll + computing + blocked + os + idle;
        let whole = known.max(interval.as_secs_f64()).max(f64::MIN_POSITIVE);
        Self {
            poll: poll / whole,
            computing: computing / whole,
            blocked: blocked / whole,
            os: os / whole,
            idle: idle / whole,
        }
    }
}

fn write_worker(
    json: &mut Json,
    worker: &Worker,
    shares: &Shares,
    before: &Snapshot,
    interval: Duration,
) {
    let start = Worker::default();
    let old = before.workers.iter().find(|old| old.index == worker.index).unwrap_or(&start);
    json.object(|json| {
        json.key("index").number(worker.index as u64);
        json.key("spare").bool(worker.spare);
        json.key("queued").number(worker.queued);
        json.key("polls").decimal(rate(worker.polls, old.polls, interval));
        json.key("steals").decimal(rate(worker.steals, old.steals, interval));
        json.key("parks").decimal(rate(worker.parks, old.parks, interval));
        json.key("poll").decimal(shares.poll);
        json.key("computing").decimal(shares.computing);
        json.key("blocked").decimal(shares.blocked);
        json.key("os").decimal(shares.os);
        json.key("idle").decimal(shares.idle);
        let task = worker.task.as_ref();
        json.key("task").string_or_null(task.map(|task| cut(&task.label)));
        json.key("since").number_or_null(task.map(|task| nanos(task.since)));
    });
}

fn write_task(json: &mut Json, task: &Task) {
    json.object(|json| {
        json.key("id").number(task.id);
        json.key("name").string_or_null(task.name.as_deref().map(cut));
        json.key("site").string(cut(&task.site));
        json.key("kind").string(task.kind.word());
        json.key("state").string(task.state.word());
        let worker = match task.state {
            crate::model::State::Running(worker) => Some(worker as u64),
            _ => None,
        };
        json.key("worker").number_or_null(worker);
        json.key("may_last").bool(task.may_last);
        json.key("since").number(nanos(task.since));
        json.key("age").number(nanos(task.age));
        json.key("polls").number(task.polls);
        json.key("busy").number(nanos(task.busy));
        json.key("waits").string(task.waits.kind);
        json.key("detail").string(cut(&task.waits.detail));
    });
}

fn write_graph(json: &mut Json, graph: &Graph<'_>) {
    json.key("waits").object(|json| {
        json.key("kinds").object(|json| {
            for &(kind, count) in &graph.kinds {
                json.key(kind).number(count as u64);
            }
        });
        json.key("all_joins").number(graph.all_joins as u64);
        json.key("joins").array(&graph.joins, |json, (from, to)| {
            json.object(|json| {
                json.key("from").number(from.id);
                json.key("from_name").string(cut(from.label()));
                json.key("to").number(to.id);
                json.key("to_name").string(cut(to.label()));
                json.key("to_does").string(cut(&to.does()));
                json.key("since").number(nanos(from.since));
            });
        });
        json.key("circles").array(&graph.circles, |json, circle| {
            json.object(|json| {
                json.key("total").number(circle.total as u64);
                json.key("members").array(&circle.members, |json, &id| json.number(id));
            });
        });
    });
}

/// Writes the members of a histogram.
fn write_spread(json: &mut Json, spread: &Spread) {
    json.key("count").number(spread.count());
    json.key("p50").number(nanos(spread.quantile(0.5)));
    json.key("p99").number(nanos(spread.quantile(0.99)));
    json.key("p999").number(nanos(spread.quantile(0.999)));
    json.key("max").number(nanos(spread.max));
    json.key("buckets").array(&spread.buckets, |json, &(bound, count)| {
        json.array([bound.min(nanos(spread.max)), count], |json, number| json.number(number));
    });
}

/// Returns the snapshot with histograms of the time since an earlier one, and without its tasks.
fn since(now: &Snapshot, past: &Snapshot) -> Snapshot {
    let none = Spread::default();
    let mut recent = Snapshot {
        totals: now.totals,
        times: now.times.clone(),
        sites: now.sites.clone(),
        stuck: now.stuck.clone(),
        ..Snapshot::default()
    };
    for times in &mut recent.times {
        let old = past.times.iter().find(|old| old.name == times.name);
        times.spread = times.spread.since(old.map_or(&none, |old| &old.spread));
    }
    let old: HashMap<&str, &Spread> =
        past.sites.iter().map(|site| (site.name.as_str(), &site.spread)).collect();
    for site in &mut recent.sites {
        site.spread = site.spread.since(old.get(site.name.as_str()).copied().unwrap_or(&none));
    }
    recent
}

/// Returns the sites that have kept the workers busy the longest.
fn top_sites(recent: &Snapshot) -> Vec<&crate::model::Site> {
    let mut sites: Vec<_> = recent.sites.iter().collect();
    sites.sort_by(|one, other| (other.busy, &one.name).cmp(&(one.busy, &other.name)));
    sites.truncate(SITES);
    sites
}

fn cut(text: &str) -> &str {
    cut_to(text, TEXT_LIMIT)
}

fn cut_to(text: &str, limit: usize) -> &str {
    let end =
        (0..=limit.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn rate(now: u64, before: u64, interval: Duration) -> f64 {
    now.saturating_sub(before) as f64 / interval.as_secs_f64().max(0.001)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{InPoll, Site, State, Stuck, Times, Totals};

    const MS: Duration = Duration::from_millis(1);

    fn written(now: &Snapshot, before: Option<&Snapshot>) -> serde_json::Value {
        let text = Frame::new(now, before, before).for_view(now, &View::default());
        serde_json::from_str(&text).expect("a frame of JSON")
    }

    #[test]
    fn rates_and_shares_are_those_since_the_last_frame() {
        let worker = |polls, busy, idle, task| Worker {
            polls,
            busy: busy * MS,
            computing: 10 * MS,
            idle: idle * MS,
            task,
            ..Worker::default()
        };
        let snapshot = |at, worker, finished| Snapshot {
            at: at * MS,
            workers: vec![worker],
            totals: Totals { finished, ..Totals::default() },
            ..Snapshot::default()
        };
        let before = snapshot(1_000, worker(100, 500, 500, None), 7);
        let task = InPoll { label: "cache".to_owned(), since: 300 * MS };
        let mut after = worker(150, 900, 600, Some(task));
        after.computing = 50 * MS;
        let now = snapshot(1_500, after, 9);
        let frame = written(&now, Some(&before));
        assert_eq!(frame["totals"]["finish_rate"], 4.0);
        let worker = &frame["workers"][0];
        assert_eq!(worker["polls"], 100.0);
        assert_eq!(
            (worker["task"].as_str(), worker["since"].as_u64()),
            (Some("cache"), Some(300_000_000))
        );
        let shares: Vec<_> = ["blocked", "computing", "poll", "idle", "os"]
            .map(|name| worker[name].as_f64().unwrap())
            .into();
        assert_eq!(shares, [0.6, 0.08, 0.12, 0.2, 0.0]);
    }

    #[test]
    fn histograms_are_of_the_time_since() {
        let snapshot = |few, many| {
            let spread = Spread { buckets: vec![(1_000, few), (40_000_000, many)], max: 40 * MS };
            Snapshot {
                at: 1_000 * MS,
                times: vec![Times { name: "poll time", spread: spread.clone() }],
                sites: vec![Site { name: "a.rs:1".into(), spread, ..Site::default() }],
                ..Snapshot::default()
            }
        };
        let frame = written(&snapshot(900, 5), Some(&snapshot(100, 5)));
        assert_eq!(frame["times"][0]["count"], 800);
        assert_eq!(frame["sites"][0]["p99"], 1_000);
        assert_eq!(frame["findings"], serde_json::json!([]), "the long polls are of another time");
        let frame = written(&snapshot(900, 5), None);
        assert_eq!(
            frame["sites"][0]["buckets"],
            serde_json::json!([[1_000, 900], [40_000_000, 5]])
        );
    }

    #[test]
    fn texts_of_any_length_make_frames_of_bounded_size() {
        let long = "\u{1}é".repeat(100_000);
        let now = Snapshot {
            tasks: (0..1_000)
                .map(|id| Task {
                    id,
                    name: Some(long.clone()),
                    site: long.as_str().into(),
                    state: State::Running(1),
                    ..Task::default()
                })
                .collect(),
            stuck: vec![Stuck {
                name: Some(long.clone()),
                site: long,
                lasts: true,
                ..Stuck::default()
            }],
            ..Snapshot::default()
        };
        let frame = written(&now, None);
        assert_eq!(frame["tasks"]["rows"].as_array().unwrap().len(), 100);
        assert!(frame.to_string().len() < 500_000);
    }
}
