//! Echo beside a computation that saturates every core: windlass with both on one pool, tokio with
//! rayon beside it.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rayon::slice::ParallelSliceMut;

use super::pool::{ForkPeer, Forks, Rayon};
use super::{fib, numbers};
use crate::load::{Ask, Job, Loads};
use crate::measure::{Budget, Metrics};
use crate::peers::{NetPeer, Peer, Tokio, Windlass};
use crate::service::{self, Echo};
use crate::support::{Histogram, sys};
use crate::workloads::echo::{Server, Tasks};
use crate::workloads::{Aim, Row, Workload};

const RATE: Row = Row::gain("messages_per_s", "kmsg/s").scaled(1e3);
const P50: Row = Row::cost("p50_ns", "µs p50").scaled(1e3);
const P99: Row = Row::cost("p99_ns", "µs p99").scaled(1e3);
const P999: Row = Row::cost("p999_ns", "µs p99.9").scaled(1e3);
const ROUNDS: Row = Row::gain("rounds_per_s", "rounds/s");

macro_rules! mixes {
    ($run:ident, $kind:ident) => {
        &[
            ("tokio", |budget| $run::<Tokio>(budget, Kind::$kind)),
            ("windlass", |budget| $run::<Windlass>(budget, Kind::$kind)),
        ]
    };
}

pub(in crate::workloads) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "mixed_fib",
        about: "8 connections, the load in another process, beside fib(26) for ever",
        base: "tokio",
        rows: &[
            RATE.aim(Aim::Ratio(1.0)),
            P50,
            P99.aim(Aim::Ratio(1.0)),
            P999.aim(Aim::Ratio(1.0)),
            ROUNDS.aim(Aim::Ratio(1.5)),
        ],
        peers: mixes!(from_outside, Fib),
    },
    Workload {
        name: "mixed_sort",
        about: "the same beside a parallel sort of 10M u32 for ever",
        base: "tokio",
        rows: &[
            RATE.aim(Aim::Ratio(1.0)),
            P50,
            P99,
            P999.aim(Aim::Ratio(1.0)),
            ROUNDS.aim(Aim::Ratio(0.95)),
        ],
        peers: mixes!(from_outside, Sort),
    },
    Workload {
        name: "mixed_leaves",
        about: "the same beside pairs of leaves of 5 ms for ever",
        base: "tokio",
        rows: &[
            RATE.aim(Aim::Ratio(0.9)),
            P50,
            P99,
            P999.aim(Aim::Ratio(1.2)),
            ROUNDS.aim(Aim::Ratio(0.95)),
        ],
        peers: mixes!(from_outside, Leaves),
    },
    Workload {
        name: "mixed_inside",
        about: "4 clients and their servers, tasks of one process, beside fib(26) for ever",
        base: "tokio",
        rows: &[RATE.aim(Aim::Ratio(2.0)), P50, P99, P999.aim(Aim::Ratio(0.1)), ROUNDS],
        peers: mixes!(from_inside, Fib),
    },
];

/// What is computed, round after round.
#[derive(Clone, Copy)]
enum Kind {
    Fib,
    Sort,
    Leaves,
}

/// The CPU time of a leaf.
const LEAF: Duration = Duration::from_millis(5);

/// The computation, and how far it is.
struct Work {
    kind: Kind,
    stopped: AtomicBool,
    progress: Mutex<Progress>,
}

/// The rounds that are over, and when the last of them was. From the end of one round to the end of another there are
/// whole rounds only: those of a sort are long, and to count the ends within a given time would be off by up to one.
#[derive(Clone, Copy)]
struct Progress {
    rounds: u64,
    at: Instant,
}

impl Progress {
    /// Rounds a second from `before` to here. If none has ended for long before `now`, that time counts too.
    fn per_second(self, before: Progress, now: Instant) -> f64 {
        let rounds = (self.rounds - before.rounds) as f64;
        let time = (self.at - before.at).as_secs_f64();
        let since = (now - self.at).as_secs_f64();
        rounds / if since * rounds >= 2.0 * time { time + since } else { time }
    }
}

impl Work {
    fn new(kind: Kind) -> Arc<Work> {
        let progress = Mutex::new(Progress { rounds: 0, at: Instant::now() });
        Arc::new(Work { kind, stopped: AtomicBool::new(false), progress })
    }

    fn progress(&self) -> Progress {
        *self.progress.lock().expect("nothing panics while it is held")
    }

