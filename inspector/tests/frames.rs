//! What clients are told about the runtime.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Served, TOKEN, wait_until};
use serde_json::Value;
use windlass::inspector::Builder;
use windlass::task;

/// Returns the first frame that has what is looked for.
fn frame_with(served: &Served, query: &str, found: impl Fn(&Value) -> bool) -> Value {
    let mut events = served.events(query);
    let mut result = None;
    wait_until("a frame has it", || {
        let frame = events.next().expect("a frame");
        let is_it = found(&frame);
        result = Some(frame);
        is_it
    });
    result.unwrap()
}

fn rows(frame: &Value) -> &Vec<Value> {
    frame["tasks"]["rows"].as_array().unwrap()
}

#[test]
fn the_page_and_its_files_are_served() {
    let served = Served::new();
    let page = served.get("/");
    assert_eq!((page.status, page.field("Content-Type")), (200, "text/html; charset=utf-8"));
    assert!(page.body.contains(&format!("page.js?token={TOKEN}")));
    assert_eq!(served.get("/page.css").field("Content-Type"), "text/css; charset=utf-8");
    for script in ["/parts.js", "/graph.js", "/page.js"] {
        assert_eq!(served.get(script).field("Content-Type"), "text/javascript; charset=utf-8");
    }
    assert_eq!(served.get("/favicon.ico").status, 404);
    let head = served.say(&served.request("HEAD", "/", ""));
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(head.field("Content-Length"), page.field("Content-Length"));
}

#[test]
fn nothing_is_looked_at_while_nobody_looks() {
    let served = Served::new();
    served.get("/");
    assert_eq!(served.inspector.snapshots(), 0);
    let mut events = served.events("");
    events.next().unwrap();
    events.next().unwrap();
    assert!(served.inspector.snapshots() >= 2);
    drop(events);
    wait_until("it has left", || served.inspector.clients() == 0);
}

#[test]
fn a_frame_has_all_parts() {
    let served = Served::new();
    let frame = served.get("/snapshot").json();
    assert_eq!(frame["runtime"], "seen");
    assert_eq!(frame["workers"].as_array().unwrap().len(), 2);
    for part in ["findings", "times", "sites", "stuck"] {
        assert!(frame[part].is_array(), "{part}");
    }
    for part in ["totals", "queues", "waits", "tasks"] {
        assert!(frame[part].is_object(), "{part}");
    }
}

#[test]
fn metrics_are_in_the_openmetrics_format() {
    let served = Served::new();
    let metrics = served.get("/metrics");
    assert!(metrics.field("Content-Type").starts_with("application/openmetrics-text"));
    assert!(metrics.body.ends_with("# EOF\n"));
}

#[test]
fn the_flight_record_is_a_trace() {
    let served = Served::new();
    let record = served.say(&served.request("POST", "/flight-record", ""));
    assert_eq!(record.status, 200);
    assert!(record.field("Content-Disposition").contains("attachment"));
    assert!(record.json()["traceEvents"].is_array());
}

#[test]
fn a_name_with_quotes_newlines_and_html_comes_through_as_text() {
    let served = Served::new();
    let name =
        "a \"quoted\"\nname\r\n\ndata: {}\n\n</script><img src=x onerror=alert(1)>\u{2028}\u{7f}";
    let task = task::Builder::new()
        .name(name)
        .spawn_on(std::future::pending::<()>(), served.runtime.handle());
    let frame =
        frame_with(&served, "n=500", |frame| rows(frame).iter().any(|row| row["name"] == name));
    assert!(!rows(&frame).is_empty());
    task.abort();
}

#[test]
fn rows_are_sorted_filtered_and_cut() {
    let served = Served::new();
    for number in 0..30 {
        let name = format!("member {number:02}");
        drop(
            task::Builder::new()
                .name(name)
                .spawn_on(std::future::pending::<()>(), served.runtime.handle()),
        );
    }
    let query = "filter=MEMBER&sort=name&order=up&n=3";
    let frame = frame_with(&served, query, |frame| frame["tasks"]["matching"] == 30);
    let names: Vec<_> = rows(&frame).iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["member 00", "member 01", "member 02"]);
    let query = "filter=member&sort=name&order=down&n=1";
    let frame = frame_with(&served, query, |frame| frame["tasks"]["matching"] == 30);
    assert_eq!(rows(&frame)[0]["name"], "member 29");
}

