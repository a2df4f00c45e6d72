//! What is in the flight record, and that viewers can show it.

mod util;

use std::collections::HashMap;
use std::sync::Arc;

use util::{Gate, OpenOnDrop, is_child, passes_in_child, runtime, wait_for, wait_until};
use windlass::observe::{TaskInfo, TaskState};
use windlass::sync::AutoResetEvent;
use windlass::{Builder, Handle, Runtime};

/// An event of a trace: each is on a line of its own.
struct Event(String);

impl Event {
    /// Returns the value of a member, without quotes.
    fn get(&self, member: &str) -> Option<&str> {
        let (_, rest) = self.0.split_once(&format!("\"{member}\":"))?;
        let rest = rest.trim_start_matches('"');
        Some(&rest[..rest.find([',', '"', '}']).unwrap_or(rest.len())])
    }

    fn is(&self, name: &str) -> bool {
        self.get("name") == Some(name)
    }

    /// Returns a time in nanoseconds.
    fn nanos(&self, member: &str) -> u64 {
        (self.get(member).unwrap().parse::<f64>().unwrap() * 1_000.0).round() as u64
    }
}

fn record(handle: &Handle) -> Vec<Event> {
    let mut trace = Vec::new();
    handle.flight_record(&mut trace).unwrap();
    let trace = String::from_utf8(trace).unwrap();
    trace.lines().filter(|line| line.contains("\"ph\"")).map(|line| Event(line.into())).collect()
}

fn full(workers: usize) -> Runtime {
    Builder::new().workers(workers).flight_recorder(true).build().unwrap()
}

/// Spawns a task that waits for an event, and returns both once it waits.
fn waiter(runtime: &Runtime) -> (Arc<AutoResetEvent>, windlass::task::JoinHandle<()>) {
    let event = Arc::new(AutoResetEvent::new(false));
    let waits = event.clone();
    let task = runtime.spawn(async move { waits.wait().await });
    wait_until("it waits", || {
        let is_it = |info: &TaskInfo| info.id == task.id() && info.state == TaskState::Idle;
        runtime.handle().tasks().iter().any(is_it)
    });
    (event, task)
}

#[test]
fn a_wake_up_by_another_thread_is_recorded() {
    let runtime = full(1);
    let (event, task) = waiter(&runtime);
    let id = task.id().to_string();
    event.set();
    wait_for(task).unwrap();
    let events = record(runtime.handle());
    let wake = events.iter().find(|event| event.is("wake") && event.get("task") == Some(&id));
    let wake = wake.expect("a wake-up");
    assert_eq!(wake.get("from"), Some("another thread"));
    let others = |event: &&Event| event.is("thread_name") && event.0.contains("other threads");
    let others = events.iter().find(others).expect("a name for the other threads");
    assert_eq!(wake.get("tid"), others.get("tid"));
}

#[test]
fn a_wake_up_says_who_woke_whom() {
    let runtime = full(2);
    let (event, woken) = waiter(&runtime);
    let id = woken.id().to_string();
    let waker = runtime.spawn(async move { event.set() });
    let waker_id = waker.id().to_string();
    wait_for(waker).unwrap();
    wait_for(woken).unwrap();
    let events = record(runtime.handle());
    let wake = events.iter().find(|event| event.is("wake") && event.get("task") == Some(&id));
    let wake = wake.expect("a wake-up");
    assert_eq!((wake.get("from"), wake.get("by_task")), (Some("task"), Some(&*waker_id)));
    // An arrow leaves from it, and points at the poll that it has led to.
    let end = |phase, ts: &dyn Fn(&Event) -> bool| {
        let is_it = |event: &&Event| event.get("ph") == Some(phase) && ts(event);
        events.iter().filter(is_it).map(|event| event.get("id").unwrap()).collect::<Vec<_>>()
    };
    let from = end("s", &|event: &Event| event.get("ts") == wake.get("ts"));
    let is_poll = |event: &&Event| {
        event.get("task") == Some(&id)
            && event.get("ph") == Some("X")
            && event.nanos("ts") >= wake.nanos("ts")
    };
    let poll = events.iter().find(is_poll).expect("a poll after the wake-up");
    let to = end("f", &|event: &Event| event.get("ts") == poll.get("ts"));
    assert!(from.iter().any(|number| to.contains(number)), "{from:?} {to:?}");
}

/// It said that the worker was in a poll, and not of which task, unless that was in its first poll.
#[test]
fn a_poll_that_is_stuck_is_named() {
    let runtime = runtime(2);
    let gate = OpenOnDrop(Gate::new());
    let spawn = |name: &str| {
        let closed = gate.0.clone();
        windlass::task::Builder::new().name(name).spawn(async move {
            // It is in the list of all tasks from here on.
            windlass::yield_now().await;
            closed.wait();
        })
    };
    let entered = runtime.handle().enter();
    let tasks = ["", "culprit"].map(spawn);
    drop(entered);
    let names = [format!("in a poll of {}:", file!()), "in a poll of culprit".to_owned()];
    for (task, name) in tasks.iter().zip(names) {
        let id = task.id().to_string();
        wait_until("it is named", || {
            record(runtime.handle()).iter().any(|event| {
                event.get("until") == Some("now")
                    && event.get("task") == Some(&id)
                    && event.get("site").is_some_and(|site| site.starts_with(file!()))
                    && event.get("name").is_some_and(|found| found.starts_with(&name))
            })
        });
    }
    gate.0.open();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
}

