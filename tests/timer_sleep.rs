//! Sleeps, timers, intervals and time-outs, as a program sees them.

mod util;

use std::future::{Future, pending, poll_fn, ready};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use util::{Count, in_time, poll_once, runtime, wait_for, within_patience};
use windlass::timer::{
    Elapsed, FutureExt, MissedTick, Timer, interval, interval_at, sleep, sleep_until, timeout,
    timeout_at,
};

const SHORT: Duration = Duration::from_millis(2);
const HOUR: Duration = Duration::from_secs(3600);

/// Runs a future twice: as a task of a worker, and on an outside thread.
fn everywhere<F>(make: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = runtime(2);
    wait_for(runtime.spawn(make())).unwrap();
    let future = make();
    within_patience("an outside thread", move || runtime.block_on(future));
}

#[test]
fn a_sleep_is_never_early() {
    let runtime = runtime(2);
    let tasks: Vec<_> = (0..500_u64)
        .map(|number| {
            runtime.spawn(async move {
                let time = Duration::from_micros(number * 37 % 20_000);
                let start = Instant::now();
                sleep(time).await;
                assert!(start.elapsed() >= time, "{:?} of {time:?}", start.elapsed());
            })
        })
        .collect();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
}

#[test]
fn zero_and_past_deadlines_are_ready_at_the_first_poll() {
    everywhere(|| async {
        let mut zero = sleep(Duration::ZERO);
        let mut past = sleep_until(Instant::now().checked_sub(SHORT).unwrap());
        poll_fn(|cx| {
            assert!(Pin::new(&mut zero).poll(cx).is_ready());
            assert!(Pin::new(&mut past).poll(cx).is_ready());
            // And again.
            assert!(Pin::new(&mut past).poll(cx).is_ready());
            Poll::Ready(())
        })
        .await;
        assert!(!zero.is_armed() && !past.is_armed());
    });
}

#[test]
fn endless_and_very_long_times_are_ordinary_values() {
    everywhere(|| async {
        for time in [
            Duration::MAX,
            Duration::from_secs(u64::MAX / 1_000),
            Duration::from_secs(600 * 365 * 86_400),
            Duration::from_secs(25 * 86_400),
            Duration::from_millis(u64::from(u32::MAX)),
        ] {
            let mut long = sleep(time);
            assert!(poll_once(&mut long).is_pending(), "{time:?}");
            assert!(long.is_armed());
            assert_eq!(timeout(SHORT, long).await, Err(elapsed().await));
            assert_eq!(timeout(time, ready(1)).await, Ok(1));
        }
        assert_eq!(sleep(Duration::MAX).deadline(), None);
        let mut ticks = interval(Duration::MAX);
        ticks.tick().await;
        assert!(timeout(SHORT, ticks.tick()).await.is_err());
    });
}

async fn elapsed() -> Elapsed {
    timeout(Duration::ZERO, pending::<()>()).await.unwrap_err()
}

#[test]
fn a_timer_is_armed_by_each_wait_and_disarmed_by_its_drop() {
    everywhere(|| async {
        let mut timer = Timer::new(SHORT);
        for _ in 0..5 {
            let start = Instant::now();
            (&mut timer).await;
            assert!(start.elapsed() >= SHORT);
        }
        let mut timer = Timer::new(HOUR);
        let mut wait = timer.wait();
        assert!(!wait.is_armed());
        assert!(poll_once(&mut wait).is_pending());
        assert!(wait.is_armed());
        drop(wait);
        timer.set_duration(SHORT);
        (&mut timer).await;
        timer.wait_until(Instant::now()).await;
        assert_eq!(timer.duration(), SHORT);
    });
}

#[test]
fn a_reset_moves_an_armed_sleep_without_a_poll() {
    everywhere(|| async {
        // Earlier, later, after the end, and to and fro.
        let mut nap = sleep(HOUR);
        assert!(poll_once(&mut nap).is_pending());
        nap.reset(Instant::now() + SHORT);
        (&mut nap).await;
        let later = in_time(|time| {
            nap.reset(Instant::now() + time);
            let later = Instant::now() + 2 * time;
            poll_once(&mut nap).is_pending().then_some(later)
        });
        nap.reset(later);
        (&mut nap).await;
        assert!(Instant::now() >= later);
        for _ in 0..1_000 {
            nap.reset(Instant::now() + HOUR);
            assert!(poll_once(&mut nap).is_pending());
            nap.reset(Instant::now());
        }
        nap.await;
    });
}

