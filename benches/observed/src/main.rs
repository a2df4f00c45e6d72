//! Runs one runtime, with one way to look inside, through all workloads; prints nanoseconds an operation, a
//! line each, and the memory that was used. `scripts/observed` runs it in turns and compares.
//!
//! With and without are the same functions of the same program, and only a setting differs: where they are two
//! instances of generic code, their layout alone makes a difference of several percent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long one workload is measured.
const MEASURED: Duration = Duration::from_millis(400);
/// How long it runs before that.
const WARM_UP: Duration = Duration::from_millis(100);
const TASKS: usize = 1_000;
const YIELDS: usize = 20;
const CONNECTIONS: usize = 64;
const MESSAGE: usize = 64;
/// The depth of a tree of joins.
const JOINS: u32 = 15;
/// Tasks that are listed, and how many of them wait for a socket.
const IDLE: usize = 100_000;
const SOCKETS: usize = 250;

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
                let mut streams = connect(serve(runtime));
                report("echo 64", CONNECTIONS, || ask_all(&mut streams));
            }

            /// Starts a server that answers with what it was sent, and returns its address.
            pub(super) fn serve(runtime: &$runtime) -> SocketAddr {
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
                runtime.block_on(bound).unwrap()
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

fn connect(server: SocketAddr) -> Vec<TcpStream> {
    let connection = |_| {
        let stream = TcpStream::connect(server).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    };
    (0..CONNECTIONS).map(connection).collect()
}

/// One thread has 64 requests under way, and waits for the answers.
fn ask_all(streams: &mut [TcpStream]) {
    let (request, mut answer) = ([7; MESSAGE], [0; MESSAGE]);
    for stream in &mut *streams {
        stream.write_all(&request).unwrap();
    }
    for stream in streams {
        stream.read_exact(&mut answer).unwrap();
    }
}

/// Calls `round`, which does this many operations, for some time, and prints what one of them takes.
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
    let runtime = build(how);
    let _inspector = (how == "page").then(|| open_page(&runtime));
    on_windlass::run(&runtime);
}

fn build(how: &str) -> windlass::Runtime {
    let builder = windlass::Builder::new().workers(1).observe(how != "off");
    builder.flight_recorder(how == "full").build().unwrap()
}

fn open_page(runtime: &windlass::Runtime) -> windlass::inspector::Inspector {
    let inspector = runtime.block_on(async { windlass::inspector::serve("127.0.0.1:0").await });
    let inspector = inspector.unwrap();
    look_at(&inspector);
    inspector
}

/// Compares windlass with observation to windlass without, and with the page open to windlass with observation, in turns
/// of less than a millisecond, so that whatever else happens on the machine meets all. Prints the rate of the first of
/// each two as a part of the other's.
fn pairs() {
    let ways = ["off", "on", "page"];
    let runtimes = ways.map(build);
    let _inspector = open_page(&runtimes[2]);
    for (name, yields) in [("spawn", 0), ("yield", YIELDS)] {
        take_turns(name, |which| {
            let all = runtimes[which].spawn(async move {
                let work = || async move {
                    for _ in 0..yields {
                        windlass::task::yield_now().await;
                    }
                };
                let tasks: Vec<_> = (0..TASKS).map(|_| windlass::spawn(work())).collect();
                for task in tasks {
                    task.await.unwrap();
                }
            });
            runtimes[which].block_on(all).unwrap();
        });
    }
    let mut streams = [0, 1, 2].map(|which| connect(on_windlass::serve(&runtimes[which])));
    take_turns("echo 64", |which| ask_all(&mut streams[which]));
    // There is one worker, so nothing is stolen.
    take_turns("join", |which| {
        let all = runtimes[which].spawn(async { join_all(JOINS) });
        assert_eq!(runtimes[which].block_on(all).unwrap(), 1 << JOINS);
    });
}

/// Joins in a tree of this depth, and returns the number of its leaves.
fn join_all(depth: u32) -> u64 {
    if depth == 0 {
        return std::hint::black_box(1);
    }
    let (one, other) = windlass::join(|| join_all(depth - 1), || join_all(depth - 1));
    one + other
}