    fn ends_round(&self) {
        let mut progress = self.progress.lock().expect("nothing panics while it is held");
        *progress = Progress { rounds: progress.rounds + 1, at: Instant::now() };
    }

    fn run<P: for<'s> ForkPeer<Scope<'s> = ()>>(&self, sort: fn(&mut [u32])) {
        let unsorted = if let Kind::Sort = self.kind { numbers() } else { Vec::new() };
        while !self.stopped.load(Ordering::Relaxed) {
            match self.kind {
                Kind::Fib => drop(black_box(fib::<P>(&mut (), black_box(26)))),
                Kind::Sort => sort(&mut unsorted.clone()),
                Kind::Leaves => drop(P::join(&mut (), |()| leaf(), |()| leaf())),
            }
            self.ends_round();
        }
    }
}

fn leaf() {
    let end = sys::thread_cpu() + LEAF;
    while sys::thread_cpu() < end {
        for step in 0..2_000 {
            black_box(step);
        }
    }
}

/// A peer with something to compute on beside it, or inside it.
trait Mix: NetPeer {
    /// Begins to compute, and goes on until the work is stopped.
    fn compute(&self, work: Arc<Work>);
}

impl Mix for Tokio {
    fn compute(&self, work: Arc<Work>) {
        let pool = Rayon::pool();
        std::thread::spawn(move || {
            pool.install(|| work.run::<Rayon>(<[u32]>::par_sort_unstable));
        });
    }
}

impl Mix for Windlass {
    fn compute(&self, work: Arc<Work>) {
        self.run_task(async move {
            drop(windlass::compute(move || work.run::<Forks>(windlass::par::sort_unstable)));
        });
    }
}

/// What the computation did while `f` ran, beside what `f` gives.
fn beside(work: &Work, f: impl FnOnce() -> Metrics) -> Metrics {
    let before = work.progress();
    let metrics = f();
    let rounds_per_s = work.progress().per_second(before, Instant::now());
    work.stopped.store(true, Ordering::Relaxed);
    metrics.with("rounds_per_s", rounds_per_s)
}

fn from_outside<P: Mix>(budget: &Budget, kind: Kind) -> Metrics {
    let server = Tasks::<P>::start::<Echo>(None);
    let work = Work::new(kind);
    server.peer().compute(work.clone());
    // Long enough for rounds of a sort, and for a p99.9.
    let (warm_up, time) = (budget.warm_up * 2, budget.time * 5);
    let ask = Ask::closed(server.address(), service::Kind::Echo, 8, warm_up, time);
    let job = Job::Ask(ask);
    server.beside(|| beside(&work, || Loads::one(&job).figures()))
}

const CLIENTS: usize = 4;

fn from_inside<P: Mix>(budget: &Budget, kind: Kind) -> Metrics {
    let server = Tasks::<P>::start::<Echo>(None);
    let work = Work::new(kind);
    server.peer().compute(work.clone());
    let address = server.address();
    let time = budget.time * 5;
    beside(&work, || {
        let latencies = server.peer().run_task(async move {
            let clients: Vec<_> =
                (0..CLIENTS).map(|_| P::spawn(client::<P>(address, time))).collect();
            let mut all = Vec::new();
            for client in clients {
                all.extend(client.await);
            }
            all
        });
        let mut histogram = Histogram::new();
        latencies.iter().for_each(|&nanos| histogram.record(nanos));
        Metrics::new()
            .with("messages_per_s", latencies.len() as f64 / time.as_secs_f64())
            .with("p50_ns", histogram.quantile(0.5))
            .with("p90_ns", histogram.quantile(0.9))
            .with("p99_ns", histogram.quantile(0.99))
            .with("p999_ns", histogram.quantile(0.999))
            .with("max_ns", histogram.max() as f64)
    })
}

async fn client<P: Mix>(address: std::net::SocketAddr, time: Duration) -> Vec<u64> {
    let mut stream = P::connect(address).await.expect("the server listens");
    let (message, mut answer) = ([7; 64], [0; 64]);
    let mut latencies = Vec::new();
    let began = Instant::now();
    let mut now = began;
    while now - began < time {
        P::write_all(&mut stream, &message).await.expect("the server reads");
        let mut count = 0;
        while count < answer.len() {
            let read = P::read(&mut stream, &mut answer[count..]).await;
            count += read.expect("the server answers");
        }
        let before = now;
        now = Instant::now();
        latencies.push((now - before).as_nanos() as u64);
    }
    latencies
}
