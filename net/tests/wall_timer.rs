//! Timers on the wall clock. For steps of the clock see `wall_step`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windlass_net::{WallTimer, sleep_until_wall};
use windlass_runtime::Builder;
use windlass_runtime::timer::timeout;

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn it_is_ready_when_the_clock_says_so() {
    windlass_runtime::block_on(async {
        for _ in 0..10 {
            let time = SystemTime::now() + SHORT;
            sleep_until_wall(time).await.unwrap();
            assert!(SystemTime::now() >= time);
        }
    });
}

#[test]
fn past_times_are_ready_and_distant_ones_are_not() {
    windlass_runtime::block_on(async {
        for time in [UNIX_EPOCH, UNIX_EPOCH - Duration::from_secs(1), SystemTime::now()] {
            WallTimer::at(time).await.unwrap();
        }
        let year = Duration::from_secs(365 * 86_400);
        for years in [1, 100, 1_000, 100_000] {
            // Windows can't say the last of them.
            let Some(distant) = SystemTime::now().checked_add(years * year) else { continue };
            let mut timer = WallTimer::at(distant);
            assert!(timeout(SHORT, &mut timer).await.is_err());
            // And it can be used again.
            let time = SystemTime::now() + SHORT;
            timer.reset(time);
            assert_eq!(timer.time(), time);
            timer.await.unwrap();
            assert!(SystemTime::now() >= time);
        }
    });
}

#[test]
fn the_end_of_the_runtime_is_an_error_at_the_await() {
    let runtime = Builder::new().workers(1).build().unwrap();
    let mut timer = WallTimer::at(SystemTime::now() + Duration::from_secs(3600));
    {
        let _entered = runtime.enter();
        let polled = Pin::new(&mut timer).poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
    }
    drop(runtime);
    assert!(windlass_runtime::block_on(timer).is_err());
}

/// In a loop of the program's own, the timer has the loop's descriptor signalled and marks the task, no more.
#[test]
fn it_wakes_a_manual_loop() {
    let mut main_loop = Builder::new().build_manual().unwrap();
    let time = SystemTime::now() + SHORT;
    let task = main_loop.spawn_local(async move {
        WallTimer::at(time).await.unwrap();
        SystemTime::now()
    });
    let start = std::time::Instant::now();
    while !task.is_finished() {
        assert!(start.elapsed() < Duration::from_secs(60), "nobody has woken the loop");
        for runnable in main_loop.ready_tasks(Some(Duration::from_secs(60))).unwrap() {
            runnable.run();
        }
    }
    assert!(windlass_sync::block_on(task).unwrap() >= time);
}
