//! A whole pool, which is too large for loom: three workers, a spare, the poller's thread, threads outside that spawn,
//! wake and write, computations, and the end. Run by `scripts/seeded`, on a scheduler that random numbers drive; see
//! `windlass_sync::primitives::seeded` for what that finds, and what it does not.
#![cfg(windlass_seeded)]

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use windlass_runtime::model::{Pipe, Pool, Reader};
use windlass_sync::primitives::seeded::check;
use windlass_sync::primitives::thread::{self, JoinHandle};
use windlass_sync::{ManualResetEvent, Parker, block_on};

const WORKERS: usize = 3;

/// Counts the drops of what tasks own.
#[derive(Clone, Default)]
struct Owned(Arc<AtomicUsize>);

impl Owned {
    fn one(&self) -> One {
        One(self.0.clone())
    }

    fn dropped(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

struct One(Arc<AtomicUsize>);

impl Drop for One {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Starts the workers of a pool, and its poller's thread.
fn start(pool: &Pool) -> Vec<JoinHandle<()>> {
    pool.start_poller();
    let slots = [(); WORKERS];
    let slots = slots.iter().enumerate().map(|(index, ())| pool.occupy(index));
    slots.map(|slot| thread::spawn(move || slot.work())).collect()
}

/// Shuts the pool down, and waits until all workers have left.
fn end(pool: &Pool, workers: Vec<JoinHandle<()>>) {
    pool.shut_down();
    for worker in workers {
        worker.join().unwrap();
    }
    assert!(pool.is_over());
}

/// Is pending once, and wakes its task itself.
async fn yield_once() {
    let mut again = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut again, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Property: what is spawned, woken, written and computed at the same time by three workers and three threads outside
/// comes to its end, and then the pool does.
///
/// Seen to fail with: a worker that announces its sleep and does not look once more (`look_once_more`); a `push` that
/// wakes nobody; a seat that is left without waking the next (`left`); a `kick_seat` that does nothing.
#[test]
fn everything_ends() {
    check(4000, || {
        let owned = Owned::default();
        let pool = Pool::new(WORKERS, 1);
        let pipes: Vec<Pipe> = (1..3).map(|number| pool.pipe(number)).collect();
        let readers: Vec<Reader> = pipes.iter().map(Pipe::register).collect();
        let workers = start(&pool);
        let gate = Arc::new(ManualResetEvent::new(false));

        // Tasks that wait for the OS, for a thread outside, and for each other.
        let mut handles = Vec::new();
        for reader in readers {
            let one = owned.one();
            handles.push(pool.spawn(async move {
                reader.read().await;
                drop(one);
            }));
        }
        for _ in 0..2 {
            let (pool, gate, owned) = (pool.clone(), gate.clone(), owned.clone());
            handles.push(pool.clone().spawn(async move {
                let inner = {
                    let one = owned.one();
                    pool.spawn(async move {
                        yield_once().await;
                        drop(one);
                    })
                };
                gate.wait().await;
                inner.await.unwrap();
                drop(owned.one());
            }));
        }
        let outside = {
            let pool = pool.clone();
            thread::spawn(move || {
                let computed = pool.compute(|| 7);
                block_on(computed).unwrap()
            })
        };
        let writer = thread::spawn(move || pipes.iter().for_each(Pipe::write));
        gate.set();
        for handle in handles {
            block_on(handle).unwrap();
        }
        assert_eq!(outside.join().unwrap(), 7);
        writer.join().unwrap();
        assert_eq!(owned.dropped(), 6);
        end(&pool, workers);
    });
}

/// Property: a pool that is shut down while all this goes on ends, and each task has ended once: it ran, or it was
/// cancelled and what it owned was dropped.
///
/// Seen to fail with: a `close` that wakes nobody; a `bind` that does not ask whether the list is closed.
#[test]
fn everything_is_cancelled() {
    check(4000, || {
        let owned = Owned::default();
        let pool = Pool::new(WORKERS, 1);
        let pipe = pool.pipe(1);
        let reader = pipe.register();
        let workers = start(&pool);
        let waker: Arc<Mutex<Option<Waker>>> = Arc::default();

        let mut handles = Vec::new();
        let one = owned.one();
        handles.push(pool.spawn(async move {
            reader.read_or_end().await;
            drop(one);
        }));
        let one = owned.one();
        handles.push(pool.spawn({
            let waker = waker.clone();
            async move {
                let _one = one;
                // Woken now and then, and never done.
                poll_fn(|cx: &mut Context<'_>| {
                    *waker.lock().unwrap() = Some(cx.waker().clone());
                    Poll::<()>::Pending
                })
                .await;
            }
        }));
        let spawner = {
            let (pool, owned) = (pool.clone(), owned.clone());
            thread::spawn(move || {
                let mut handles = Vec::new();
                for _ in 0..3 {
                    let one = owned.one();
                    handles.push(pool.spawn(async move {
                        yield_once().await;
                        drop(one);
                    }));
                }
                handles
            })
        };
        let foreign = thread::spawn(move || {
            pipe.write();
            for _ in 0..3 {
                let waker = waker.lock().unwrap().take();
                waker.into_iter().for_each(Waker::wake);
                thread::yield_now();
            }
        });
        pool.shut_down();
        handles.extend(spawner.join().unwrap());
        let cancelled = handles.into_iter().filter_map(|handle| block_on(handle).err());
        cancelled.for_each(|error| assert!(error.is_cancelled()));
        assert_eq!(owned.dropped(), 5);
        foreign.join().unwrap();
        end(&pool, workers);
    });
}

/// Property: computations that split, on three workers, with a thread outside that takes part in its own and tasks that
/// come meanwhile, have the right results.
///
/// Seen to fail with: an offer that wakes nobody beside a joiner that sleeps (`wake_joiner`).
#[test]
fn computations_split_beside_tasks() {
    fn sum(pool: &Pool, from: u64, to: u64) -> u64 {
        if to - from == 1 {
            return from;
        }
        let middle = from.midpoint(to);
        pool.split_point();
        let (a, b) = windlass_runtime::join(|| sum(pool, from, middle), || sum(pool, middle, to));
        a + b
    }

    check(2000, || {
        let pool = Pool::new(WORKERS, 1);
        let workers = start(&pool);
        let computed = pool.compute({
            let pool = pool.clone();
            move || sum(&pool, 0, 8)
        });
        let outside = {
            let pool = pool.clone();
            thread::spawn(move || block_on(pool.compute(|| windlass_runtime::join(|| 1, || 2))))
        };
        let tasks: Vec<_> = (0..3).map(|_| pool.spawn(yield_once())).collect();
        assert_eq!(block_on(computed).unwrap(), 28);
        assert_eq!(outside.join().unwrap().unwrap(), (1, 2));
        tasks.into_iter().for_each(|task| block_on(task).unwrap());
        end(&pool, workers);
    });
}

/// Property: a worker that comes back while a spare is sent for it, so that none is, says nothing to the spare that is
/// sent for another worker.
///
/// Seen to fail with: a `claim` that does not ask whether the last spare was told to leave. (The model of the same name
/// for loom would need a fourth preemption for that.)
#[test]
fn a_spare_is_sent_for_another_while_the_worker_comes_back() {
    check(20_000, || {
        let pool = Pool::new(2, 1);
        let [slot, other] = [pool.occupy(0), pool.occupy(1)];
        let (first, stuck, back) = (Parker::new(), Parker::new(), Parker::new());
        let (in_poll, go_on) = (first.unparker(), stuck.unparker());
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                in_poll.unpark();
                stuck.park();
                // It is of no help to the others.
                pool.retire(0);
            }
        }));
        let worker = thread::spawn(move || slot.work());
        first.park();
        let ran = back.unparker();
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                drop(pool.clone().spawn(async move { ran.unpark() }));
                let mut monitor = pool.monitor();
                monitor.look(&pool, Duration::ZERO);
                go_on.unpark();
                monitor.look(&pool, Duration::from_secs(1));
                worker.join().unwrap();
                // Stuck, until what waits has been run.
                let mut later = 1;
                while !back.take_token() {
                    assert!(later < 1000, "nobody stands in for it");
                    later += 1;
                    monitor.look(&pool, Duration::from_secs(later));
                    thread::yield_now();
                }
                pool.close();
            }
        }));
        other.work();
    });
}
