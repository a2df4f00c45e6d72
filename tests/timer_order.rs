//! Timers with equal deadlines fire in the order in which they were armed, however many there are and whoever fires
//! them; and a waker that blocks does not hold up the others.

mod util;

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use util::{Count, Gate, in_time, poll_once, runtime, wait_for, wait_until, within_patience};
use windlass::timer::{Sleep, now, sleep, sleep_until, test};
use windlass::{Builder, Runtime};

const SHORT: Duration = Duration::from_millis(2);
const HOUR: Duration = Duration::from_secs(3600);

/// Numbers, in the order in which they were noted.
type Log = Arc<Mutex<Vec<usize>>>;

/// Notes its number when it is woken.
struct Note(usize, Log);

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

/// Arms this many timers for one time, on the current runtime. `None` if that took until the time had come.
fn arm(count: usize, deadline: Instant, log: &Log) -> Option<Vec<Sleep>> {
    let mut naps: Vec<_> = (0..count).map(|_| sleep_until(deadline)).collect();
    let in_time = naps.iter_mut().enumerate().all(|(number, nap)| {
        let waker = Waker::from(Arc::new(Note(number, log.clone())));
        Pin::new(nap).poll(&mut Context::from_waker(&waker)).is_pending()
    });
    in_time.then_some(naps)
}

fn assert_order(count: usize, log: &Log) {
    wait_until("all fire", || log.lock().unwrap().len() == count);
    assert_eq!(*log.lock().unwrap(), (0..count).collect::<Vec<_>>());
}

#[test]
fn equal_deadlines_of_an_outside_thread() {
    // In a runtime whose workers have never heard of timers, and in one where a worker waits for them.
    for (count, is_used) in [(1_000, false), (1_000, true), (10_000, false), (10_000, true)] {
        let runtime = runtime(2);
        if is_used {
            drop(runtime.spawn(sleep(HOUR)));
            wait_until("it sleeps", || runtime.metrics().timers == 1);
        }
        let _entered = runtime.enter();
        let (log, _naps) = in_time(|time| {
            let log = Log::default();
            let naps = arm(count, Instant::now() + time, &log)?;
            Some((log, naps))
        });
        assert_order(count, &log);
    }
}

#[test]
fn equal_deadlines_of_a_worker() {
    for count in [1_000, 10_000] {
        let runtime = runtime(2);
        let (log, _naps) = in_time(|time| {
            let log = Log::default();
            let inner = log.clone();
            let naps = async move { arm(count, Instant::now() + time, &inner) };
            let naps = wait_for(runtime.spawn(naps)).unwrap()?;
            Some((log, naps))
        });
        assert_order(count, &log);
    }
}

#[test]
fn equal_deadlines_in_virtual_time() {
    let runtime = Builder::new().workers(2).virtual_time().build().unwrap();
    let log = Log::default();
    // The time stands still meanwhile.
    runtime.block_on(async {
        let _naps = arm(10_000, test::now() + HOUR, &log).expect("the time stands still");
        test::advance(HOUR);
        assert_order(10_000, &log);
    });
}

#[test]
fn tasks_with_equal_deadlines_run_in_the_order_of_arming() {
    const TASKS: usize = 1_000;
    let (armed, ran) = in_time(|time| {
        let mut tasks = Builder::new().build_manual().unwrap();
        let (armed, ran) = (Log::default(), Log::default());
        let deadline = Instant::now() + time;
        for number in 0..TASKS {
            let (armed, ran) = (armed.clone(), ran.clone());
            drop(tasks.spawn_local(async move {
                armed.lock().unwrap().push(number);
                sleep_until(deadline).await;
                ran.lock().unwrap().push(number);
            }));
        }
        let mut all_armed = None;
        while ran.lock().unwrap().len() < TASKS {
            tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
            if all_armed.is_none() && armed.lock().unwrap().len() == TASKS {
                all_armed = Some(Instant::now());
            }
        }
        (all_armed? < deadline).then_some((armed, ran))
    });
    assert_eq!(*ran.lock().unwrap(), *armed.lock().unwrap());
}

/// Runs a closure when it is woken.
struct Call<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Call<F> {
    fn wake(self: Arc<Self>) {
        self.0();
    }
}

/// Polls with a waker that calls `f`. False if the time has come already.
fn poll_with(nap: &mut Sleep, f: impl Fn() + Send + Sync + 'static) -> bool {
    let waker = Waker::from(Arc::new(Call(f)));
    Pin::new(nap).poll(&mut Context::from_waker(&waker)).is_pending()
}

/// Returns a timer that is armed, on the current runtime, with a waker that calls `f`.
fn armed(f: impl Fn() + Clone + Send + Sync + 'static) -> Sleep {
    in_time(|time| {
        let mut nap = sleep(time);
        poll_with(&mut nap, f.clone()).then_some(nap)
    })
}

