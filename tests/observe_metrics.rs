//! Histograms, spawn sites, the workers' time, and how they are written.

mod util;

use std::net::{TcpListener as StdListener, TcpStream as StdStream};
use std::time::Duration;

use util::{Gate, runtime, wait_for, wait_until};
use windlass::observe::SiteMetrics;
use windlass::{Builder, Metrics, Runtime, task, timer};

const NASTY: &str = "\"}\n# EOF\n</script><b>\\ \u{e9}";

fn site(metrics: &Metrics, name: &str) -> Option<SiteMetrics> {
    metrics.sites.iter().find(|site| site.name.as_deref() == Some(name)).cloned()
}

/// Sleeps, wakes, computes, blocks and polls, a little of each.
fn some_of_everything(runtime: &Runtime) {
    let task = task::Builder::new().name(NASTY).spawn_on(
        async {
            for _ in 0..20 {
                timer::sleep(Duration::from_micros(100)).await;
                windlass::spawn(async { windlass::yield_now().await }).await.unwrap();
                windlass::spawn_blocking(|| ()).await.unwrap();
                windlass::compute(|| windlass::join(|| 1, || 2)).await.unwrap();
            }
        },
        runtime.handle(),
    );
    wait_for(task).unwrap();
}

#[test]
fn every_histogram_is_filled_by_what_it_is_of() {
    let runtime = runtime(2);
    some_of_everything(&runtime);
    let listener = StdListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reader = runtime.spawn(async move {
        let stream = windlass::net::TcpStream::connect(address).await.unwrap();
        let mut byte = [0];
        while stream.read(&mut byte).await.unwrap() > 0 {}
    });
    let (mut stream, _): (StdStream, _) = listener.accept().unwrap();
    wait_until("all are filled", || {
        std::io::Write::write_all(&mut stream, b"x").unwrap();
        drop(runtime.spawn(async { windlass::yield_now().await }));
        let metrics = runtime.metrics();
        let latency = &metrics.wake_latency;
        let all = [
            &metrics.poll_time,
            &latency.io,
            &latency.timer,
            &latency.task,
            &metrics.timer_lateness,
            &metrics.blocking_wait,
            &metrics.fork_join_time,
        ];
        metrics.ready_tasks.count() > 0
            && all.iter().all(|histogram| histogram.count() > 0 && histogram.max() > Duration::ZERO)
    });
    let metrics = runtime.metrics();
    let text = metrics.to_openmetrics();
    let names = [
        "poll_time_seconds_count",
        "wake_latency_seconds_count{origin=\"io\"}",
        "wake_latency_seconds_count{origin=\"timer\"}",
        "wake_latency_seconds_count{origin=\"task\"}",
        "wake_latency_seconds_count{origin=\"outside\"}",
        "timer_lateness_seconds_count",
        "blocking_wait_seconds_count",
        "fork_join_time_seconds_count",
        "ready_tasks_count",
    ];
    for name in names {
        assert!(text.contains(&format!("\nwindlass_{name} ")), "{name} in {text}");
    }
    assert_eq!(metrics.blocking_wait.count(), 20, "each closure is measured");
    assert!(metrics.task_allocations >= metrics.tasks_spawned + 20);
    assert_eq!(metrics.fds, 1);
    drop(stream);
    wait_for(reader).unwrap();
    wait_until("it is closed", || runtime.metrics().fds == 0);
}

#[test]
fn a_wake_up_from_outside_is_told_from_others() {
    let runtime = runtime(1);
    let (sender, receiver) = windlass::channel::unbounded();
    let task = runtime.spawn(async move { while receiver.recv().await.is_ok() {} });
    wait_until("one is counted", || {
        sender.try_send(()).unwrap();
        runtime.metrics().wake_latency.outside.count() > 0
    });
    drop(sender);
    wait_for(task).unwrap();
}

