//! Runs one runtime, with one way to look inside, through all workloads; prints nanoseconds an operation, a line each, and
//! the memory that was used. `scripts/observed` runs it in turns and compares.
//!
//! With and without are the same functions of the same program, and only a setting differs: where they are two
//! instances of generic code, their layout alone makes a difference of several percent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long one workload is measured.
const MEASURED: Duration = Duration::from_millis(400);
/// How long it runs before that.
const WARM_UP: Duration = Duration::from_millis(100);
const TASKS: usize = 1_000;
const YIELDS: usize = 20;
const CONNECTIONS: usize = 64;
const MESSAGE: usize = 64;

/// The workloads, written once for both runtimes, whose names are the same.
macro_rules! workloads {
    ($module:ident, $crate_name:ident, $runtime:path $(, $import:path)*) => {
        mod $module {
            use super::*;
            use ::$crate_name::net::TcpListener;
            use ::$crate_name::spawn;
            use ::$crate_name::task::yield_now;
            $(use $import;)*

            pub(super) fn run(runtime: &$runtime) {
                report("spawn", TASKS, || {
                    let all = runtime.spawn(async {
                        let tasks: Vec<_> = (0..TASKS).map(|_| spawn(async {})).collect();
                        for task in tasks {
                            task.await.unwrap();
                        }
                    });
                    runtime.block_on(all).unwrap();
                });
                report("yield", TASKS * YIELDS, || {
                    let all = runtime.spawn(async {
                        let yields = || async {
                            for _ in 0..YIELDS {
                                yield_now().await;
                            }
                        };
                        let tasks: Vec<_> = (0..TASKS).map(|_| spawn(yields())).collect();
                        for task in tasks {
                            task.await.unwrap();
                        }
                    });
                    runtime.block_on(all).unwrap();
                });
                let bound = runtime.spawn(async {
                    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                    let address = listener.local_addr().unwrap();
                    drop(spawn(async move {
                        while let Ok((stream, _)) = listener.accept().await {
                            #[allow(unused_mut, reason = "one of the two reads by `&self`")]
                            let mut stream = stream;
                            drop(spawn(async move {
                                let mut bytes = [0; 4096];
                                while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                                    if stream.write_all(&bytes[..count]).await.is_err() {
                                        break;
                                    }
                                }
                            }));
                        }
                    }));
                    address
                });
                echo(runtime.block_on(bound).unwrap());
            }
        }
    };
}

workloads!(on_windlass, windlass, windlass::Runtime);
workloads!(
    on_tokio,
    tokio,
    tokio::runtime::Runtime,
    tokio::io::AsyncReadExt,
    tokio::io::AsyncWriteExt
);

/// One thread has 64 requests under way, and waits for the answers.
fn echo(server: SocketAddr) {
    let mut streams: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let stream = TcpStream::connect(server).unwrap();
            stream.set_nodelay(true).unwrap();
            stream
        })
        .collect();
    let (request, mut answer) = ([7; MESSAGE], [0; MESSAGE]);
    report("echo 64", CONNECTIONS, || {
        for stream in &mut streams {
            stream.write_all(&request).unwrap();
        }
        for stream in &mut streams {
            stream.read_exact(&mut answer).unwrap();
        }
    });
}

/// Calls `round`, which does so many operations, for some time, and prints what one of them takes.
fn report(name: &str, operations: usize, mut round: impl FnMut()) {
    let mut run = |time: Duration| {
        let (start, mut rounds) = (Instant::now(), 0_u32);
        while start.elapsed() < time {
            round();
            rounds += 1;
        }
        start.elapsed().as_nanos() as f64 / f64::from(rounds) / operations as f64
    };
    run(WARM_UP);
    println!("{name}\t{:.2}", run(MEASURED));
}

/// Looks at the inspector as the page does, until the process ends.
fn look_at(inspector: &windlass::inspector::Inspector) {
    let url = inspector.url();
    let rest = url.strip_prefix("http://").expect("a URL").to_owned();
    let (host, token) = rest.split_once("/?").expect("a token");
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /events?{token}&n=100 HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with("data: ") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the inspector sends frames");
    }
    std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
}

fn windlass(how: &str) {
    let observe = how != "off";
    let runtime = windlass::Builder::new().workers(1).observe(observe).build().unwrap();
    let _inspector = (how == "page").then(|| {
        let inspector = runtime.block_on(async { windlass::inspector::serve("127.0.0.1:0").await });
        let inspector = inspector.unwrap();
        look_at(&inspector);
        inspector
    });
    on_windlass::run(&runtime);
}

fn tokio(how: &str) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all();
    match how {
        "plain" | "unstable" => {}
        #[cfg(tokio_unstable)]
        "histograms" => _ = builder.enable_metrics_poll_time_histogram(),
        #[cfg(feature = "console")]
        "console" => {
            console_subscriber::ConsoleLayer::builder().server_addr(([127, 0, 0, 1], 0)).init()
        }
        _ => panic!("this program was built without {how}"),
    }
    on_tokio::run(&builder.build().unwrap());
}

/// Lists 100,000 idle tasks, in turns with a task that shows whether it is held up.
fn listing() {
    let runtime = windlass::Builder::new().workers(1).build().unwrap();
    (0..100_000).for_each(|_| drop(runtime.spawn(std::future::pending::<()>())));
    while runtime.metrics().injector_len > 0 {
        std::thread::yield_now();
    }
    for _ in 0..20 {
        let start = Instant::now();
        assert!(runtime.handle().tasks().len() >= 100_000);
        println!("list\t{}", start.elapsed().as_nanos());
    }
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    match way.split_once('-') {
        Some(("windlass", how)) => windlass(how),
        Some(("tokio", how)) => tokio(how),
        _ if way == "listing" => listing(),
        _ => panic!("expected windlass-off, windlass-on, windlass-page, tokio-plain, …"),
    }
    // The memory that was ever in use, in KiB.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().split(' ').next()).unwrap_or("0");
    println!("memory\t{peak}");
    std::process::exit(0);
}