/// A runtime with one worker, which waits for timers.
fn used() -> Runtime {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    drop(runtime.spawn(sleep(HOUR)));
    wait_until("it sleeps", || runtime.metrics().timers == 1);
    runtime
}

#[test]
fn a_waker_that_blocks_does_not_stop_the_timers_of_its_shard() {
    let runtime = used();
    let _entered = runtime.enter();
    let (woken, mut naps) = in_time(|time| {
        let (gate, woken) = (Gate::new(), Count::new());
        let deadline = Instant::now() + time;
        let mut naps = [sleep_until(deadline), sleep_until(deadline)];
        let (blocks, inner) = (gate.clone(), woken.clone());
        let first = poll_with(&mut naps[0], move || {
            blocks.wait();
            inner.add();
        });
        // The first can't go on before this one has come.
        let opener = gate.clone();
        if first && poll_with(&mut naps[1], move || opener.open()) {
            return Some((woken, naps));
        }
        gate.open();
        None
    });
    woken.wait_for(1);
    assert!(naps.iter_mut().all(|nap| poll_once(nap).is_ready()));
}

#[test]
fn a_waker_may_wait_for_a_timer() {
    let runtime = used();
    let _entered = runtime.enter();
    let (handle, woken) = (runtime.handle().clone(), Count::new());
    let inner = woken.clone();
    let _nap = armed(move || {
        // On a thread of its own, which this one waits for.
        let handle = handle.clone();
        within_patience("a nap", move || handle.block_on(sleep(SHORT)));
        inner.add();
    });
    woken.wait_for(1);
}

/// A runtime whose only worker is held up until the gate is opened: another thread fires.
fn held_up() -> (Runtime, Gate) {
    let runtime = used();
    let (gate, begun) = (Gate::new(), Count::new());
    let (closed, inner) = (gate.clone(), begun.clone());
    drop(runtime.spawn(async move {
        inner.add();
        closed.wait();
    }));
    begun.wait_for(1);
    (runtime, gate)
}

#[test]
fn a_waker_finds_its_runtime_wherever_it_is_called() {
    let (runtime, gate) = held_up();
    let _entered = runtime.enter();
    let woken = Count::new();
    let inner = woken.clone();
    let _nap = armed(move || {
        let spawned = inner.clone();
        drop(windlass::spawn(async move { spawned.add() }));
        inner.add();
    });
    woken.wait_for(1);
    assert_eq!(runtime.metrics().tasks_spawned, 3, "it was spawned elsewhere");
    gate.open();
    woken.wait_for(2);
}

#[test]
fn a_waker_that_computes_does_not_wait_for_workers_that_are_stuck() {
    let (runtime, gate) = held_up();
    let _entered = runtime.enter();
    let sum = Count::new();
    let inner = sum.clone();
    let _nap = armed(move || {
        let (one, two) = windlass::join(|| 1, || 2);
        let mut scoped = 0;
        windlass::scope(|scope| scope.spawn(|_| scoped += 3));
        for _ in 0..one + two + scoped {
            inner.add();
        }
    });
    sum.wait_for(6);
    gate.open();
}

#[test]
fn a_waker_may_not_block_the_thread_that_calls_it() {
    let (runtime, gate) = held_up();
    let _entered = runtime.enter();
    let refused = Count::new();
    let inner = refused.clone();
    let _nap = armed(move || {
        let blocks = || windlass::block_on(async {});
        if std::panic::catch_unwind(blocks).is_err() {
            inner.add();
        }
    });
    refused.wait_for(1);
    gate.open();
}

#[test]
fn virtual_time_does_not_pass_over_what_another_thread_wakes() {
    const SECOND: Duration = Duration::from_secs(1);
    // What takes longer is taken over by others after 100 ms, and time goes on then.
    const IN_TIME: Duration = Duration::from_millis(50);
    for _ in 0..100 {
        let runtime = Builder::new().workers(1).virtual_time().build().unwrap();
        let _entered = runtime.enter();
        // Until the waker is called, the runtime has something to do. Then there is a deadline to jump to.
        let busy = Gate::new();
        let still_busy = busy.clone();
        drop(runtime.spawn_blocking(move || still_busy.wait()));
        drop(runtime.spawn(sleep(HOUR)));
        wait_until("it sleeps", || runtime.metrics().timers == 1);
        let start = now();
        let (mut nap, seen) = (sleep(SECOND), Arc::new(Mutex::new(None)));
        let inner = seen.clone();
        let armed = poll_with(&mut nap, move || {
            busy.open();
            let began = Instant::now();
            while began.elapsed() < IN_TIME / 2 && now() == start + SECOND {
                thread::yield_now();
            }
            *inner.lock().unwrap() = Some((now(), began.elapsed()));
        });
        assert!(armed, "the time stands still");
        test::advance(SECOND);
        let (time, took) = seen.lock().unwrap().take().expect("it was woken here");
        if took < IN_TIME {
            assert_eq!(time, start + SECOND);
            return;
        }
    }
    panic!("never in time");
}
