//! Bad input and hostile code: huge futures, endless recursion of wakes, wakers that do what they
//! please, thread-local destructors.

mod util;

use std::cell::RefCell;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use util::{
    AsyncGate, Count, OnDrop, PATIENCE, is_child, passes_in_child, runtime, wait_for, wait_until,
    within_patience,
};
use windlass::Handle;
use windlass::task::JoinHandle;

/// In a process of its own, for a stack that overflows kills the process.
#[test]
fn a_future_of_a_mebibyte_is_spawned_from_a_thread_and_from_a_task() {
    const NAME: &str = "a_future_of_a_mebibyte_is_spawned_from_a_thread_and_from_a_task";
    if !is_child() {
        return passes_in_child(NAME, &[]);
    }

    /// A mebibyte that is there from the start, and is never moved by being polled.
    struct Large([u8; 1 << 20]);
    impl Future for Large {
        type Output = usize;
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<usize> {
            Poll::Ready(self.0.iter().map(|byte| usize::from(*byte)).sum())
        }
    }
    // Without optimisation the array alone takes 4 MiB of stack on its way into any function.
    const STACK: usize = 8 << 20;
    let runtime = windlass::Builder::new().workers(1).stack_size(STACK).build().unwrap();
    let handle = runtime.handle().clone();
    let spawner = thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || handle.spawn(Large([1; 1 << 20])))
        .unwrap();
    assert_eq!(wait_for(spawner.join().unwrap()).unwrap(), 1 << 20);
    let task = runtime.spawn(async { windlass::spawn(Large([1; 1 << 20])).await.unwrap() });
    assert_eq!(wait_for(task).unwrap(), 1 << 20);
}

#[test]
fn a_chain_of_a_hundred_thousand_tasks_awaiting_each_other_unwinds_without_recursion() {
    let runtime = runtime(2);
    let gate = AsyncGate::new();
    let mut last: JoinHandle<u32> = {
        let gate = gate.clone();
        runtime.spawn(async move {
            gate.wait().await;
            0
        })
    };
    for _ in 0..100_000 {
        let previous = last;
        last = runtime.spawn(async move { previous.await.unwrap() + 1 });
    }
    gate.open();
    assert_eq!(wait_for(last).unwrap(), 100_000);
}

/// Each task's future, when dropped, aborts the next: without queues this would recurse.
#[test]
fn aborts_that_abort_others_do_not_recurse() {
    let runtime = runtime(1);
    let (dropped, gate) = (Count::new(), AsyncGate::new());
    let mut next: Option<JoinHandle<()>> = None;
    for _ in 0..100_000 {
        let (previous, guard, gate) = (next.take(), dropped.on_drop(), gate.clone());
        let abort = OnDrop(move || previous.iter().for_each(JoinHandle::abort));
        next = Some(runtime.spawn(async move {
            let _held = (guard, abort);
            gate.wait().await;
        }));
    }
    next.unwrap().abort();
    dropped.wait_for(100_000);
}

/// A joiner's waker that spawns, wakes and awaits nothing, but does it all from inside a worker.
struct Reenter(Handle, Count);

impl Wake for Reenter {
    fn wake(self: Arc<Self>) {
        let count = self.1.clone();
        drop(self.0.spawn(async move {
            windlass::yield_now().await;
            count.add();
        }));
        let count = self.1.clone();
        drop(windlass::spawn(async move {
            count.add();
        }));
        let count = self.1.clone();
        drop(self.0.spawn_blocking(move || count.add()));
    }
}

#[test]
fn a_waker_may_reenter_spawn() {
    let runtime = runtime(1);
    let count = Count::new();
    for round in 1..=100 {
        let gate = AsyncGate::new();
        let mut task = {
            let gate = gate.clone();
            runtime.spawn(async move { gate.wait().await })
        };
        let waker = Waker::from(Arc::new(Reenter(runtime.handle().clone(), count.clone())));
        let poll = Pin::new(&mut task).poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending());
        gate.open();
        count.wait_for(round * 3);
        wait_for(task).unwrap();
    }
    assert_eq!(count.get(), 300);
}

