//! The hot paths, each a program that does the same thing a given number of times, and nothing else that grows with it.
//!
//! Most run on a runtime of one worker, because what its loop does belongs to the path. What several
//! threads would have to do together (readiness, wake-ups and spawns from outside) runs on a manual
//! loop, where one thread does it all in an order that is the same each time. Both detach
//! the thread from the kernel's clock.

use std::future::{poll_fn, ready};
use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use windlass::manual::Loop;
use windlass::net::Async;
use windlass::sync::AutoResetEvent;
use windlass::{Builder, Handle};

use crate::baton::Baton;
use crate::clock;

pub(crate) struct Path {
    /// As written on the command line and in baselines.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// How often it is done, so that the count is sharp.
    pub(crate) times: usize,
    pub(crate) run: fn(usize),
}

static OBSERVED: AtomicBool = AtomicBool::new(true);

/// The runtimes that are built from now on observe nothing.
pub(crate) fn observe_nothing() {
    OBSERVED.store(false, Ordering::Relaxed);
}

pub(crate) const PATHS: &[Path] = &[
    Path {
        name: "spawn",
        about: "spawn a task on a worker, run it, await it",
        times: 40_000,
        run: spawn,
    },
    Path {
        name: "spawn_outside",
        about: "spawn from another thread, run it",
        times: 20_000,
        run: spawn_outside,
    },
    Path {
        name: "yield",
        about: "yield, with another task in the queue",
        times: 80_000,
        run: yielding,
    },
    Path {
        name: "wake",
        about: "wake another task of the worker, and wait",
        times: 40_000,
        run: wake,
    },
    Path {
        name: "wake_outside",
        about: "wake from another thread, and poll",
        times: 20_000,
        run: wake_outside,
    },
    Path { name: "join", about: "a join that nobody steals from", times: 200_000, run: join },
    Path { name: "scope_spawn", about: "a job of a scope", times: 40_000, run: scope_spawn },
    Path { name: "timer", about: "arm a timer, and cancel it", times: 40_000, run: timer },
    Path {
        name: "timeout_ready",
        about: "a time-out around something ready",
        times: 200_000,
        run: timeout_ready,
    },
    Path {
        name: "event",
        about: "set an event and wait on another, from task to task",
        times: 40_000,
        run: event,
    },
    Path {
        name: "event_kept",
        about: "set an event, and take the signal",
        times: 200_000,
        run: event_kept,
    },
    Path {
        name: "source",
        about: "readiness of a socket: dispatch, wake, poll, read",
        times: 10_000,
        run: source,
    },
    Path {
        name: "source_ready",
        about: "a read that need not wait",
        times: 20_000,
        run: source_ready,
    },
];

fn builder() -> Builder {
    Builder::new().observe(OBSERVED.load(Ordering::Relaxed))
}

/// Runs a task on a runtime with one worker, whose clock is detached.
fn on_a_worker<F>(task: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = builder().workers(1).build().expect("a runtime");
    let task = runtime.spawn(async {
        clock::detach();
        task.await;
    });
    runtime.block_on(task).expect("it ends well");
}

/// Two tasks beside each other on the one worker.
async fn both<A, B>(a: A, b: B)
where
    A: Future<Output = ()> + Send + 'static,
    B: Future<Output = ()> + Send + 'static,
{
    let (a, b) = (windlass::spawn(a), windlass::spawn(b));
    a.await.expect("it ends well");
    b.await.expect("it ends well");
}

/// Tasks spawned, or woken, or readable at a time.
const BATCH: usize = 50;

fn spawn(times: usize) {
    on_a_worker(async move {
        let mut handles = Vec::with_capacity(BATCH);
        for _ in 0..times / BATCH {
            handles.extend((0..BATCH).map(|number| windlass::spawn(ready(number))));
            for handle in handles.drain(..) {
                black_box(handle.await.expect("it ends well"));
            }
        }
    });
}

fn yielding(times: usize) {
    async fn half(times: usize) {
        for _ in 0..times / 2 {
            windlass::yield_now().await;
        }
    }
    on_a_worker(both(half(times), half(times)));
}

fn wake(times: usize) {
    async fn half(baton: Arc<Baton>, own: usize, other: usize, times: usize) {
        for _ in 0..times / 2 {
            baton.held_by(own).await;
            baton.pass_to(other);
        }
    }
    let baton = Arc::new(Baton::new(2));
    baton.pass_to(0);
    on_a_worker(both(half(baton.clone(), 0, 1, times), half(baton, 1, 0, times)));
}

