//! Pairs of tasks that send a message back and forth.
//!
//! Unless a workload says otherwise, every peer uses the same runtime-neutral channels. The bounded
//! channel allocates for each wait, which is the same cost for all and hides part of the runtime's; the
//! slot costs next to nothing and shows it. Of `ping_pong_oneshot`, each peer has its own; what a long-lived pair
//! costs over each peer's own events is `event_round_trip`.

use std::sync::Arc;
use std::time::Instant;

use async_channel::bounded;
use tokio::sync::oneshot;
use windlass::sync::AutoResetEvent;

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::{CurrentThread, Peer, Smol, Tokio, Windlass};
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
    Workload {
        name: "ping_pong_join",
        about: "1,000 tasks that each spawn a partner, send it a message and await its handle; per pair",
        base: "tokio",
        rows: &[Row::time("ns/pair")],
        peers: peers![joined: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "ping_pong_oneshot",
        about: "1,000 tasks that each spawn a partner and exchange a signal both ways, as in tokio's own \
                ping_pong (tokio: oneshot, smol: async-channel bounded(1), windlass: AutoResetEvent); \
                per pair",
        base: "tokio",
        rows: &[Row::time("ns/pair").aim(Aim::Ratio(0.40))],
        peers: &[
            (Tokio::NAME, one_shots::<Tokio, Oneshot>),
            (CurrentThread::NAME, one_shots::<CurrentThread, Oneshot>),
            (Smol::NAME, one_shots::<Smol, Channel>),
            (Windlass::NAME, one_shots::<Windlass, Event>),
        ],
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

fn joined<P: Peer>(budget: &Budget) -> Metrics {
    pairs::<P, _>(budget, |pair| async move {
        let slot = Arc::new(Slot::new());
        let partner = Arc::clone(&slot);
        let partner = P::spawn(async move { partner.take().await });
        slot.put(pair);
        assert_eq!(partner.await, pair);
    })
}

fn one_shots<P: Peer, S: OneShot>(budget: &Budget) -> Metrics {
    pairs::<P, _>(budget, |_| async {
        let (ping, pinged) = S::pair();
        let (pong, ponged) = S::pair();
        P::detach(async move {
            S::receive(pinged).await;
            S::send(pong);
        });
        S::send(ping);
        S::receive(ponged).await;
    })
}

/// Spawns a task for each pair and awaits all.
fn pairs<P: Peer, F>(budget: &Budget, first: fn(usize) -> F) -> Metrics
where
    F: Future<Output = ()> + Send + 'static,
{
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async move {
            let began = Instant::now();
            let handles: Vec<_> = (0..PAIRS_SPAWNED).map(|pair| P::spawn(first(pair))).collect();
            for handle in handles {
                handle.await;
            }
            began.elapsed()
        });
        Pass::new(PAIRS_SPAWNED, elapsed)
    })
}

/// What a peer has for a signal that is sent once.
trait OneShot: 'static {
    type Sender: Send + 'static;
    type Receiver: Send + 'static;

    fn pair() -> (Self::Sender, Self::Receiver);
    fn send(sender: Self::Sender);
    fn receive(receiver: Self::Receiver) -> impl Future<Output = ()> + Send;
}

struct Oneshot;

impl OneShot for Oneshot {
    type Sender = oneshot::Sender<()>;
    type Receiver = oneshot::Receiver<()>;

    fn pair() -> (Self::Sender, Self::Receiver) {
        oneshot::channel()
    }

    fn send(sender: Self::Sender) {
        sender.send(()).expect("the other side listens");
    }

    async fn receive(receiver: Self::Receiver) {
        receiver.await.expect("the other side sends");
    }
}

struct Channel;

impl OneShot for Channel {
    type Sender = async_channel::Sender<()>;
    type Receiver = async_channel::Receiver<()>;

    fn pair() -> (Self::Sender, Self::Receiver) {
        bounded(1)
    }

    fn send(sender: Self::Sender) {
        sender.try_send(()).expect("the other side listens");
    }

    async fn receive(receiver: Self::Receiver) {
        receiver.recv().await.expect("the other side sends");
    }
}

struct Event;

impl OneShot for Event {
    type Sender = Arc<AutoResetEvent>;
    type Receiver = Arc<AutoResetEvent>;

    fn pair() -> (Self::Sender, Self::Receiver) {
        let event = Arc::new(AutoResetEvent::new(false));
        (Arc::clone(&event), event)
    }

    fn send(sender: Self::Sender) {
        sender.set();
    }

    async fn receive(receiver: Self::Receiver) {
        receiver.wait().await;
    }
}