#[test]
fn a_task_that_is_stuck_is_shown_while_it_is_stuck() {
    let served = Served::new();
    let release = Arc::new(AtomicBool::new(false));
    let held = release.clone();
    let stuck = task::Builder::new().name("the stuck one").spawn_on(
        async move {
            while !held.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        },
        served.runtime.handle(),
    );
    let is_it = |poll: &Value| poll["name"] == "the stuck one" && poll["lasts"] == true;
    let frame =
        frame_with(&served, "", |frame| frame["stuck"].as_array().unwrap().iter().any(is_it));
    let findings = frame["findings"].as_array().unwrap();
    assert!(
        findings.iter().any(|finding| finding["text"].as_str().unwrap().contains("the stuck one")),
        "{findings:?}"
    );
    release.store(true, Ordering::Relaxed);
    windlass::block_on(stuck).unwrap();
}

/// Opens a gate that is spun at, whatever happens.
struct Release(Arc<AtomicBool>);

impl Release {
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Returns what blocks its thread until this is dropped.
    fn blocks(&self) -> impl FnOnce() + Send + 'static {
        let open = self.0.clone();
        move || {
            while !open.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// They were taken for stuck, with the advice to move to `compute` what was there already.
#[test]
fn a_computation_and_what_blocks_in_place_are_not_stuck() {
    let program = windlass::Builder::new().workers(2).report_long_polls(Duration::MAX);
    let program = program.build().unwrap();
    let beside = Served::with(|builder: Builder| builder.runtime(program.handle().clone()));
    let release = Release::new();
    let (computes, blocks) = (release.blocks(), release.blocks());
    let compute = {
        let _entered = program.handle().enter();
        windlass::compute(computes)
    };
    let block = program.spawn(async move { task::block_in_place(blocks) });
    let frame = frame_with(&beside, "n=500", |frame| {
        let last = |row: &&Value| row["since"].as_u64() >= Some(200_000_000);
        rows(frame).iter().filter(last).count() == 2
    });
    assert_eq!(frame["stuck"].as_array().unwrap().len(), 0, "{}", frame["stuck"]);
    assert_eq!(frame["findings"].as_array().unwrap().len(), 0, "{}", frame["findings"]);
    drop(release);
    windlass::block_on(async { (compute.await.unwrap(), block.await.unwrap()) });
}

/// They always counted as over.
#[test]
fn stuck_jobs_and_a_full_blocking_pool_are_shown_while_they_last() {
    let program = windlass::Builder::new().workers(2).max_blocking(1);
    let program = program.report_long_polls(Duration::from_millis(100)).build().unwrap();
    let beside = Served::with(|builder: Builder| builder.runtime(program.handle().clone()));
    let release = Release::new();
    let (left, right) = (release.blocks(), release.blocks());
    let handle = program.handle().clone();
    let caller = std::thread::spawn(move || handle.install(|| windlass::join(left, right)));
    let closures = [release.blocks(), release.blocks()].map(|f| program.spawn_blocking(f));
    let lasting = |frame: &Value, within: &str| {
        let stuck = frame["stuck"].as_array().unwrap().iter();
        stuck.filter(|stuck| stuck["within"] == within && stuck["lasts"] == true).count()
    };
    let frame = frame_with(&beside, "", |frame| {
        lasting(frame, "leaf") == 2 && lasting(frame, "blocking pool") == 1
    });
    let texts = frame["findings"].to_string();
    assert!(texts.contains("the blocking pool has been full"), "{texts}");
    assert!(
        texts.contains("a fork-join job has computed") && !texts.contains("one poll"),
        "{texts}"
    );
    drop(release);
    caller.join().unwrap();
    windlass::block_on(async {
        for closure in closures {
            closure.await.unwrap();
        }
    });
    frame_with(&beside, "", |frame| {
        lasting(frame, "leaf") == 0 && lasting(frame, "blocking pool") == 0
    });
}

/// Each running task counted as stuck since the process began.
#[test]
fn a_runtime_without_observation_has_no_stuck_tasks_by_default() {
    let program = windlass::Builder::new().workers(2).observe(false);
    let program = program.report_long_polls(Duration::from_secs(3600)).build().unwrap();
    let beside = Served::with(|builder: Builder| builder.runtime(program.handle().clone()));
    let release = Release::new();
    let blocks = release.blocks();
    let stuck = program.spawn(async move { blocks() });
    let frame = frame_with(&beside, "n=500", |frame| {
        rows(frame).iter().any(|row| row["state"] == "running")
    });
    assert_eq!(frame["stuck"].as_array().unwrap().len(), 0, "{}", frame["stuck"]);
    drop(release);
    windlass::block_on(stuck).unwrap();
}

#[test]
fn a_runtime_with_all_workers_stuck_is_seen_from_another() {
    let program = windlass::Builder::new().workers(1).max_spares(0).thread_name("program");
    let program = program.build().unwrap();
    let beside = Served::with(|builder: Builder| builder.runtime(program.handle().clone()));
    let (release, held) = std::sync::mpsc::channel::<()>();
    let stuck = task::Builder::new()
        .name("the only one")
        .spawn_on(async move { held.recv() }, program.handle());
    let is_it = |poll: &Value| poll["name"] == "the only one" && poll["lasts"] == true;
    let frame =
        frame_with(&beside, "", |frame| frame["stuck"].as_array().unwrap().iter().any(is_it));
    assert_eq!(frame["runtime"], "program");
    drop(release);
    let _ = windlass::block_on(stuck);
}

#[test]
fn tasks_that_wait_for_each_other_in_a_circle_are_named() {
    let served = Served::new();
    let (send, receive) = windlass::channel::bounded::<task::JoinHandle<()>>(1);
    let handle = served.runtime.handle();
    let ping = task::Builder::new().name("ping").spawn_on(
        async move {
            if let Ok(pong) = receive.recv().await {
                let _ = pong.await;
            }
        },
        handle,
    );
    let pong = task::Builder::new().name("pong").spawn_on(
        async move {
            let _ = ping.await;
        },
        handle,
    );
    send.try_send(pong).unwrap();
    let frame =
        frame_with(&served, "", |frame| !frame["waits"]["circles"].as_array().unwrap().is_empty());
    let circle = &frame["waits"]["circles"][0];
    assert_eq!(
        (circle["members"].as_array().unwrap().len(), circle["total"].as_u64()),
        (2, Some(2))
    );
    let findings = frame["findings"].as_array().unwrap();
    let names_both = |text: &str| text.contains("ping") && text.contains("pong");
    let found = findings.iter().any(|finding| names_both(finding["text"].as_str().unwrap()));
    assert!(found, "{findings:?}");
}

#[test]
fn a_hundred_thousand_tasks_make_a_small_frame() {
    let served = Served::new();
    served.runtime.block_on(async {
        for _ in 0..100_000 {
            drop(windlass::spawn(std::future::pending::<()>()));
        }
    });
    let frame =
        frame_with(&served, "n=100", |frame| frame["tasks"]["total"].as_u64() >= Some(100_000));
    assert_eq!(rows(&frame).len(), 100);
    assert!(frame.to_string().len() < 200_000);
}

#[test]
fn an_inspector_that_was_stopped_is_gone() {
    let served = Served::new();
    let mut events = served.events("");
    events.next().unwrap();
    let (address, Served { inspector, runtime }) = (served.address(), served);
    runtime.block_on(inspector.stop());
    assert!(std::net::TcpStream::connect(address).is_err());
    while events.next().is_some() {}
}

#[test]
fn a_runtime_shuts_down_while_somebody_looks() {
    let served = Served::new();
    let mut events = served.events("");
    events.next().unwrap();
    let report = served.runtime.shutdown(Duration::from_secs(30));
    assert!(report.stragglers().is_empty(), "{report}");
    while events.next().is_some() {}
}