#[test]
fn sites_count_what_their_tasks_do() {
    let runtime = runtime(2);
    let spawn = |polls: usize, ends: bool| {
        let body = async move {
            for _ in 1..polls {
                windlass::yield_now().await;
            }
            if !ends {
                std::future::pending::<()>().await;
            }
        };
        task::Builder::new().name("counted").spawn_on(body, runtime.handle())
    };
    let ended: Vec<_> = (1..=10).map(|polls| spawn(polls, true)).collect();
    ended.into_iter().for_each(|task| wait_for(task).unwrap());
    let waiting = spawn(1, false);
    wait_until("all is counted", || {
        site(&runtime.metrics(), "counted").is_some_and(|site| {
            (site.spawned, site.alive, site.polls) == (11, 1, (1..=10).sum::<u64>() + 1)
        })
    });
    let site = site(&runtime.metrics(), "counted");
    assert_eq!(site.unwrap().location.file(), file!());
    drop(waiting);
}

#[test]
fn tasks_that_tasks_spawn_are_counted_at_their_site_whether_they_wait_or_not() {
    let runtime = runtime(2);
    let line = line!() + 4;
    let spawner = runtime.spawn(async {
        for index in 0..100 {
            let wait = index % 2 == 0;
            windlass::spawn(async move {
                if wait {
                    windlass::yield_now().await;
                }
            })
            .await
            .unwrap();
        }
    });
    wait_for(spawner).unwrap();
    wait_until("all is counted", || {
        let sites = runtime.metrics().sites;
        let here =
            |site: &&SiteMetrics| site.location.file() == file!() && site.location.line() == line;
        let site = sites.iter().find(here);
        site.is_some_and(|site| (site.spawned, site.alive, site.polls) == (100, 0, 150))
    });
}

#[test]
fn a_workers_time_is_busy_or_idle() {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let time = || {
        let worker = runtime.metrics().workers[0];
        (worker.busy, worker.idle)
    };
    let (_, idle) = time();
    wait_until("it idles", || time().1 >= idle + Duration::from_millis(5));
    let gate = Gate::new();
    let closed = gate.clone();
    let task = runtime.spawn(async move { closed.wait() });
    let (busy, _) = time();
    wait_until("it is busy", || time().0 >= busy + Duration::from_millis(5));
    gate.open();
    wait_for(task).unwrap();
}

#[test]
fn a_busy_workers_looks_at_the_os_are_timed() {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let os = || runtime.metrics().workers[0].os;
    let task = runtime.spawn(async {
        loop {
            windlass::yield_now().await;
        }
    });
    let before = os();
    wait_until("it has looked for a while", || os() > before + Duration::from_micros(10));
    task.abort();
    assert!(wait_for(task).unwrap_err().is_cancelled());
}

#[test]
fn what_is_not_observed_is_not_there() {
    let runtime = Builder::new().workers(2).observe(false).build().unwrap();
    some_of_everything(&runtime);
    let metrics = runtime.metrics();
    assert_eq!(metrics.poll_time.count() + metrics.wake_latency.timer.count(), 0);
    assert!(metrics.sites.is_empty());
    assert_eq!(metrics.workers[0].busy, Duration::ZERO);
    assert!(metrics.tasks_spawned > 0);
    assert!(metrics.to_openmetrics().ends_with("# EOF\n"));
}

