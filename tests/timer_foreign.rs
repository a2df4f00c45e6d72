//! Timers on the executor of another library, in a process that has never heard of a windlass runtime: whichever
//! of these tests comes first starts the global one. Nothing here may start it by other means.

mod util;

use std::future::pending;
use std::time::{Duration, Instant};

use util::{poll_once, wait_for};
use windlass::timer::{FutureExt, Timer, interval, sleep, sleep_until, timeout, timeout_at};

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn a_sleep_starts_the_global_runtime() {
    let start = Instant::now();
    wait_for(sleep(SHORT));
    assert!(start.elapsed() >= SHORT);
    wait_for(sleep_until(start + 2 * SHORT));
    assert!(start.elapsed() >= 2 * SHORT);
}

#[test]
fn a_time_out_starts_the_global_runtime() {
    assert!(wait_for(timeout(SHORT, pending::<()>())).is_err());
    assert!(wait_for(timeout_at(Instant::now() + SHORT, pending::<()>())).is_err());
    assert!(wait_for(pending::<()>().timeout(SHORT)).is_err());
}

#[test]
fn a_timer_starts_the_global_runtime() {
    wait_for(async {
        let mut timer = Timer::new(SHORT);
        (&mut timer).await;
        (&mut timer).await;
    });
}

#[test]
fn an_interval_starts_the_global_runtime() {
    wait_for(async {
        let mut ticks = interval(SHORT);
        for _ in 0..3 {
            ticks.tick().await;
        }
    });
}

#[test]
fn a_timer_made_on_one_thread_is_polled_on_another() {
    let mut nap = sleep(SHORT);
    std::thread::spawn(move || {
        let _ = poll_once(&mut nap);
        wait_for(nap);
    })
    .join()
    .unwrap();
}