fn join(times: usize) {
    /// This many joins, as a balanced tree.
    fn tree(joins: usize) {
        if joins > 0 {
            let left = (joins - 1) / 2;
            windlass::join(|| tree(left), || tree(joins - 1 - left));
        }
    }
    on_a_worker(async move {
        windlass::compute(move || tree(black_box(times))).await.expect("it ends well");
    });
}

fn scope_spawn(times: usize) {
    on_a_worker(async move {
        for _ in 0..times / BATCH {
            windlass::scope(|scope| {
                for number in 0..BATCH {
                    scope.spawn(move |_| {
                        black_box(number);
                    });
                }
            });
        }
    });
}

const MINUTE: Duration = Duration::from_secs(60);

fn timer(times: usize) {
    on_a_worker(async move {
        for _ in 0..times {
            let mut sleep = pin!(windlass::timer::sleep(MINUTE));
            poll_fn(|context| {
                assert!(sleep.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
        }
    });
}

fn timeout_ready(times: usize) {
    on_a_worker(async move {
        for number in 0..times {
            let output = windlass::timer::timeout(MINUTE, ready(black_box(number))).await;
            black_box(output.expect("it was in time"));
        }
    });
}

fn event(times: usize) {
    async fn half(events: Arc<[AutoResetEvent; 2]>, own: usize, times: usize) {
        for _ in 0..times / 2 {
            events[own].wait().await;
            events[1 - own].set();
        }
    }
    let events = Arc::new([AutoResetEvent::new(true), AutoResetEvent::new(false)]);
    on_a_worker(both(half(events.clone(), 0, times), half(events, 1, times)));
}

fn event_kept(times: usize) {
    on_a_worker(async move {
        let event = AutoResetEvent::new(false);
        for _ in 0..times {
            event.set();
            event.wait().await;
        }
    });
}

/// A manual loop, on a thread whose clock is detached.
fn manual_loop() -> Loop {
    clock::detach();
    builder().build_manual().expect("a manual loop")
}

/// Runs what is ready.
fn turn(tasks: &mut Loop) {
    for runnable in tasks.ready_tasks(Some(Duration::ZERO)).expect("the OS can be asked") {
        runnable.run();
    }
}

/// What another thread would do: this one is in no runtime here.
fn spawn_outside(times: usize) {
    let mut tasks = manual_loop();
    let handle: Handle = tasks.handle().clone();
    for _ in 0..times / BATCH {
        for number in 0..BATCH {
            drop(handle.spawn(async move { black_box(number) }));
        }
        turn(&mut tasks);
    }
}

fn wake_outside(times: usize) {
    let mut tasks = manual_loop();
    let batons: Vec<Arc<Baton>> = (0..BATCH).map(|_| Arc::new(Baton::new(1))).collect();
    for baton in &batons {
        let baton = Arc::clone(baton);
        drop(tasks.spawn_local(async move {
            loop {
                baton.held_by(0).await;
            }
        }));
    }
    turn(&mut tasks);
    for _ in 0..times / BATCH {
        batons.iter().for_each(|baton| baton.pass_to(0));
        turn(&mut tasks);
    }
}

fn source(times: usize) {
    let mut tasks = manual_loop();
    let mut writers = Vec::with_capacity(BATCH);
    for _ in 0..BATCH {
        let (reader, writer) = UnixStream::pair().expect("a pair of sockets");
        let reader = {
            let _entered = tasks.handle().enter();
            Async::new(reader).expect("a socket can be waited for")
        };
        writers.push(writer);
        drop(tasks.spawn_local(async move {
            let mut byte = [0];
            loop {
                let read = reader.read_with(|mut stream| stream.read(&mut byte)).await;
                assert!(read.is_ok_and(|count| count == 1));
            }
        }));
    }
    turn(&mut tasks);
    for _ in 0..times / BATCH {
        for writer in &mut writers {
            writer.write_all(&[1]).expect("there is room for a byte");
        }
        turn(&mut tasks);
    }
}

/// A socket of which there is always something to read.
fn source_ready(times: usize) {
    on_a_worker(async move {
        let (reader, mut writer) = UnixStream::pair().expect("a pair of sockets");
        let reader = Async::new(reader).expect("a socket can be waited for");
        let mut byte = [0];
        for number in 0..times {
            if number % BATCH == 0 {
                writer.write_all(&[7; BATCH]).expect("there is room");
            }
            let read = reader.read_with(|mut stream| stream.read(&mut byte)).await;
            assert!(read.is_ok_and(|count| count == 1));
        }
    });
}