#[test]
fn a_future_may_spawn_wake_and_abort_in_its_drop() {
    let runtime = runtime(1);
    let count = Count::new();
    for round in 1..=100 {
        let other = runtime.spawn(pending::<()>());
        let abort = other.abort_handle();
        let inner = count.clone();
        let place: Arc<Mutex<Option<Waker>>> = Arc::default();
        let mut guard = Some(OnDrop({
            let place = place.clone();
            move || {
                let inner = inner.clone();
                drop(windlass::spawn(async move {
                    inner.add();
                }));
                abort.abort();
                if let Some(waker) = place.lock().unwrap().take() {
                    waker.wake_by_ref();
                    waker.wake();
                }
            }
        }));
        let mut polled = false;
        let task = runtime.spawn(poll_fn(move |cx| {
            *place.lock().unwrap() = Some(cx.waker().clone());
            if std::mem::replace(&mut polled, true) {
                drop(guard.take());
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        wait_for(task).unwrap();
        assert!(wait_for(other).unwrap_err().is_cancelled());
        count.wait_for(round);
    }
}

#[test]
fn a_million_tasks() {
    let runtime = runtime(2);
    let ran = Count::new();
    let spawner = {
        let ran = ran.clone();
        runtime.spawn(async move {
            for _ in 0..500_000 {
                let ran = ran.clone();
                drop(windlass::spawn(async move {
                    ran.add();
                }));
            }
        })
    };
    for _ in 0..500_000 {
        let ran = ran.clone();
        drop(runtime.spawn(async move {
            ran.add();
        }));
    }
    wait_for(spawner).unwrap();
    ran.wait_for(1_000_000);
    wait_until("all are counted", || runtime.metrics().tasks_alive == 0);
}

#[test]
fn a_quarter_of_a_million_waiting_tasks_are_dropped_at_the_end() {
    const TASKS: usize = 250_000;
    let runtime = runtime(2);
    let (polled, dropped) = (Count::new(), Count::new());
    for _ in 0..TASKS {
        let (polled, guard) = (polled.clone(), dropped.on_drop());
        drop(runtime.spawn(async move {
            let _guard = guard;
            polled.add();
            pending::<()>().await;
        }));
    }
    polled.wait_for(TASKS);
    assert_eq!(runtime.metrics().tasks_alive, TASKS as u64);
    let report = within_patience("shutdown", move || runtime.shutdown(PATIENCE));
    assert!(report.is_clean());
    assert_eq!(dropped.get(), TASKS);
}

/// What a thread does when its thread-locals are destroyed.
type LastWords = OnDrop<Box<dyn FnMut() + Send>>;

thread_local! {
    static LAST_WORDS: RefCell<Option<LastWords>> = const { RefCell::new(None) };
}

fn on_thread_exit(last_words: impl FnMut() + Send + 'static) {
    LAST_WORDS.with(|place| *place.borrow_mut() = Some(OnDrop(Box::new(last_words))));
}

#[test]
fn destructors_of_thread_locals_wake_spawn_and_abort() {
    let runtime = runtime(2);
    for _ in 0..100 {
        let (gate, ran) = (AsyncGate::new(), Count::new());
        let (woken, aborted) = (
            {
                let gate = gate.clone();
                runtime.spawn(async move { gate.wait().await })
            },
            runtime.spawn(pending::<()>()),
        );
        let (abort, handle, spawned) =
            (aborted.abort_handle(), runtime.handle().clone(), ran.clone());
        let words = move || {
            gate.open();
            abort.abort();
            let spawned = spawned.clone();
            drop(handle.spawn(async move {
                spawned.add();
            }));
            assert_eq!(wait_for(handle.spawn(async { 1 })).unwrap(), 1);
        };
        thread::spawn(move || on_thread_exit(words)).join().unwrap();
        wait_for(woken).unwrap();
        assert!(wait_for(aborted).unwrap_err().is_cancelled());
        ran.wait_for(1);
    }
}

/// The runtime is ending or gone when its own threads say their last words.
#[test]
fn destructors_of_thread_locals_on_the_runtimes_own_threads_use_it_in_vain() {
    for _ in 0..50 {
        let runtime = runtime(2);
        let said = Count::new();
        let words = || {
            let (handle, said) = (runtime.handle().clone(), said.clone());
            let waker = wait_for(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
            let task_waker = wait_for(runtime.spawn(poll_fn(|cx| Poll::Ready(cx.waker().clone()))));
            move || {
                waker.wake_by_ref();
                task_waker.as_ref().unwrap().wake_by_ref();
                assert!(wait_for(handle.spawn(async {})).unwrap_err().is_cancelled());
                // The blocking pool closes a moment after the workers' queues: it may still run this.
                let _ = wait_for(handle.spawn_blocking(|| ()));
                said.add();
            }
        };
        let (in_task, in_closure) = (words(), words());
        wait_for(runtime.spawn(async move { on_thread_exit(in_task) })).unwrap();
        wait_for(runtime.spawn_blocking(move || on_thread_exit(in_closure))).unwrap();
        let report = within_patience("shutdown", move || runtime.shutdown(PATIENCE));
        assert!(report.is_clean());
        assert_eq!(said.get(), 2);
    }
}

#[test]
fn a_runtime_dropped_by_the_destructor_of_a_thread_local_ends() {
    // Windows lets no thread end while another runs its destructors: the drop must not wait for that as
    // long as it would for a task that is stuck.
    let rounds = if cfg!(windows) { 4 } else { 20 };
    let mut quickest = Duration::MAX;
    for _ in 0..rounds {
        let runtime = runtime(1);
        let dropped = Count::new();
        let guard = dropped.on_drop();
        drop(runtime.spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        }));
        // Nor does Windows let one begin, and a worker that has not yet could drop no task.
        wait_for(runtime.spawn(async {})).unwrap();
        let mut runtime = Some(runtime);
        let start = Instant::now();
        within_patience("the thread ends", move || {
            thread::spawn(move || on_thread_exit(move || drop(runtime.take()))).join().unwrap();
        });
        quickest = quickest.min(start.elapsed());
        assert_eq!(dropped.get(), 1);
    }
    assert!(quickest < Duration::from_secs(4), "{quickest:?}");
}

#[test]
fn block_on_and_spawn_blocking_inside_many_layers_of_each_other() {
    let runtime = runtime(1);
    fn layers(depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        windlass::block_on(async move {
            let inner = windlass::spawn(async move {
                windlass::spawn_blocking(move || layers(depth - 1)).await.unwrap()
            });
            inner.await.unwrap() + 1
        })
    }
    let _entered = runtime.enter();
    assert_eq!(layers(50), 50);
}
