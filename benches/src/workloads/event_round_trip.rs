//! Two tasks that signal each other over two of their runtime's own auto-reset events.
//!
//! windlass has `AutoResetEvent`, tokio's `Notify` behaves like one with `notify_one`, and under
//! smol it is a flag and an `event_listener::Event`, which is what its own primitives are made of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use event_listener::Event;
use tokio::sync::Notify;
use windlass::sync::AutoResetEvent;

use super::{Aim, Row, Workload};
use crate::measure::{Budget, Metrics, Pass, passes};
use crate::peers::{CurrentThread, Peer, Smol, Tokio, Windlass};

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "event_round_trip",
    about: "2 tasks over two AutoResetEvents (tokio: Notify, smol: event-listener); per round trip",
    base: "tokio",
    rows: &[Row::time("ns/trip").aim(Aim::Ratio(1.0))],
    peers: &[
        (Tokio::NAME, run::<Tokio, Notify>),
        (CurrentThread::NAME, run::<CurrentThread, Notify>),
        (Smol::NAME, run::<Smol, Listened>),
        (Windlass::NAME, run::<Windlass, AutoResetEvent>),
    ],
}];

const TRIPS: usize = 32_000;

/// An event that lets one waiter pass for each time it is set, and remembers being set once.
pub(super) trait Signal: Send + Sync + 'static {
    fn unset() -> Self;
    fn signal(&self);
    fn signalled(&self) -> impl Future<Output = ()> + Send;
}

fn run<P: Peer, S: Signal>(budget: &Budget) -> Metrics {
    let peer = P::start();
    passes(budget, || {
        let elapsed = peer.run_task(async {
            let events = Arc::new((S::unset(), S::unset()));
            let began = Instant::now();
            let partner = {
                let events = Arc::clone(&events);
                P::spawn(async move { answer(&events.0, &events.1, TRIPS).await })
            };
            let caller = P::spawn(async move { call(&events.0, &events.1, TRIPS).await });
            caller.await;
            partner.await;
            began.elapsed()
        });
        Pass::new(TRIPS, elapsed)
    })
}

pub(super) async fn call<S: Signal>(ping: &S, pong: &S, trips: usize) {
    for _ in 0..trips {
        ping.signal();
        pong.signalled().await;
    }
}

pub(super) async fn answer<S: Signal>(ping: &S, pong: &S, trips: usize) {
    for _ in 0..trips {
        ping.signalled().await;
        pong.signal();
    }
}

impl Signal for AutoResetEvent {
    fn unset() -> Self {
        AutoResetEvent::new(false)
    }

    #[inline]
    fn signal(&self) {
        self.set();
    }

    #[inline]
    fn signalled(&self) -> impl Future<Output = ()> + Send {
        self.wait()
    }
}

impl Signal for Notify {
    fn unset() -> Self {
        Notify::new()
    }

    #[inline]
    fn signal(&self) {
        self.notify_one();
    }

    #[inline]
    fn signalled(&self) -> impl Future<Output = ()> + Send {
        self.notified()
    }
}

/// The auto-reset event as its documentation builds one from `event_listener`.
pub(super) struct Listened {
    set: AtomicBool,
    event: Event,
}

impl Signal for Listened {
    fn unset() -> Self {
        Listened { set: AtomicBool::new(false), event: Event::new() }
    }

    #[inline]
    fn signal(&self) {
        // `notify` brings the fence that makes this store visible to a listener about to look.
        self.set.store(true, Ordering::Release);
        self.event.notify(1);
    }

    async fn signalled(&self) {
        loop {
            if self.set.swap(false, Ordering::Acquire) {
                return;
            }
            let listener = self.event.listen();
            if self.set.swap(false, Ordering::Acquire) {
                return;
            }
            listener.await;
        }
    }
}
