//! Fills a snapshot from the runtime: the only file that knows the runtime's interface.

use std::collections::HashMap;
use std::io;
use std::panic::Location;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use windlass_runtime::observe::{Histogram, SiteMetrics, TaskInfo, TaskKind, TaskState, WaitsFor};
use windlass_runtime::{Handle, LongPoll, LongPollKind, Metrics, StackFrame, WorkerMetrics, task};

use crate::model::{
    InPoll, Kind, Site, Snapshot, Spread, State, Stuck, StuckIn, Task, Times, Totals, Waits, Worker,
};
use crate::policy::{PAST_REPORTS, STACK_FRAMES, STUCK};
use crate::text::duration;

/// Takes snapshots of a runtime.
#[derive(Debug)]
pub(crate) struct Collector {
    runtime: Handle,
    started: Instant,
}

impl Collector {
    pub(crate) fn new(runtime: Handle) -> Self {
        Self { runtime, started: Instant::now() }
    }

    /// Takes a snapshot. This stops no worker and waits for none.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let metrics = self.runtime.metrics();
        let start = Instant::now();
        let tasks = tasks(self.runtime.tasks(), start);
        Snapshot {
            at: self.started.elapsed(),
            runtime: self.runtime.thread_name().to_owned(),
            workers: workers(&metrics, &tasks),
            totals: Totals {
                spawned: metrics.tasks_spawned,
                alive: metrics.tasks_alive,
                finished: metrics.tasks_finished,
                panicked: metrics.tasks_panicked,
            },
            queues: queues(&metrics),
            times: times(&metrics),
            sites: metrics.sites.iter().map(site).collect(),
            stuck: stuck(&tasks, &self.runtime.long_polls()),
            tasks,
        }
    }

    /// Returns the runtime's metrics as text.
    pub(crate) fn openmetrics(&self) -> String {
        self.runtime.metrics().to_openmetrics()
    }

    /// Returns the flight record, a trace in Chrome's JSON format.
    pub(crate) fn flight_record(&self) -> io::Result<Vec<u8>> {
        let mut record = Vec::new();
        self.runtime.flight_record(&mut record)?;
        Ok(record)
    }
}

fn workers(metrics: &Metrics, tasks: &[Task]) -> Vec<Worker> {
    // If one worker polls two tasks, the outer one computes and the inner one is polled in place. The inner one counts.
    let mut running: HashMap<usize, &Task> = HashMap::new();
    for task in tasks {
        if let State::Running(worker) = task.state {
            let known = running.entry(worker).or_insert(task);
            if known.computes {
                *known = task;
            }
        }
    }
    let worker = |(index, worker): (usize, &WorkerMetrics)| Worker {
        index,
        spare: index >= metrics.workers.len(),
        task: running
            .get(&index)
            .map(|task| InPoll { label: task.label().to_owned(), since: task.since }),
        computes: running.get(&index).is_some_and(|task| task.computes),
        polls: worker.polls,
        steals: worker.steals,
        parks: worker.parks,
        queued: worker.queue_len as u64,
        busy: worker.busy,
        computing: worker.computing,
        os: worker.os,
        idle: worker.idle,
    };
    metrics
        .workers
        .iter()
        .chain(&metrics.spares)
        .enumerate()
        .map(worker)
        // Leaves out places of spares that were never needed.
        .filter(|worker| !worker.spare || worker.polls > 0)
        .collect()
}

fn queues(metrics: &Metrics) -> Vec<(&'static str, u64)> {
    vec![
        ("injector", metrics.injector_len as u64),
        ("lane", metrics.lane_len as u64),
        ("computations queued", metrics.compute_queued as u64),
        ("closures queued", metrics.blocking_queued as u64),
        ("blocking threads", metrics.blocking_threads as u64),
        ("idle blocking threads", metrics.blocking_idle as u64),
        ("spares at work", metrics.spares_active as u64),
        ("timers armed", metrics.timers as u64),
        ("descriptors", metrics.fds as u64),
    ]
}

fn times(metrics: &Metrics) -> Vec<Times> {
    [
        ("poll time", &metrics.poll_time),
        ("wake to poll: I/O", &metrics.wake_latency.io),
        ("wake to poll: timer", &metrics.wake_latency.timer),
        ("wake to poll: task", &metrics.wake_latency.task),
        ("wake to poll: thread", &metrics.wake_latency.outside),
        ("timer lateness", &metrics.timer_lateness),
        ("blocking pool wait", &metrics.blocking_wait),
        ("fork-join", &metrics.fork_join_time),
    ]
    .into_iter()
    .map(|(name, histogram)| Times { name, spread: spread(histogram) })
    .collect()
}