/// Calls `turn` with 0, 1 and 2, thousands of times, and compares their medians.
fn take_turns(name: &str, mut turn: impl FnMut(usize)) {
    const TURNS: usize = 1_000;
    // Each comes as often before the others as after them.
    const ORDERS: [[usize; 3]; 6] =
        [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];
    let mut times = [const { Vec::new() }; 3];
    for round in 0..TURNS {
        for which in ORDERS[round % ORDERS.len()] {
            let start = Instant::now();
            turn(which);
            times[which].push(start.elapsed());
        }
    }
    let [off, on, page] = times.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_nanos() as f64
    });
    println!("{name}\t{:.4}", off / on);
    println!("{name}, page\t{:.4}", on / page);
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

/// Lists 100,000 idle tasks, while another thread spawns and looks how long a spawn takes: in the easiest case, and of a
/// server's tasks, with places for 64 workers.
fn listing() {
    for (prefix, workers, is_server) in [("", 1, false), ("server, ", 64, true)] {
        let runtime = windlass::Builder::new().workers(workers).build().unwrap();
        let others = start_idle(&runtime, is_server);
        while runtime.metrics().injector_len > 0 {
            std::thread::yield_now();
        }
        let lists = AtomicBool::new(false);
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // The longest spawn, while nothing is listed and while something is.
            let spawner = scope.spawn(|| {
                let mut longest = [Duration::ZERO; 2];
                while !ends.load(Ordering::Relaxed) {
                    let before = lists.load(Ordering::Relaxed);
                    let start = Instant::now();
                    drop(runtime.spawn(async {}));
                    let time = start.elapsed();
                    if lists.load(Ordering::Relaxed) == before {
                        longest[usize::from(before)] = longest[usize::from(before)].max(time);
                    }
                    std::thread::sleep(Duration::from_micros(20));
                }
                longest
            });
            for _ in 0..20 {
                lists.store(true, Ordering::Relaxed);
                let start = Instant::now();
                let listed = runtime.handle().tasks().len();
                let time = start.elapsed();
                lists.store(false, Ordering::Relaxed);
                assert!(listed >= IDLE);
                println!("{prefix}list\t{}", time.as_nanos());
                // As long without, to compare.
                std::thread::sleep(time);
            }
            ends.store(true, Ordering::Relaxed);
            let [otherwise, during] = spawner.join().unwrap();
            println!("{prefix}longest spawn otherwise\t{}", otherwise.as_nanos());
            println!("{prefix}longest spawn during a list\t{}", during.as_nanos());
        });
        drop((runtime, others));
    }
}

/// Spawns 100,000 tasks that wait: for nothing, or as those of a server, for timers and sockets, many with names. Returns
/// the other ends of the sockets.
fn start_idle(
    runtime: &windlass::Runtime,
    is_server: bool,
) -> Vec<windlass::net::unix::UnixStream> {
    let _entered = runtime.handle().enter();
    let mut others = Vec::new();
    for number in 0..IDLE {
        if !is_server {
            drop(windlass::spawn(std::future::pending::<()>()));
            continue;
        }
        let builder = windlass::task::Builder::new();
        let builder = match number % 2 {
            0 => builder,
            _ => builder.name(format!("connection {number}")),
        };
        // A process may have 1,024 descriptors by default.
        if number % (IDLE / SOCKETS) == 0 {
            let (stream, other) = windlass::net::unix::UnixStream::pair().unwrap();
            others.push(other);
            drop(builder.spawn(async move { drop(stream.read(&mut [0; 64]).await) }));
        } else {
            let time = Duration::from_secs(3_600 + number as u64);
            drop(builder.spawn(windlass::timer::sleep(time)));
        }
    }
    others
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    match way.split_once('-') {
        Some(("windlass", how)) => windlass(how),
        Some(("tokio", how)) => tokio(how),
        _ if way == "listing" => listing(),
        _ if way == "pairs" => pairs(),
        _ => panic!(
            "expected windlass-off, windlass-on, windlass-page, windlass-full, tokio-plain, …"
        ),
    }
    // The memory that was ever in use, in KiB.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().split(' ').next()).unwrap_or("0");
    println!("memory\t{peak}");
    std::process::exit(0);
}