#[test]
fn a_name_with_anything_in_it_stays_inside_of_its_label() {
    let runtime = runtime(2);
    some_of_everything(&runtime);
    let text = runtime.metrics().to_openmetrics();
    assert_eq!(text.matches("# EOF").count(), 1 + text.matches("\\n# EOF").count());
    assert!(text.contains(r#"name="\"}\n# EOF\n</script><b>\\ é""#), "{text}");
    for line in text.lines() {
        let is_comment = ["# TYPE windlass_", "# UNIT windlass_", "# HELP windlass_", "# EOF"]
            .iter()
            .any(|start| line.starts_with(start));
        assert!(is_comment || line.starts_with("windlass_"), "{line:?}");
        if !is_comment {
            let value = line.rsplit(' ').next().unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line:?}");
        }
    }
}

/// An empty name had a series of its own, with the labels of the tasks without a name.
#[test]
fn an_empty_name_is_none_and_no_series_is_there_twice() {
    let runtime = runtime(1);
    for name in [None, Some(""), Some("named")] {
        let builder = task::Builder::new();
        let builder = name.into_iter().fold(builder, |builder, name| builder.name(name));
        let entered = runtime.handle().enter();
        let task = builder.spawn(async {});
        drop(entered);
        wait_for(task).unwrap();
    }
    let text = runtime.metrics().to_openmetrics();
    let mut series: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').expect("a value").0)
        .collect();
    let count = series.len();
    series.sort_unstable();
    let twice: Vec<_> = series.windows(2).filter(|two| two[0] == two[1]).collect();
    assert!(twice.is_empty(), "{twice:?} of {count}");
}

#[test]
fn buckets_are_cumulative_and_end_with_all() {
    let runtime = runtime(2);
    some_of_everything(&runtime);
    let text = runtime.metrics().to_openmetrics();
    let value = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    let lines = |start: &str| {
        let found = text.lines().filter(|line| line.starts_with(start));
        found.map(value).collect::<Vec<_>>()
    };
    let buckets = lines("windlass_poll_time_seconds_bucket{");
    assert!(buckets.is_sorted(), "{buckets:?}");
    assert!(buckets.len() > 10);
    assert_eq!(buckets.last().copied(), lines("windlass_poll_time_seconds_count").first().copied());
}

/// Reads a JSON value, and returns what follows it; panics if there is none.
fn json(text: &str) -> &str {
    let text = text.trim_start();
    let list = |mut rest: &'_ str, close: char, has_keys: bool| -> usize {
        let whole = rest.len();
        loop {
            rest = rest.trim_start();
            if let Some(rest) = rest.strip_prefix(close) {
                return whole - rest.len();
            }
            if has_keys {
                rest = json(rest).trim_start().strip_prefix(':').expect("a colon");
            }
            rest = json(rest).trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
    };
    match text.chars().next().expect("a value") {
        '{' => &text[1 + list(&text[1..], '}', true)..],
        '[' => &text[1 + list(&text[1..], ']', false)..],
        '"' => {
            let mut escaped = false;
            let end = text[1..].char_indices().find(|(_, character)| {
                assert!(*character >= ' ', "a control character in a string");
                let ends = *character == '"' && !escaped;
                escaped = *character == '\\' && !escaped;
                ends
            });
            &text[end.expect("the end of a string").0 + 2..]
        }
        _ => {
            let end = text.find([',', '}', ']']).unwrap_or(text.len());
            let word = text[..end].trim();
            assert!(word.parse::<f64>().is_ok(), "{word:?}");
            &text[end..]
        }
    }
}

#[test]
fn a_flight_record_is_a_trace_with_what_was_recorded() {
    let runtime = Builder::new().workers(2).flight_recorder(true).build().unwrap();
    some_of_everything(&runtime);
    let nasty = r#""name":"\"}\u000a# EOF"#;
    let idle = "\"name\":\"idle\"";
    wait_until("all is there", || {
        let mut trace = Vec::new();
        runtime.handle().flight_record(&mut trace).unwrap();
        let trace = String::from_utf8(trace).unwrap();
        assert_eq!(json(&trace).trim(), "");
        assert!(!trace.contains("</script>"));
        [idle, "\"name\":\"wake\"", "worker 0", nasty].iter().all(|part| trace.contains(part))
    });
}

#[test]
fn a_flight_record_tells_of_the_poll_under_way() {
    let runtime = runtime(1);
    let gate = Gate::new();
    let closed = gate.clone();
    let parent = runtime.spawn(async move { windlass::spawn(async move { closed.wait() }).await });
    let trace = || {
        let mut trace = Vec::new();
        runtime.handle().flight_record(&mut trace).unwrap();
        String::from_utf8(trace).unwrap()
    };
    wait_until("it is in a poll", || trace().contains("in a poll of tests/observe_metrics.rs"));
    gate.open();
    wait_for(parent).unwrap().unwrap();
    wait_until("it is idle", || {
        let text = trace();
        assert_eq!(json(&text).trim(), "");
        text.contains("\"name\":\"idle\"")
    });
}

#[test]
fn a_writer_that_fails_ends_the_flight_record() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = runtime(1).handle().flight_record(Full).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
}
