//! Tasks that contend for the async mutex their runtime offers.
//!
//! Held for a moment, the lock is mostly free when asked for; held across a yield, everybody
//! queues for it and each release has to wake the next.

use std::ops::DerefMut;
use std::sync::Arc;
use std::time::Instant;

use super::{Row, Workload};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::{CurrentThread, Peer, Smol, Tokio, Windlass};

pub(super) type TokioMutex = tokio::sync::Mutex<usize>;
type SmolMutex = smol::lock::Mutex<usize>;
pub(super) type WindlassMutex = windlass::lock::Mutex<usize>;

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "mutex",
        about: "8 tasks that lock, add one and unlock; per lock",
        base: "tokio",
        rows: &[Row::time("ns/lock")],
        peers: &[
            (Tokio::NAME, run::<Tokio, TokioMutex, false>),
            (CurrentThread::NAME, run::<CurrentThread, TokioMutex, false>),
            (Smol::NAME, run::<Smol, SmolMutex, false>),
            (Windlass::NAME, run::<Windlass, WindlassMutex, false>),
        ],
    },
    Workload {
        name: "mutex_queued",
        about: "8 tasks that lock, yield, add one and unlock, so that all others queue; per lock",
        base: "tokio",
        rows: &[Row::time("ns/lock")],
        peers: &[
            (Tokio::NAME, run::<Tokio, TokioMutex, true>),
            (CurrentThread::NAME, run::<CurrentThread, TokioMutex, true>),
            (Smol::NAME, run::<Smol, SmolMutex, true>),
            (Windlass::NAME, run::<Windlass, WindlassMutex, true>),
        ],
    },
];

const TASKS: usize = 8;
const LOCKS: usize = 32_000;

/// An async mutex around a counter.
pub(super) trait Lock: Default + Send + Sync + 'static {
    fn lock(&self) -> impl Future<Output = impl DerefMut<Target = usize> + Send> + Send;
}

fn run<P: Peer, L: Lock, const YIELDING: bool>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let counter = Arc::new(L::default());
            let began = Instant::now();
            let mut handles = Vec::with_capacity(TASKS);
            for _ in 0..TASKS {
                let counter = Arc::clone(&counter);
                handles.push(P::spawn(async move {
                    for _ in 0..LOCKS / TASKS {
                        let mut count = counter.lock().await;
                        if YIELDING {
                            P::yield_now().await;
                        }
                        *count += 1;
                    }
                }));
            }
            for handle in handles {
                handle.await;
            }
            let elapsed = began.elapsed();
            assert_eq!(*counter.lock().await, LOCKS);
            elapsed
        });
        Pass::new(LOCKS, elapsed)
    })
}

impl Lock for TokioMutex {
    #[inline]
    fn lock(&self) -> impl Future<Output = impl DerefMut<Target = usize> + Send> + Send {
        TokioMutex::lock(self)
    }
}

// windlass re-exports the mutex of async-lock, and so does smol: one implementation serves both.
impl Lock for SmolMutex {
    #[inline]
    fn lock(&self) -> impl Future<Output = impl DerefMut<Target = usize> + Send> + Send {
        SmolMutex::lock(self)
    }
}
