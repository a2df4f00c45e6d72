//! A timer on the wall clock follows when the clock is set. That takes privileges, so this is tested where they
//! are given: the clock is stepped by a microsecond, and back. What a timer makes of a step does not depend on its
//! size. A binary of its own, for other tests would not expect a clock that goes back. A kqueue is not told of steps,
//! and has the timer look at the clock once a minute instead.
#![cfg(all(target_os = "linux", not(windlass_poller = "kqueue")))]

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant, SystemTime};

use windlass_net::WallTimer;
use windlass_runtime::timer::timeout;

const SHORT: Duration = Duration::from_millis(5);

#[derive(Default)]
struct Woken(AtomicUsize);
impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_step_of_the_clock_is_noticed_each_time_and_is_no_error() {
    let runtime = common::runtime();
    let _entered = runtime.enter();
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    let mut timer = WallTimer::at(SystemTime::now() + Duration::from_secs(3600));
    assert!(Pin::new(&mut timer).poll(&mut cx).is_pending());
    for step in 0..20 {
        let before = woken.0.load(Ordering::Relaxed);
        if !common::os::step_clock() {
            eprintln!("skipped: this needs the right to set the clock");
            return;
        }
        let start = Instant::now();
        while woken.0.load(Ordering::Relaxed) == before {
            assert!(start.elapsed() < common::DEADLINE, "step {step} went unnoticed");
            std::thread::sleep(Duration::from_micros(100));
        }
        // It looks at the clock, and waits on: it is set again.
        assert!(Pin::new(&mut timer).poll(&mut cx).is_pending(), "early after step {step}");
    }
    // While the clock is stepped all the time, it is ready when the clock says so, and not before.
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) == 0 {
                common::os::step_clock();
            }
        });
        let time = SystemTime::now() + 10 * SHORT;
        timer.reset(time);
        let waited = runtime.block_on(async { timeout(common::DEADLINE, &mut timer).await });
        done.store(1, Ordering::Relaxed);
        waited.expect("in time").unwrap();
        assert!(SystemTime::now() + Duration::from_micros(2) >= time);
    });
}