fn spread(histogram: &Histogram) -> Spread {
    let nanos = |bound: Duration| u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
    let buckets = histogram.buckets().map(|(bound, count)| (nanos(bound), count)).collect();
    Spread { buckets, max: histogram.max() }
}

fn site(site: &SiteMetrics) -> Site {
    let place = place(site.location);
    Site {
        name: match &site.name {
            Some(name) => format!("{name} ({place})"),
            None => place,
        },
        computes: site.computes,
        spawned: site.spawned,
        alive: site.alive,
        polls: site.polls,
        busy: site.poll_time_total,
        worst: site.poll_time_max,
        waited: site.wait_total,
        spread: spread(&site.poll_time),
    }
}

/// Returns the file and the line.
fn place(location: &Location<'_>) -> String {
    format!("{}:{}", short(location.file()), location.line())
}

/// The directory in which the program was started. Paths in debug information may begin with it.
static HERE: LazyLock<Option<String>> =
    LazyLock::new(|| std::env::current_dir().ok()?.into_os_string().into_string().ok());

/// Returns the path of a file without the prefix that leads to a dependency's sources, the standard library's, or the
/// current directory.
fn short(file: &str) -> &str {
    if let Some(rest) = HERE.as_deref().and_then(|here| file.strip_prefix(here)) {
        return rest.trim_start_matches('/');
    }
    let from = |mark: &str| file.split_once(mark).map(|(_, rest)| rest);
    let in_registry =
        from("/registry/src/").and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
    let in_rust =
        file.strip_prefix("/rustc/").and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
    in_registry.or(in_rust).unwrap_or(file)
}

/// Turns a listing that began at `start` into rows.
fn tasks(infos: Vec<TaskInfo>, start: Instant) -> Vec<Task> {
    // A listing may take some milliseconds, and each task is described as it was at its turn.
    let each = start.elapsed().checked_div(infos.len() as u32).unwrap_or_default();
    // Even 100,000 tasks have only a handful of sites.
    let mut places: HashMap<*const Location<'static>, Arc<str>> = HashMap::new();
    infos
        .into_iter()
        .zip(0_u32..)
        .map(|(info, turn)| {
            let now = start + each * turn;
            let site = places
                .entry(std::ptr::from_ref(info.location))
                .or_insert_with(|| place(info.location).into())
                .clone();
            let (state, since) = match info.state {
                TaskState::Running { worker, since } => {
                    (State::Running(worker), now.saturating_duration_since(since))
                }
                TaskState::RunningOutside { since } => {
                    (State::Outside, now.saturating_duration_since(since))
                }
                TaskState::Queued => (State::Queued, Duration::ZERO),
                _ => (State::Idle, info.waiting_for),
            };
            let kind = match info.kind {
                TaskKind::Blocking => Kind::Closure,
                TaskKind::Local => Kind::Local,
                TaskKind::BlockOn => Kind::BlockOn,
                _ => Kind::Task,
            };
            Task {
                kind,
                id: number(info.id),
                name: info.name,
                site,
                state,
                // Closures and futures of `block_on` have threads of their own.
                may_last: info.is_computing
                    || info.is_blocked
                    || matches!(kind, Kind::Closure | Kind::BlockOn),
                computes: info.is_computing,
                since,
                age: info.age,
                polls: info.polls.into(),
                busy: info.busy,
                waits: waits(&info.waits_for, now),
            }
        })
        .collect()
}

/// Returns an id as a number, which is only available as text.
fn number(id: task::Id) -> u64 {
    id.to_string().parse().unwrap_or_default()
}

