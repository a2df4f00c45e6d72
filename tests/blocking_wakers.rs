//! Hand-made wakers that block hold up nothing: tasks, sockets, timers and the wakers behind them
//! go on, with one worker and with several.

mod util;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use util::{Count, Gate, OpenOnDrop, PATIENCE, in_time, wait_for, wait_until, within_patience};
use windlass::net::UdpSocket;
use windlass::timer::{sleep, timeout};
use windlass::{Builder, Runtime};

const SHORT: Duration = Duration::from_millis(5);
/// Wakers of each kind that are due at once.
const CROWD: usize = 8;

/// What a waker waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Socket,
    Timer,
}

const KINDS: [Kind; 2] = [Kind::Socket, Kind::Timer];

/// Runs a closure when it is woken.
struct Call<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Call<F> {
    fn wake(self: Arc<Self>) {
        self.0();
    }
}

type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Something that is pending until it is triggered.
struct Pending {
    future: Waiting,
    /// Where a datagram is to be sent, if it waits for one.
    address: Option<std::net::SocketAddr>,
}

impl Pending {
    fn new(runtime: &Runtime, kind: Kind) -> Self {
        let _entered = runtime.enter();
        match kind {
            Kind::Timer => Self { future: Box::pin(sleep(SHORT * 4)), address: None },
            Kind::Socket => {
                let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
                let address = socket.local_addr().unwrap();
                let future = async move {
                    assert_eq!(socket.recv(&mut [0; 8]).await.unwrap(), 1);
                };
                Self { future: Box::pin(future), address: Some(address) }
            }
        }
    }

    /// Polls with a hand-made waker, which calls `f`.
    fn wakes(mut self, runtime: &Runtime, f: impl Fn() + Send + Sync + 'static) -> Self {
        let _entered = runtime.enter();
        let waker = Waker::from(Arc::new(Call(f)));
        let is_pending = |future: &mut Waiting| {
            future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()
        };
        if self.address.is_some() {
            assert!(is_pending(&mut self.future));
        } else {
            // One that begins here: what has gone by since the first was made is not known.
            self.future = in_time(|time| {
                let mut future: Waiting = Box::pin(sleep(time));
                is_pending(&mut future).then_some(future)
            });
        }
        self
    }
}

fn trigger(addresses: &[Option<std::net::SocketAddr>]) -> io::Result<()> {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
    for address in addresses.iter().flatten() {
        socket.send_to(&[1], address)?;
    }
    Ok(())
}

/// Tasks run, timers fire and sockets deliver.
fn everything_goes_on(runtime: &Runtime) {
    let ends = runtime.spawn(async {
        let child = windlass::spawn(async { sleep(SHORT).await });
        let receiver = UdpSocket::bind("127.0.0.1:0").await?;
        let address = receiver.local_addr()?;
        let sends = windlass::spawn(async move {
            sleep(SHORT).await;
            UdpSocket::bind("127.0.0.1:0").await?.send_to(&[7], address).await
        });
        let mut byte = [0];
        timeout(PATIENCE, receiver.recv(&mut byte)).await.expect("a datagram")?;
        sends.await.unwrap()?;
        child.await.unwrap();
        io::Result::Ok(byte[0])
    });
    assert_eq!(wait_for(ends).unwrap().unwrap(), 7);
}

fn for_each_case(check: impl Fn(&Runtime, Kind)) {
    for workers in [1, 4] {
        for kind in KINDS {
            let runtime = Builder::new().workers(workers).build().unwrap();
            check(&runtime, kind);
        }
    }
}

/// All of them were called by one thread, one after the other: those behind the first lay on its stack.
#[test]
fn wakers_behind_one_that_blocks_are_called() {
    for_each_case(|runtime, kind| {
        let gate = OpenOnDrop(Gate::new());
        let (woken, blocked) = (Count::new(), Count::new());
        let mut pending = Vec::new();
        for index in 0..CROWD {
            let (closed, woken, blocked) = (gate.0.clone(), woken.clone(), blocked.clone());
            pending.push(Pending::new(runtime, kind).wakes(runtime, move || {
                if index == 0 {
                    closed.wait();
                    blocked.add();
                } else {
                    woken.add();
                }
            }));
        }
        let tasks: Vec<_> = (0..CROWD)
            .map(|_| {
                let Pending { future, address } = Pending::new(runtime, kind);
                (runtime.spawn(future), address)
            })
            .collect();
        let others = tasks.iter().map(|(_, address)| *address);
        let addresses: Vec<_> = pending.iter().map(|one| one.address).chain(others).collect();
        // In one poll, so that a worker that looks at the OS afterwards finds all of it.
        wait_for(runtime.spawn(async move { trigger(&addresses) })).unwrap().unwrap();
        woken.wait_for(CROWD - 1);
        tasks.into_iter().for_each(|(task, _)| wait_for(task).unwrap());
        everything_goes_on(runtime);
        assert_eq!(blocked.get(), 0);
        drop(gate);
        blocked.wait_for(1);
    });
}

