//! Timers and runtimes: several at once, on outside threads, in a manual loop, with all workers stuck, and
//! beyond the end.

mod util;

use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use util::{
    Count, Gate, OpenOnDrop, PATIENCE, armed_sleep, in_time, poll_once, runtime, wait_for,
    wait_until,
};
use windlass::Builder;
use windlass::timer::{Sleep, interval, sleep, timeout};

const SHORT: Duration = Duration::from_millis(2);
const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn timers_fire_while_all_workers_are_stuck() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let release = OpenOnDrop(Gate::new());
    let (busy, fired) = (Count::new(), Count::new());
    for _ in 0..2 {
        let (busy, gate, fired) = (busy.clone(), release.0.clone(), fired.clone());
        let task = runtime.spawn(async move {
            // Armed by the worker itself, which then does not come to look.
            let _nap = armed_sleep(&Waker::from(Arc::new(Counts(fired))));
            busy.add();
            gate.wait();
        });
        drop(task);
    }
    busy.wait_for(2);
    fired.wait_for(2);
    // And by somebody else.
    let start = Instant::now();
    util::within_patience("an outside thread", move || {
        runtime.block_on(sleep(SHORT));
        drop(release);
    });
    assert!(start.elapsed() >= SHORT);
}

struct Counts(Count);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.add();
    }
}

#[test]
fn two_runtimes_keep_their_own_timers() {
    let (one, two) = (runtime(1), runtime(1));
    let ticking = |_: u32| async {
        let mut ticks = interval(SHORT);
        for _ in 0..10 {
            ticks.tick().await;
        }
    };
    let tasks = [one.spawn(ticking(1)), two.spawn(ticking(2))];
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
    drop(one);
    wait_for(two.spawn(sleep(SHORT))).unwrap();
}

#[test]
fn a_timer_that_moves_between_runtimes_wakes_the_one_that_waits() {
    let (one, two) = (runtime(1), runtime(1));
    let nap = in_time(|time| {
        let nap = wait_for(one.spawn(async move {
            let mut nap = sleep(time);
            // Not to be awaited here.
            poll_once(&mut nap).is_pending().then_some(nap)
        }))
        .unwrap()?;
        (one.metrics().timers == 1).then_some(nap)
    });
    wait_for(two.spawn(nap)).unwrap();
    assert_eq!((one.metrics().timers, two.metrics().timers), (0, 0));
}

#[test]
fn a_timer_that_outlives_its_runtime_goes_on_with_another() {
    let (one, two) = (runtime(1), runtime(1));
    let (nap, deadline) = in_time(|time| {
        let deadline = Instant::now() + time;
        let nap: Option<Sleep> = wait_for(one.spawn(async move {
            let mut nap = windlass::timer::sleep_until(deadline);
            poll_once(&mut nap).is_pending().then_some(nap)
        }))
        .unwrap();
        Some((nap?, deadline))
    });
    let waiting = two.spawn(nap);
    wait_until("the nap waits", || two.metrics().timers == 1 || waiting.is_finished());
    assert!(one.shutdown(PATIENCE).is_clean());
    wait_for(waiting).unwrap();
    assert!(Instant::now() >= deadline);
}

#[test]
fn without_any_runtime_left_the_global_one_takes_over() {
    let one = runtime(1);
    let handle = one.handle().clone();
    let mut nap = {
        let _entered = one.enter();
        armed_sleep(Waker::noop())
    };
    drop(one);
    wait_for(&mut nap);
    // Also where the runtime that is gone is still the current one.
    handle.block_on(sleep(SHORT));
    handle.block_on(async { assert!(timeout(SHORT, std::future::pending::<()>()).await.is_err()) });
}

#[test]
fn a_runtime_that_ends_leaves_no_timer_and_waits_for_none() {
    let dropped = Count::new();
    let one = runtime(2);
    for _ in 0..100 {
        let guard = dropped.on_drop();
        drop(one.spawn(async move {
            sleep(HOUR).await;
            drop(guard);
        }));
    }
    wait_until("all sleep", || one.metrics().timers == 100);
    assert!(one.shutdown(PATIENCE).is_clean());
    assert_eq!(dropped.get(), 100);
}

#[test]
fn a_task_that_blocks_on_a_timer_comes_back_while_its_runtime_ends() {
    let (armed, woken) = (Gate::new(), Count::new());
    let one = runtime(1);
    let task = {
        let (armed, woken) = (armed.clone(), woken.clone());
        async move {
            let nap = armed_sleep(Waker::noop());
            armed.open();
            wait_for(nap);
            woken.add();
        }
    };
    drop(one.spawn(task));
    armed.wait();
    assert!(one.shutdown(PATIENCE).is_clean());
    assert_eq!(woken.get(), 1);
}

#[test]
fn a_drop_that_waits_with_a_time_out_comes_back_while_its_runtime_ends() {
    for virtual_time in [false, true] {
        let (started, dropped) = (Gate::new(), Count::new());
        let builder = Builder::new().workers(1);
        let builder = if virtual_time { builder.virtual_time() } else { builder };
        let one = builder.build().unwrap();
        if virtual_time {
            one.block_on(sleep(HOUR));
        }
        let cleanup = util::OnDrop({
            let dropped = dropped.clone();
            move || {
                assert!(wait_for(timeout(SHORT, std::future::pending::<()>())).is_err());
                dropped.add();
            }
        });
        let gate = started.clone();
        drop(one.spawn(async move {
            let _cleanup = cleanup;
            gate.open();
            std::future::pending::<()>().await;
        }));
        started.wait();
        assert!(one.shutdown(PATIENCE).is_clean());
        assert_eq!(dropped.get(), 1);
    }
}