fn waits(waits_for: &WaitsFor, now: Instant) -> Waits {
    let of = |kind, detail| Waits { kind, detail, joins: None };
    match waits_for {
        WaitsFor::Socket { fd, direction, peer } => {
            let direction = format!("{direction:?}").to_lowercase();
            let peer = peer.map_or_else(String::new, |peer| format!(" {peer}"));
            of("socket", format!("{direction}, fd {fd}{peer}"))
        }
        WaitsFor::Timer { deadline } => {
            let left = deadline.saturating_duration_since(now);
            of(
                "timer",
                if left.is_zero() { "due".to_owned() } else { format!("in {}", duration(left)) },
            )
        }
        WaitsFor::Join(id) => {
            let id = number(*id);
            Waits { kind: "join", detail: format!("task {id}"), joins: Some(id) }
        }
        WaitsFor::Blocking(id) => {
            let id = number(*id);
            Waits { kind: "blocking closure", detail: format!("closure {id}"), joins: Some(id) }
        }
        WaitsFor::JoinSet { tasks } => of("join set", format!("next of {tasks} tasks")),
        WaitsFor::Event => of("event", String::new()),
        WaitsFor::Latch => of("latch", String::new()),
        WaitsFor::Cancellation => of("cancellation", String::new()),
        WaitsFor::Nothing => of("", String::new()),
        _ => of("unknown waker", String::new()),
    }
}

/// Returns the polls that are stuck, longest first, and then those that were, latest first.
///
/// The listing shows which polls last, whether or not the program has asked for reports. Reports add stacks, and
/// everything that is not a task's poll. Only polls that should be short count: a computation or a call of
/// `block_in_place` is stuck only if a report says so.
fn stuck(tasks: &[Task], reports: &[LongPoll]) -> Vec<Stuck> {
    let mut told = vec![false; reports.len()];
    let mut lasting: Vec<_> = tasks
        .iter()
        .filter_map(|task| match task.state {
            _ if task.since < STUCK || task.may_last => None,
            State::Running(worker) => Some((task, Some(worker))),
            // This task holds up the others on its thread.
            State::Outside => Some((task, None)),
            _ => None,
        })
        .map(|(task, worker)| {
            // A report that has not ended is about the poll that the worker is in.
            let report = reports.iter().position(|report| {
                report.lasts()
                    && report.task().map(number) == Some(task.id)
                    && report.worker() == worker
            });
            if let Some(index) = report {
                told[index] = true;
            }
            Stuck {
                within: StuckIn::Poll,
                task: Some(task.id),
                name: task.name.clone(),
                site: task.site.to_string(),
                worker,
                lasted: task.since,
                lasts: true,
                stack: report.map(|index| stack(&reports[index])).unwrap_or_default(),
            }
        })
        .collect();
    let mut past: Vec<Stuck> = Vec::new();
    for stuck in
        reports.iter().zip(told).rev().filter(|(_, told)| !told).map(|(it, _)| reported(it))
    {
        let same = |other: &Stuck| other.name == stuck.name && other.site == stuck.site;
        if stuck.lasts {
            lasting.push(stuck);
        } else if past.len() < PAST_REPORTS && !lasting.iter().chain(&past).any(same) {
            // Of those that have ended, the latest from each place is enough.
            past.push(stuck);
        }
    }
    lasting.sort_by_key(|stuck| std::cmp::Reverse(stuck.lasted));
    lasting.extend(past);
    lasting
}

/// Returns the row for a report.
fn reported(report: &LongPoll) -> Stuck {
    let of_task =
        || (report.name().map(str::to_owned), report.location().map(place).unwrap_or_default());
    let (within, (name, site)) = match report.kind() {
        LongPollKind::BlockingPool => {
            let verb = if report.lasts() { "wait" } else { "waited" };
            let site = format!("{} closures {verb}", report.waiting());
            (StuckIn::BlockingPool, (Some("the blocking pool".to_owned()), site))
        }
        LongPollKind::Job => (StuckIn::Leaf, (None, String::new())),
        LongPollKind::Leaf => (StuckIn::Leaf, of_task()),
        _ => (StuckIn::Poll, of_task()),
    };
    Stuck {
        within,
        task: report.task().map(number),
        name,
        site,
        worker: report.worker(),
        lasted: report.elapsed(),
        lasts: report.lasts(),
        stack: stack(report),
    }
}

fn stack(report: &LongPoll) -> Vec<String> {
    let frames = report.stack().map(|stack| stack.frames()).unwrap_or_default();
    let line = |frame: &StackFrame| {
        let function = match frame.function() {
            Some(function) => function.to_owned(),
            None => format!("{:#x}", frame.address()),
        };
        match (frame.file(), frame.line()) {
            (Some(file), Some(line)) => format!("{function}  {}:{line}", short(file)),
            _ => function,
        }
    };
    frames.iter().take(STACK_FRAMES).map(line).collect()
}