/// The one who resets it may be the one who polls it, in the same breath.
#[test]
fn an_armed_sleep_that_is_reset_to_now_or_the_past_is_ready_at_its_next_poll() {
    everywhere(|| async {
        let now_and_past = [Instant::now, || Instant::now().checked_sub(SHORT).unwrap()];
        for moment in now_and_past {
            let mut nap = sleep(HOUR);
            let mut ticks = interval_at(Instant::now() + HOUR, HOUR);
            for _ in 0..50 {
                nap.reset(Instant::now() + HOUR);
                assert!(poll_once(&mut nap).is_pending());
                nap.reset(moment());
                assert!(poll_once(&mut nap).is_ready());
                assert!(!nap.is_armed());

                assert!(poll_once(&mut Box::pin(ticks.tick())).is_pending());
                let due = moment();
                ticks.reset_at(due);
                assert_eq!(poll_once(&mut Box::pin(ticks.tick())), Poll::Ready(due));
                // Not to be held up by the budget, which is spent by each of these.
                windlass::yield_now().await;
            }
        }
    });
}

#[test]
fn a_loop_of_sleeps_that_are_armed_and_reset_to_now_gives_way() {
    let runtime = runtime(1);
    let busy = runtime.spawn(async {
        let mut nap = sleep(HOUR);
        loop {
            nap.reset(Instant::now() + HOUR);
            assert!(poll_once(&mut nap).is_pending());
            nap.reset(Instant::now());
            (&mut nap).await;
        }
    });
    wait_for(runtime.spawn(async {})).unwrap();
    busy.abort();
    assert!(wait_for(busy).unwrap_err().is_cancelled());
}

#[test]
fn the_waker_of_the_last_poll_is_the_one_that_is_woken() {
    let runtime = runtime(1);
    let _entered = runtime.enter();
    let (old, new, mut nap) = in_time(|time| {
        let (old, new, mut nap) = (Count::new(), Count::new(), sleep(time));
        let both = [&old, &new].map(|count| poll_with(&mut nap, count).is_pending());
        (both == [true, true]).then_some((old, new, nap))
    });
    new.wait_for(1);
    assert_eq!(old.get(), 0);
    assert!(poll_once(&mut nap).is_ready());
}

fn poll_with<F: Future + Unpin>(future: &mut F, count: &Count) -> Poll<F::Output> {
    struct Counts(Count);
    impl std::task::Wake for Counts {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.add();
        }
    }
    let waker = Waker::from(std::sync::Arc::new(Counts(count.clone())));
    Pin::new(future).poll(&mut Context::from_waker(&waker))
}

#[test]
fn intervals_tick_on_time_and_treat_missed_ticks_as_told() {
    everywhere(|| async {
        let start = Instant::now();
        let mut ticks = interval_at(start, SHORT);
        for number in 0..10 {
            assert_eq!(ticks.tick().await, start + number * SHORT);
        }
        assert!(Instant::now() >= start + 9 * SHORT);
        for (missed, ready) in
            [(MissedTick::Burst, 5), (MissedTick::Skip, 1), (MissedTick::Delay, 1)]
        {
            // Asked four periods and a half too late.
            let period = Duration::from_secs(60);
            let start = Instant::now().checked_sub(period * 9 / 2).unwrap();
            let mut ticks = interval_at(start, period);
            ticks.set_missed_tick(missed);
            for _ in 0..ready {
                assert!(timeout(Duration::ZERO, ticks.tick()).await.is_ok(), "{missed:?}");
            }
            assert!(timeout(Duration::ZERO, ticks.tick()).await.is_err(), "{missed:?}");
        }
        let mut late = interval_at(Instant::now().checked_sub(3 * SHORT).unwrap(), SHORT);
        for _ in 0..3 {
            // What was missed is made up for.
            assert!(timeout(Duration::ZERO, late.tick()).await.is_ok());
        }
    });
}

#[test]
fn a_dropped_tick_is_not_lost() {
    everywhere(|| async {
        let start = Instant::now();
        let mut ticks = interval_at(start + SHORT, SHORT);
        for _ in 0..3 {
            let mut tick = Box::pin(ticks.tick());
            let _ = poll_once(&mut tick);
            drop(tick);
        }
        let next = ticks.tick().await;
        assert_eq!((next - start).as_nanos() % SHORT.as_nanos(), 0);
    });
}