/// The second blocked the poller's thread, which watches over the workers and is watched by nobody.
#[test]
fn two_wakers_that_block_do_not_freeze_the_runtime() {
    for spares in [0, 4] {
        for kind in KINDS {
            for workers in [1, 4] {
                if spares == 0 && workers == 1 {
                    continue; // Nobody is left for tasks.
                }
                let runtime = Builder::new().workers(workers).max_spares(spares).build().unwrap();
                let gate = OpenOnDrop(Gate::new());
                let (begun, ended) = (Count::new(), Count::new());
                let mut pending = Vec::new();
                for number in 1..=2 {
                    let (closed, begun_here) = (gate.0.clone(), begun.clone());
                    let ended = ended.clone();
                    let one = Pending::new(&runtime, kind).wakes(&runtime, move || {
                        begun_here.add();
                        closed.wait();
                        ended.add();
                    });
                    trigger(&[one.address]).unwrap();
                    pending.push(one);
                    begun.wait_for(number);
                }
                everything_goes_on(&runtime);
                assert_eq!(ended.get(), 0);
                drop(gate);
                ended.wait_for(2);
            }
        }
    }
}

/// With no worker and no spare left, wakers and timers go on at least.
#[test]
fn many_wakers_that_block_one_after_the_other_leave_the_next_alone() {
    for kind in KINDS {
        let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
        let gate = OpenOnDrop(Gate::new());
        let (begun, ended) = (Count::new(), Count::new());
        let mut pending = Vec::new();
        for number in 1..=CROWD {
            let (closed, begun_here, ended) = (gate.0.clone(), begun.clone(), ended.clone());
            let one = Pending::new(&runtime, kind).wakes(&runtime, move || {
                begun_here.add();
                closed.wait();
                ended.add();
            });
            trigger(&[one.address]).unwrap();
            pending.push(one);
            begun.wait_for(number);
        }
        drop(gate);
        ended.wait_for(CROWD);
        everything_goes_on(&runtime);
    }
}

#[test]
fn a_waker_may_want_a_lock_whose_holder_awaits_a_task() {
    for_each_case(|runtime, kind| {
        let lock = Arc::new(Mutex::new(()));
        let (held, gate) = (Count::new(), Gate::new());
        let (wants, begun, woken) = (lock.clone(), Count::new(), Count::new());
        let (begun_here, woken_here) = (begun.clone(), woken.clone());
        let (inner, go_on, handle) = (held.clone(), gate.clone(), runtime.handle().clone());
        let holder = thread::spawn(move || {
            let _held = lock.lock().unwrap();
            inner.add();
            go_on.wait();
            let task = handle.spawn(async {
                sleep(SHORT).await;
                windlass::spawn(async { 7 }).await.unwrap()
            });
            wait_for(task).unwrap()
        });
        held.wait_for(1);
        let one = Pending::new(runtime, kind).wakes(runtime, move || {
            begun_here.add();
            let _got = wants.lock().unwrap();
            woken_here.add();
        });
        trigger(&[one.address]).unwrap();
        begun.wait_for(1);
        gate.open();
        assert_eq!(within_patience("the holder", move || holder.join().unwrap()), 7);
        woken.wait_for(1);
    });
}