/// The next runtime's clock had not jumped, and reached the deadline an hour later.
#[test]
fn a_timer_of_virtual_time_that_has_ended_goes_on_in_that_of_the_os() {
    let one = Builder::new().workers(1).virtual_time().build().unwrap();
    one.block_on(sleep(HOUR));
    let mut limited = Box::pin(timeout(SHORT, std::future::pending::<()>()));
    let nap = {
        let _entered = one.enter();
        let mut nap = sleep(SHORT);
        assert!(poll_once(&mut nap).is_pending() && poll_once(&mut limited).is_pending());
        nap
    };
    drop(one);
    wait_for(nap);
    assert!(wait_for(limited).is_err());
}

#[test]
fn a_manual_loop_waits_for_its_timers() {
    let mut tasks = Builder::new().build_manual().unwrap();
    let start = Instant::now();
    let handle = tasks.spawn_local(async {
        for _ in 0..5 {
            sleep(SHORT).await;
        }
    });
    while !handle.is_finished() {
        tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
    }
    assert!(start.elapsed() >= 5 * SHORT);
    // The program's own time-out still counts.
    let _long = tasks.spawn_local(sleep(HOUR));
    tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
    assert_eq!(tasks.ready_tasks(Some(SHORT)).unwrap().count(), 0);
}

#[test]
fn the_descriptor_of_a_manual_loop_tells_of_timers() {
    let mut tasks = Builder::new().build_manual().unwrap();
    let outer = windlass_poll::Outer::of(&tasks);
    let handle = tasks.spawn_local(async {
        for _ in 0..5 {
            sleep(SHORT).await;
        }
    });
    // Another thread's timer on the loop, armed while the program waits.
    let woken = Count::new();
    let foreign = {
        let (handle, woken) = (tasks.handle().clone(), woken.clone());
        thread::spawn(move || {
            handle.block_on(sleep(SHORT));
            woken.add();
            // The program may have looked just before, and would wait for nothing.
            drop(handle.spawn(async {}));
        })
    };
    while !(handle.is_finished() && woken.get() == 1) {
        outer.wait(PATIENCE);
        tasks.ready_tasks(Some(Duration::ZERO)).unwrap().for_each(windlass::manual::Runnable::run);
    }
    foreign.join().unwrap();
}

/// A main loop of somebody else.
#[cfg(unix)]
mod windlass_poll {
    use std::os::fd::AsRawFd;
    use std::time::Duration;

    pub(crate) struct Outer(i32);

    impl Outer {
        pub(crate) fn of(tasks: &impl AsRawFd) -> Self {
            Self(tasks.as_raw_fd())
        }

        pub(crate) fn wait(&self, patience: Duration) {
            let mut poll = libc::pollfd { fd: self.0, events: libc::POLLIN, revents: 0 };
            // SAFETY: one entry, which outlives the call.
            let ready = unsafe { libc::poll(&raw mut poll, 1, patience.as_millis() as i32) };
            assert_eq!(ready, 1, "the descriptor was never readable");
        }
    }
}

/// A main loop of somebody else.
#[cfg(windows)]
mod windlass_poll {
    use std::os::windows::io::{AsRawHandle, RawHandle};
    use std::time::Duration;

    use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
    use windows_sys::Win32::System::Threading::WaitForSingleObject;

    pub(crate) struct Outer(RawHandle);

    impl Outer {
        pub(crate) fn of(tasks: &impl AsRawHandle) -> Self {
            Self(tasks.as_raw_handle())
        }

        pub(crate) fn wait(&self, patience: Duration) {
            // SAFETY: the handle is the loop's, which outlives the test.
            let woken = unsafe { WaitForSingleObject(self.0, patience.as_millis() as u32) };
            assert_eq!(woken, WAIT_OBJECT_0, "the handle was never signalled");
        }
    }
}

#[test]
fn many_outside_threads_sleep_at_once() {
    let runtime = runtime(2);
    thread::scope(|scope| {
        for number in 0..8_u64 {
            let handle = runtime.handle().clone();
            scope.spawn(move || {
                for nap in 0..50 {
                    let time = Duration::from_micros(100 + (number * 50 + nap) * 7 % 900);
                    let start = Instant::now();
                    handle.block_on(sleep(time));
                    assert!(start.elapsed() >= time);
                }
            });
        }
    });
}

#[test]
fn a_poll_on_the_executor_of_somebody_else_works_once_there_is_a_runtime() {
    let _runtime = runtime(1);
    // Not entered: the timers belong to the global one.
    wait_for(sleep(SHORT));
    assert!(matches!(poll_once(&mut sleep(Duration::ZERO)), Poll::Ready(())));
}

/// A sleep in `block_on` was as late as the thread's timer slack, 50 µs by default. It is set to next to nothing for the
/// wait, and must be the program's own again afterwards.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_in_block_on_gets_its_timer_slack_back() {
    use std::fs;

    let thread = fs::read_link("/proc/thread-self").expect("this is Linux");
    let slack = format!("/proc/{}/timerslack_ns", thread.file_name().unwrap().to_str().unwrap());
    let read = || fs::read_to_string(&slack).unwrap();
    if fs::write(&slack, "70000").is_err() {
        return println!("SKIPPED: the timer slack can't be set here");
    }
    windlass::block_on(sleep(Duration::from_millis(1)));
    assert_eq!(read(), "70000\n");
}
