//! Pairs of tasks that send a message back and forth.
//!
//! Every peer uses the same runtime-neutral channels. The bounded channel allocates for each wait,
//! which is the same cost for all and hides part of the runtime's; the slot costs next to nothing
//! and shows it.

use std::sync::Arc;
use std::time::Instant;

use async_channel::bounded;

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::Peer;
use crate::support::Slot;

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "ping_pong_1",
        about: "1 pair of tasks over two async-channel bounded(1); per round trip",
        base: "tokio",
        rows: &[Row::time("ns/trip").aim(Aim::Ratio(0.40))],
        peers: peers![channels, 1: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "ping_pong_main",
        about: "the same pair, spawned by the main thread, as most programs do; per round trip",
        base: "tokio",
        rows: &[Row::time("ns/trip")],
        peers: peers![from_main: Tokio, Smol, Windlass],
    },
    Workload {
        name: "ping_pong_64",
        about: "64 pairs of tasks over two async-channel bounded(1) each; per round trip",
        base: "tokio",
        rows: &[Row::time("ns/trip")],
        peers: peers![channels, 64: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "ping_pong_slot",
        about: "1 pair of tasks over two one-value slots of next to no cost; per round trip",
        base: "tokio",
        rows: &[Row::time("ns/trip")],
        peers: peers![slots: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "ping_pong_spawn",
        about: "1,000 tasks that each spawn a partner, send it a message and await the answer; per pair",
        base: "tokio",
        rows: &[Row::time("ns/pair")],
        peers: peers![spawned: Tokio, CurrentThread, Smol, Windlass],
    },
];

/// Round trips in one pass, divided among the pairs.
const TRIPS: usize = 32_000;

fn channels<P: Peer, const PAIRS: usize>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let began = Instant::now();
            let mut handles = Vec::with_capacity(2 * PAIRS);
            for _ in 0..PAIRS {
                let (echo, asker) = over_channels(TRIPS / PAIRS);
                handles.push(P::spawn(echo));
                handles.push(P::spawn(asker));
            }
            for handle in handles {
                handle.await;
            }
            began.elapsed()
        });
        Pass::new(TRIPS, elapsed)
    })
}

fn from_main<P: Peer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let began = Instant::now();
        let (echo, asker) = over_channels(TRIPS);
        let (echo, asker) = (peer.spawn_from_outside(echo), peer.spawn_from_outside(asker));
        peer.block_on(async {
            asker.await;
            echo.await;
        });
        Pass::new(TRIPS, began.elapsed())
    })
}

/// The two halves of a pair.
fn over_channels(
    trips: usize,
) -> (impl Future<Output = ()> + Send, impl Future<Output = ()> + Send) {
    let (ping, pinged) = bounded(1);
    let (pong, ponged) = bounded(1);
    let echo = async move {
        while let Ok(message) = pinged.recv().await {
            pong.send(message).await.expect("the other side listens");
        }
    };
    let asker = async move {
        for trip in 0..trips {
            ping.send(trip).await.expect("the other side listens");
            assert_eq!(ponged.recv().await, Ok(trip));
        }
    };
    (echo, asker)
}

fn slots<P: Peer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let began = Instant::now();
            let ping = Arc::new(Slot::new());
            let pong = Arc::new(Slot::new());
            let echo = {
                let (ping, pong) = (Arc::clone(&ping), Arc::clone(&pong));
                P::spawn(async move {
                    for _ in 0..TRIPS {
                        pong.put(ping.take().await);
                    }
                })
            };
            let asker = P::spawn(async move {
                for trip in 0..TRIPS {
                    ping.put(trip);
                    assert_eq!(pong.take().await, trip);
                }
            });
            asker.await;
            echo.await;
            began.elapsed()
        });
        Pass::new(TRIPS, elapsed)
    })
}

const PAIRS_SPAWNED: usize = 1_000;

fn spawned<P: Peer>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let began = Instant::now();
            let mut handles = Vec::with_capacity(PAIRS_SPAWNED);
            for pair in 0..PAIRS_SPAWNED {
                handles.push(P::spawn(async move {
                    let slots = Arc::new((Slot::new(), Slot::new()));
                    let partner = Arc::clone(&slots);
                    P::detach(async move { partner.1.put(partner.0.take().await) });
                    slots.0.put(pair);
                    assert_eq!(slots.1.take().await, pair);
                }));
            }
            for handle in handles {
                handle.await;
            }
            began.elapsed()
        });
        Pass::new(PAIRS_SPAWNED, elapsed)
    })
}