/// Perfetto takes thread 0 for the one with the number of the process: two workers shared a track.
#[test]
fn no_worker_is_taken_for_the_main_thread() {
    let runtime = runtime(2);
    wait_for(runtime.spawn(async {})).unwrap();
    for event in record(runtime.handle()) {
        assert!(
            !["0", event.get("pid").unwrap()].contains(&event.get("tid").unwrap()),
            "{}",
            event.0
        );
    }
}

#[test]
fn a_steal_names_its_victim() {
    // A spare shows no index.
    let builder = Builder::new().workers(2).max_spares(0);
    let runtime = builder.flight_recorder(true).build().unwrap();
    let gate = OpenOnDrop(Gate::new());
    let opened = gate.0.clone();
    let victim = runtime.spawn(async move {
        let open = opened.clone();
        drop(windlass::spawn(async move { open.open() }));
        // Whoever runs the other has taken it from us.
        opened.wait();
        windlass::worker_index().unwrap()
    });
    let victim = wait_for(victim).unwrap().to_string();
    wait_until("a steal is recorded", || {
        let events = record(runtime.handle());
        let steals: Vec<_> = events.iter().filter(|event| event.is("steal")).collect();
        let thief = |steal: &Event| steal.get("tid").unwrap().parse::<usize>().unwrap() - 2;
        assert!(steals.iter().all(|steal| steal.get("victim") != Some(&*thief(steal).to_string())));
        steals.iter().any(|steal| steal.get("victim") == Some(&*victim))
    });
}

#[test]
fn sleep_is_told_from_searching() {
    let runtime = full(1);
    let mut pause = std::time::Duration::from_millis(5);
    wait_until("the worker has slept", || {
        // On a machine with others on it, a short time may be over before the worker gets to sleep.
        wait_for(runtime.spawn(windlass::timer::sleep(pause))).unwrap();
        pause = (pause * 2).min(std::time::Duration::from_secs(1));
        let events = record(runtime.handle());
        // It lies in the search before it.
        let search = |at: usize| events[..at].iter().rev().find(|event| event.is("idle")).unwrap();
        let mut parks = events.iter().enumerate().filter(|(_, event)| event.is("parked"));
        parks.any(|(at, park)| {
            let (search, end) =
                (search(at), |event: &Event| event.nanos("ts") + event.nanos("dur"));
            assert!(search.nanos("ts") <= park.nanos("ts") && end(park) <= end(search));
            park.nanos("dur") >= 1_000_000
        })
    });
}

#[test]
fn each_poll_is_recorded_from_when_that_is_switched_on_until_it_is_switched_off() {
    let runtime = runtime(1);
    let wakes = || record(runtime.handle()).iter().filter(|event| event.is("wake")).count();
    let round = || {
        let (event, task) = waiter(&runtime);
        event.set();
        wait_for(task).unwrap();
        wait_for(runtime.spawn(async { windlass::spawn(async {}).await.unwrap() })).unwrap();
    };
    round();
    assert_eq!(wakes(), 0);
    runtime.handle().set_flight_recorder(true);
    wait_until("wake-ups of both kinds are recorded", || {
        round();
        let events = record(runtime.handle());
        let from = |from| events.iter().any(|event| event.get("from") == Some(from));
        from("another thread") && from("task")
    });
    runtime.handle().set_flight_recorder(false);
    wait_until("no more are recorded", || {
        let before = wakes();
        round();
        wakes() == before
    });
    assert!(wakes() > 0, "what was recorded stays");
}

#[test]
fn the_environment_switches_the_recorder_on() {
    if !is_child() {
        let name = "the_environment_switches_the_recorder_on";
        return passes_in_child(name, &[("WINDLASS_FLIGHT_RECORDER", "on")]);
    }
    let runtime = runtime(1);
    let (event, task) = waiter(&runtime);
    event.set();
    wait_for(task).unwrap();
    assert!(record(runtime.handle()).iter().any(|event| event.is("wake")));
}

/// Short polls were shown as ending in the middle of a computation.
#[test]
fn the_slices_of_each_thread_are_nested() {
    fn fib(n: u32) -> u32 {
        if n < 2 {
            return n;
        }
        let (a, b) = windlass::join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    for full in [false, true] {
        let runtime = Builder::new().workers(2).flight_recorder(full).build().unwrap();
        let busy: Vec<_> = (0..8)
            .map(|_| {
                runtime.spawn(async {
                    for round in 0..50 {
                        if round % 10 == 0 {
                            fib(15);
                        }
                        windlass::yield_now().await;
                        windlass::timer::sleep(std::time::Duration::from_micros(50)).await;
                    }
                })
            })
            .collect();
        let check = || {
            let mut around: HashMap<String, Vec<(u64, u64)>> = HashMap::new();
            for event in record(runtime.handle()).iter().filter(|e| e.get("ph") == Some("X")) {
                let (from, lasted) = (event.nanos("ts"), event.nanos("dur"));
                let around = around.entry(event.get("tid").unwrap().into()).or_default();
                while around.last().is_some_and(|&(_, end)| end <= from) {
                    around.pop();
                }
                let fits =
                    around.last().is_none_or(|&(start, end)| start <= from && from + lasted <= end);
                assert!(fits, "{} is partly within {:?}", event.0, around.last());
                around.push((from, from + lasted));
            }
        };
        wait_until("all are done", || {
            check();
            busy.iter().all(|task| task.is_finished())
        });
        check();
    }
}
