//! The whole life of a runtime: built, one task run on it, dropped.
//!
//! smol's global executor cannot be dropped, so here it is an executor of its own with as many
//! threads, told to end by closing a channel, as its documentation shows.

use std::sync::Arc;
use std::time::Instant;

use async_channel::{Sender, unbounded};
use smol::Executor;

use super::{Row, Workload};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::{CurrentThread, Peer, Smol, Tokio, WORKERS, Windlass};

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "startup_shutdown",
    about: "build a runtime, run one task on it, drop it; per runtime",
    base: "tokio",
    rows: &[Row::time("µs/runtime").scaled(1e3)],
    peers: &[
        (Tokio::NAME, run::<Tokio>),
        (CurrentThread::NAME, run::<CurrentThread>),
        (Smol::NAME, smol_executor),
        (Windlass::NAME, run::<Windlass>),
    ],
}];

/// Runtimes in one pass.
const LIVES: usize = 20;

fn run<P: Peer>(budget: &Budget) -> Metrics {
    passes(budget, || {
        let began = Instant::now();
        for _ in 0..LIVES {
            let peer = P::start();
            peer.run_task(async {});
        }
        Pass::new(LIVES, began.elapsed())
    })
}

fn smol_executor(budget: &Budget) -> Metrics {
    passes(budget, || {
        let began = Instant::now();
        for _ in 0..LIVES {
            let executor = Arc::new(Executor::new());
            let (life, ended) = unbounded::<()>();
            let threads: Vec<_> = (0..WORKERS)
                .map(|_| {
                    let (executor, ended) = (Arc::clone(&executor), ended.clone());
                    std::thread::spawn(move || smol::block_on(executor.run(ended.recv())))
                })
                .collect();
            smol::block_on(executor.spawn(async {}));
            end(life, threads);
        }
        Pass::new(LIVES, began.elapsed())
    })
}

fn end<T>(life: Sender<()>, threads: Vec<std::thread::JoinHandle<T>>) {
    drop(life);
    for thread in threads {
        thread.join().expect("an executor thread ends well");
    }
}