#[test]
fn a_time_out_prefers_the_future_and_drops_it_when_the_time_is_over() {
    everywhere(|| async {
        assert_eq!(timeout(Duration::ZERO, ready(7)).await, Ok(7));
        assert_eq!(timeout_at(Instant::now(), ready(7)).await, Ok(7));
        let dropped = Count::new();
        let guard = dropped.on_drop();
        let forever = async move {
            pending::<()>().await;
            drop(guard);
        };
        assert!(forever.timeout(SHORT).await.is_err());
        assert_eq!(dropped.get(), 1);
        let error = io::Error::from(elapsed().await);
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains("time"));
        // Nested, the inner one first.
        let inner = timeout(SHORT, pending::<()>());
        assert_eq!(timeout(HOUR, inner).await.map(|result| result.is_err()), Ok(true));
        assert!(pending::<()>().timeout_at(Instant::now() + SHORT).await.is_err());
        assert_eq!(ready(3).timeout(HOUR).into_inner().await, 3);
    });
}

#[test]
fn the_time_of_a_time_out_runs_from_its_first_poll() {
    everywhere(|| async {
        let late = timeout(3 * SHORT, sleep(Duration::ZERO));
        sleep(4 * SHORT).await;
        assert!(late.await.is_ok());
        let start = Instant::now();
        assert!(timeout(SHORT, pending::<()>()).await.is_err());
        assert!(start.elapsed() >= SHORT);
    });
}

#[test]
fn racing_sleeps_end_with_the_shorter_one() {
    everywhere(|| async {
        for _ in 0..50 {
            let (mut short, mut long) = (sleep(Duration::from_micros(300)), sleep(HOUR));
            let first = poll_fn(|cx| {
                if Pin::new(&mut long).poll(cx).is_ready() {
                    return Poll::Ready("long");
                }
                Pin::new(&mut short).poll(cx).map(|()| "short")
            })
            .await;
            assert_eq!(first, "short");
        }
    });
}

#[test]
fn equal_deadlines_wake_in_the_order_of_arming() {
    let runtime = runtime(1);
    let order = in_time(|time| {
        let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let shared = order.clone();
        let task = runtime.spawn(async move {
            let deadline = Instant::now() + time;
            let mut naps: Vec<_> = (0..100).map(|_| sleep_until(deadline)).collect();
            for (number, nap) in naps.iter_mut().enumerate() {
                let order = shared.clone();
                struct Note(usize, std::sync::Arc<std::sync::Mutex<Vec<usize>>>);
                impl std::task::Wake for Note {
                    fn wake(self: std::sync::Arc<Self>) {
                        self.1.lock().unwrap().push(self.0);
                    }
                }
                let waker = Waker::from(std::sync::Arc::new(Note(number, order)));
                if Pin::new(nap).poll(&mut Context::from_waker(&waker)).is_ready() {
                    return false;
                }
            }
            sleep_until(deadline).await;
            while shared.lock().unwrap().len() < 100 {
                windlass::yield_now().await;
            }
            true
        });
        wait_for(task).unwrap().then_some(order)
    });
    assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
}

#[test]
fn a_loop_of_ready_sleeps_gives_way() {
    let runtime = runtime(1);
    let busy = runtime.spawn(async {
        loop {
            sleep(Duration::ZERO).await;
        }
    });
    wait_for(runtime.spawn(async {})).unwrap();
    busy.abort();
    assert!(wait_for(busy).unwrap_err().is_cancelled());
}

/// What is polled before a timer uses up the budget in each poll of the task.
#[test]
fn a_timer_ends_what_never_has_to_wait() {
    everywhere(|| async {
        async fn busy() {
            loop {
                windlass::task::consume_budget().await;
            }
        }
        for time in [SHORT, Duration::ZERO] {
            assert!(timeout(time, busy()).await.is_err());
            assert!(timeout_at(Instant::now() + time, busy()).await.is_err());
            futures_lite::future::or(busy(), sleep(time)).await;
            let mut ticks = interval_at(Instant::now() + time, HOUR);
            futures_lite::future::or(busy(), async { _ = ticks.tick().await }).await;
        }
    });
}

#[test]
fn cancelling_at_every_await_leaves_nothing_armed() {
    let runtime = runtime(2);
    for polls in 0..4 {
        let task = runtime.spawn(async move {
            let mut work = pin!(async {
                sleep(Duration::from_micros(50)).await;
                timeout(HOUR, sleep(Duration::from_micros(50))).await.unwrap();
                (&mut Timer::new(HOUR)).await;
            });
            let mut left = polls;
            poll_fn(move |cx| {
                if left == 0 {
                    return Poll::Ready(());
                }
                left -= 1;
                let _ = work.as_mut().poll(cx);
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        });
        wait_for(task).unwrap();
    }
    assert_eq!(runtime.metrics().timers, 0);
}
