//! Wakers that timers call: many at once, and ones that drop or arm timers, or panic.

mod util;

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use util::{Count, armed_sleep, in_time, poll_once, runtime, wait_for, wait_until};
use windlass::timer::{Sleep, sleep};

const SHORT: Duration = Duration::from_millis(2);
const HOUR: Duration = Duration::from_secs(3600);

struct Counts(Count);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.add();
    }
}

#[test]
fn a_million_timers_at_once() {
    let runtime = runtime(2);
    let left = Count::new();
    const TIMERS: usize = 1_000_000;
    let inner = left.clone();
    let armed = wait_for(runtime.spawn(async move {
        let deadline = Instant::now() + 50 * SHORT;
        let waker = Waker::from(Arc::new(Counts(inner)));
        let mut naps: Vec<Sleep> =
            (0..TIMERS).map(|_| windlass::timer::sleep_until(deadline)).collect();
        let mut armed = 0;
        for nap in &mut naps {
            // Some may be due already on a slow machine.
            armed += usize::from(Pin::new(nap).poll(&mut Context::from_waker(&waker)).is_pending());
            windlass::task::consume_budget().await;
        }
        (naps, armed)
    }))
    .unwrap();
    let (naps, armed) = armed;
    wait_until("they fire", || left.get() == armed);
    assert!(naps.into_iter().all(|mut nap| poll_once(&mut nap).is_ready()));
    assert_eq!(runtime.metrics().timers, 0);
}

#[test]
fn a_waker_may_drop_and_arm_timers_and_panic() {
    /// Holds a timer, drops another and arms a third in its wake.
    struct Unruly {
        drops: Mutex<Option<Sleep>>,
        arms: Mutex<Sleep>,
        woken: Count,
    }
    impl Wake for Unruly {
        fn wake(self: Arc<Self>) {
            drop(self.drops.lock().unwrap().take());
            let waker = Waker::from(Arc::new(Counts(self.woken.clone())));
            let mut arms = self.arms.lock().unwrap();
            in_time(|time| {
                arms.reset(Instant::now() + time);
                let poll = Pin::new(&mut *arms).poll(&mut Context::from_waker(&waker));
                poll.is_pending().then_some(())
            });
            // Or else the next wake meets nothing but a poisoned lock.
            drop(arms);
            util::throw("a waker that panics");
        }
    }
    for workers in [false, true] {
        let runtime = runtime(1);
        let woken = Count::new();
        let inner = woken.clone();
        let body = move || {
            let mut victim = sleep(HOUR);
            let _ = poll_once(&mut victim);
            let unruly = Arc::new(Unruly {
                drops: Mutex::new(Some(victim)),
                arms: Mutex::new(sleep(HOUR)),
                woken: inner,
            });
            let waker = Waker::from(unruly.clone());
            let naps: Vec<_> = (0..3).map(|_| armed_sleep(&waker)).collect();
            (naps, unruly)
        };
        let kept = if workers {
            wait_for(runtime.spawn(async move { body() })).unwrap()
        } else {
            let _entered = runtime.enter();
            body()
        };
        woken.wait_for(1);
        drop(kept);
        // Everything still works.
        wait_for(runtime.spawn(sleep(SHORT))).unwrap();
    }
}

#[test]
fn a_waker_whose_drop_panics_harms_nobody_else() {
    /// Panics when the last of its wakers is dropped.
    struct Unruly;
    impl Wake for Unruly {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Unruly {
        fn drop(&mut self) {
            util::throw("a waker whose drop panics");
        }
    }
    let runtime = runtime(1);
    let _entered = runtime.enter();
    let armed = || {
        let mut nap = sleep(HOUR);
        let waker = Waker::from(Arc::new(Unruly));
        assert!(Pin::new(&mut nap).poll(&mut Context::from_waker(&waker)).is_pending());
        nap
    };
    let caught = |f: &mut dyn FnMut()| {
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err());
    };
    // When the timer is cancelled, when another waker takes its place, and when it fires.
    let mut cancelled = Some(armed());
    caught(&mut || drop(cancelled.take()));
    let mut replaced = armed();
    caught(&mut || {
        let _ = poll_once(&mut replaced);
    });
    drop(replaced);
    let waker = Waker::from(Arc::new(Unruly));
    let mut fires = armed_sleep(&waker);
    // It may have fired already.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(waker)));
    wait_until("it fires", || poll_once_quietly(&mut fires));
    wait_for(runtime.spawn(sleep(SHORT))).unwrap();
    wait_for(sleep(SHORT));
}

/// True if it is ready. A waker's drop may panic instead.
fn poll_once_quietly(nap: &mut Sleep) -> bool {
    let poll = std::panic::AssertUnwindSafe(|| poll_once(nap).is_ready());
    std::panic::catch_unwind(poll).unwrap_or(false)
}
