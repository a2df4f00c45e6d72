//! A thread that is not the runtime's wakes a task: how long until the task runs?
//!
//! Back to back, the next wake follows as soon as the task waits again: the worker may still be
//! looking for work. Paced, a millisecond passes in between and every worker sleeps.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics, percentiles};
use crate::peers::Peer;

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "foreign_wake",
        about: "an outside thread wakes a task, back to back; from the call to the poll",
        base: "tokio",
        rows: &[
            Row::cost("p50_ns", "µs p50").scaled(1e3).aim(Aim::Ratio(0.50)),
            Row::cost("p99_ns", "µs p99").scaled(1e3),
        ],
        peers: peers![back_to_back: Tokio, CurrentThread, Smol, Windlass],
    },
    Workload {
        name: "foreign_wake_paced",
        about: "the same with a pause of 1 ms before each wake",
        base: "tokio",
        rows: &[
            Row::cost("p50_ns", "µs p50").scaled(1e3),
            Row::cost("p99_ns", "µs p99").scaled(1e3),
        ],
        peers: peers![paced: Tokio, CurrentThread, Smol, Windlass],
    },
];

fn back_to_back<P: Peer>(budget: &Budget) -> Metrics {
    run::<P>(budget.warm_up, budget.time, None)
}

fn paced<P: Peer>(budget: &Budget) -> Metrics {
    // A wake takes more than a millisecond here, so a p99 needs a longer look.
    run::<P>(budget.warm_up, 2 * budget.time, Some(Duration::from_millis(1)))
}

/// What the outside thread and the task share.
struct Bell {
    clock: Instant,
    /// When it was rung, by `clock`; 0 when it was not.
    rung_ns: AtomicU64,
    /// The task waits, and its waker is in place.
    armed: AtomicBool,
    waker: Mutex<Option<Waker>>,
    closed: AtomicBool,
}

fn run<P: Peer>(warm_up: Duration, time: Duration, pause: Option<Duration>) -> Metrics {
    let peer = P::start();
    let bell = Arc::new(Bell {
        clock: Instant::now(),
        rung_ns: AtomicU64::new(0),
        armed: AtomicBool::new(false),
        waker: Mutex::new(None),
        closed: AtomicBool::new(false),
    });
    let ringer = {
        let bell = Arc::clone(&bell);
        std::thread::spawn(move || bell.ring_for(warm_up + time, pause))
    };
    let heard_from = u64::try_from(warm_up.as_nanos()).unwrap_or(u64::MAX);
    let latencies = peer.run_task(async move {
        let mut latencies = Vec::with_capacity(1 << 16);
        loop {
            let (rung_ns, heard_ns) = Ring(&bell).await;
            if bell.closed.load(Ordering::Acquire) {
                break latencies;
            }
            if rung_ns >= heard_from {
                latencies.push(heard_ns.saturating_sub(rung_ns));
            }
        }
    });
    ringer.join().expect("the outside thread ends well");
    percentiles(&latencies)
}

impl Bell {
    fn now(&self) -> u64 {
        // The first reading may be no later than the clock's own start.
        self.clock.elapsed().as_nanos() as u64 + 1
    }

    fn ring_for(&self, time: Duration, pause: Option<Duration>) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.wait_armed();
            if let Some(pause) = pause {
                std::thread::sleep(pause);
            }
            self.ring();
        }
        self.wait_armed();
        self.closed.store(true, Ordering::Release);
        self.ring();
    }

    fn ring(&self) {
        let waker = self.waker.lock().unwrap().take().expect("an armed bell has a waker");
        self.armed.store(false, Ordering::Relaxed);
        // Release pairs with the acquire in `Ring::poll`: the task sees the bell disarmed.
        self.rung_ns.store(self.now(), Ordering::Release);
        waker.wake();
    }

    /// Spins, so that the next wake really follows at once; gives way if the task's thread may be
    /// waiting for this core.
    fn wait_armed(&self) {
        let mut spins = 0_u32;
        // Acquire pairs with the release in `Ring::poll`: the waker is in place.
        while !self.armed.load(Ordering::Acquire) {
            spins += 1;
            if spins % 1024 == 0 {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }
}

/// Awaits to the times of the ringing and of the poll that saw it.
struct Ring<'a>(&'a Bell);

impl Future for Ring<'_> {
    type Output = (u64, u64);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(u64, u64)> {
        let bell = self.0;
        let polled_ns = bell.now();
        let rung_ns = bell.rung_ns.swap(0, Ordering::Acquire);
        if rung_ns != 0 {
            return Poll::Ready((rung_ns, polled_ns));
        }
        *bell.waker.lock().unwrap() = Some(context.waker().clone());
        bell.armed.store(true, Ordering::Release);
        Poll::Pending
    }
}