/// The pool that wakers are handed to is full: they are called all the same.
#[test]
fn a_full_blocking_pool_keeps_no_waker_waiting() {
    for kind in KINDS {
        let builder = Builder::new().workers(1).max_spares(0).max_blocking(1);
        let runtime = builder.build().unwrap();
        let gate = OpenOnDrop(Gate::new());
        let busy = Count::new();
        let (closed, inner) = (gate.0.clone(), busy.clone());
        drop(runtime.spawn_blocking(move || {
            inner.add();
            closed.wait();
        }));
        let woken = Count::new();
        let inner = woken.clone();
        let one = Pending::new(&runtime, kind).wakes(&runtime, move || _ = inner.add());
        let (closed, inner) = (gate.0.clone(), busy.clone());
        // The only worker is held up.
        drop(runtime.spawn(async move {
            inner.add();
            closed.wait();
        }));
        busy.wait_for(2);
        trigger(&[one.address]).unwrap();
        woken.wait_for(1);
    }
}

/// With the blocking pool full, the poller's thread called the waker itself, and was blocked: no spare came for a worker
/// that was stuck.
#[test]
fn a_waker_that_blocks_beside_a_full_blocking_pool_keeps_no_spare_from_coming() {
    for kind in KINDS {
        let builder = Builder::new().workers(1).max_spares(1).max_blocking(1);
        let runtime = builder.build().unwrap();
        let gate = OpenOnDrop(Gate::new());
        let busy = Count::new();
        let hold_up = || {
            let (closed, inner) = (gate.0.clone(), busy.clone());
            move || {
                inner.add();
                closed.wait();
            }
        };
        let (closure, task) = (hold_up(), hold_up());
        drop(runtime.spawn_blocking(closure));
        let one = Pending::new(&runtime, kind).wakes(&runtime, hold_up());
        drop(runtime.spawn(async move { task() }));
        busy.wait_for(2);
        trigger(&[one.address]).unwrap();
        busy.wait_for(3);
        everything_goes_on(&runtime);
        drop(gate);
    }
}

/// Handing a waker on spawned a closure, with the program's hooks called on the poller's thread, which nobody watches.
#[test]
fn a_waker_that_is_handed_on_is_no_closure_of_the_program() {
    for kind in KINDS {
        let (spawned, woken, busy) = (Count::new(), Count::new(), Count::new());
        let gate = OpenOnDrop(Gate::new());
        let (count, builder) = (spawned.clone(), Builder::new().workers(1).max_spares(0));
        let runtime = builder.on_task_spawn(move |_| _ = count.add()).build().unwrap();
        let inner = woken.clone();
        let one = Pending::new(&runtime, kind).wakes(&runtime, move || _ = inner.add());
        let before = spawned.get();
        let (closed, inner) = (gate.0.clone(), busy.clone());
        drop(runtime.spawn(async move {
            inner.add();
            closed.wait();
        }));
        busy.wait_for(1);
        trigger(&[one.address]).unwrap();
        woken.wait_for(1);
        assert_eq!(spawned.get(), before + 1);
        drop(gate);
    }
}

/// A waker that was handed on when the runtime ended was never called.
#[test]
fn a_runtime_that_ends_wakes_all_that_wait() {
    for kind in KINDS {
        for _ in 0..50 {
            let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
            let woken = Count::new();
            let pending: Vec<_> = (0..CROWD)
                .map(|_| {
                    let woken = woken.clone();
                    Pending::new(&runtime, kind).wakes(&runtime, move || _ = woken.add())
                })
                .collect();
            trigger(&pending.iter().map(|one| one.address).collect::<Vec<_>>()).unwrap();
            drop(runtime);
            wait_until("all are woken", || woken.get() == CROWD);
        }
    }
}

/// In virtual time all wakers are the poller's thread's.
#[test]
fn a_waker_that_blocks_in_virtual_time_stops_the_time_alone() {
    for kind in KINDS {
        let runtime = Builder::new().workers(1).virtual_time().build().unwrap();
        let gate = OpenOnDrop(Gate::new());
        let (begun, ended) = (Count::new(), Count::new());
        let (closed, begun_here, ended_here) = (gate.0.clone(), begun.clone(), ended.clone());
        let one = Pending::new(&runtime, kind).wakes(&runtime, move || {
            begun_here.add();
            closed.wait();
            ended_here.add();
        });
        trigger(&[one.address]).unwrap();
        begun.wait_for(1);
        let Pending { future, address } = Pending::new(&runtime, Kind::Socket);
        let task = runtime.spawn(future);
        trigger(&[address]).unwrap();
        wait_for(task).unwrap();
        assert_eq!(ended.get(), 0);
        let sleeps = runtime.spawn(sleep(Duration::from_secs(3600)));
        drop(gate);
        wait_for(sleeps).unwrap();
        ended.wait_for(1);
    }
}
