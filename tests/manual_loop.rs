//! The manual loop: it says what is ready, runs nothing by itself, and ends without a trace.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use windlass::Builder;
use windlass::manual::Loop;

const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

fn manual() -> Loop {
    Builder::new().build_manual().unwrap()
}

#[test]
fn nothing_runs_before_the_program_runs_it() {
    let mut tasks = manual();
    let ran = Rc::new(Cell::new(0));
    let inner = ran.clone();
    let handle = tasks.spawn_local(async move { inner.set(inner.get() + 1) });
    let ready: Vec<_> = tasks.ready_tasks(PATIENCE).unwrap().collect();
    assert_eq!((ready.len(), ran.get(), handle.is_finished()), (1, 0, false));
    ready.into_iter().for_each(windlass::manual::Runnable::run);
    assert_eq!((ran.get(), handle.is_finished()), (1, true));
    assert_eq!(tasks.ready_tasks(AT_ONCE).unwrap().count(), 0);
}

#[test]
fn what_is_not_run_is_given_again() {
    let mut tasks = manual();
    let handle = tasks.spawn_local(async {});
    for _ in 0..3 {
        assert_eq!(tasks.ready_tasks(PATIENCE).unwrap().count(), 1, "dropped with the iterator");
    }
    tasks.ready_tasks(PATIENCE).unwrap().for_each(windlass::manual::Runnable::run);
    assert!(handle.is_finished());
}

#[test]
fn a_spawn_from_another_thread_ends_an_endless_wait() {
    let mut tasks = manual();
    for _ in 0..100 {
        let handle = tasks.handle().clone();
        let spawner = thread::spawn(move || handle.spawn(async { 1 }));
        tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
        assert!(spawner.join().unwrap().is_finished());
    }
}

/// The loop is what its tasks work for, whatever the thread has entered.
#[test]
fn tasks_of_a_loop_find_it_while_another_runtime_is_entered() {
    let mut tasks = manual();
    let other = windlass::Runtime::new().unwrap();
    let _entered = other.enter();
    let here = thread::current().id();
    let task = tasks.spawn_local(async {
        let inner = windlass::spawn(async { thread::current().id() });
        windlass::timer::sleep(Duration::from_millis(1)).await;
        inner.await.unwrap()
    });
    while !task.is_finished() {
        tasks.ready_tasks(PATIENCE).unwrap().for_each(windlass::manual::Runnable::run);
    }
    assert_eq!(windlass::block_on(task).unwrap(), here);
    let elsewhere = windlass::block_on(windlass::spawn(async { thread::current().id() })).unwrap();
    assert_ne!(elsewhere, here, "what was entered before is entered still");
}

/// Nobody but this thread would run what it waits for.
#[test]
fn fork_join_with_a_loop_entered_runs_here() {
    let tasks = manual();
    let _entered = tasks.handle().enter();
    let here = thread::current().id();
    let id = || thread::current().id();
    assert_eq!(windlass::join(id, || windlass::join(id, id)), (here, (here, here)));
    let mut ran = [None; 3];
    windlass::scope(|s| ran.iter_mut().for_each(|ran| s.spawn(move |_| *ran = Some(id()))));
    assert_eq!(ran, [Some(here); 3]);
}

#[test]
fn a_loop_dropped_by_its_own_task_cancels_that_task_too() {
    let tasks = Rc::new(Cell::new(None));
    let dropped = Rc::new(Cell::new(0));
    let bystander = Held(dropped.clone());
    let mut held = manual();
    drop(held.spawn_local(async move {
        let _bystander = bystander;
        pending::<()>().await;
    }));
    let (inner, own) = (tasks.clone(), Held(dropped.clone()));
    let task = held.spawn_local(async move {
        let _own = own;
        drop::<Option<Loop>>(inner.take());
        windlass::yield_now().await;
        unreachable!("it is cancelled");
    });
    let ready: Vec<_> = held.ready_tasks(PATIENCE).unwrap().collect();
    tasks.set(Some(held));
    ready.into_iter().for_each(windlass::manual::Runnable::run);
    assert_eq!(dropped.get(), 2);
    assert!(windlass::block_on(task).unwrap_err().is_cancelled());
}

struct Held(Rc<Cell<usize>>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// A waker on another thread may have notified a task that it has not yet queued when the loop goes
/// away.
#[test]
fn a_loop_dropped_while_another_thread_wakes_its_tasks_is_not_used_afterwards() {
    for _ in 0..500 {
        let mut tasks = manual();
        let dropped = Rc::new(Cell::new(0));
        let stash: Arc<Mutex<Vec<Waker>>> = Arc::default();
        for _ in 0..4 {
            let (stash, guard) = (stash.clone(), CountDrop(dropped.clone()));
            drop(tasks.spawn_local(async move {
                let _guard = guard;
                poll_fn(|cx| {
                    stash.lock().unwrap().push(cx.waker().clone());
                    Poll::<()>::Pending
                })
                .await
            }));
        }
        tasks.ready_tasks(PATIENCE).unwrap().for_each(windlass::manual::Runnable::run);
        let wakers = std::mem::take(&mut *stash.lock().unwrap());
        assert_eq!(wakers.len(), 4);
        let together = Arc::new(Barrier::new(2));
        let other = together.clone();
        let waking = thread::spawn(move || {
            other.wait();
            wakers.into_iter().for_each(Waker::wake);
        });
        together.wait();
        drop(tasks);
        assert_eq!(dropped.get(), 4, "futures that are not `Send` are dropped here, by now");
        waking.join().unwrap();
    }
}

#[test]
fn a_runnable_that_outlives_its_loop_is_cancelled_here() {
    let mut tasks = manual();
    let dropped = Rc::new(Cell::new(0));
    let guard = CountDrop(dropped.clone());
    drop(tasks.spawn_local(async move {
        let _guard = guard;
        pending::<()>().await;
    }));
    let held: Vec<_> = tasks.ready_tasks(PATIENCE).unwrap().collect();
    drop(tasks);
    assert_eq!(dropped.get(), 0);
    drop(held);
    assert_eq!(dropped.get(), 1);
}

/// As above, with a task that a poll has spawned and that has not been polled itself.
#[test]
fn a_runnable_of_a_task_that_never_ran_is_cancelled_with_its_loop_or_after_it() {
    let mut tasks = manual();
    let alive = Arc::new(());
    drop(tasks.spawn_local({
        let alive = alive.clone();
        async move {
            for _ in 0..2 {
                let guard = alive.clone();
                drop(windlass::spawn(async move {
                    let _guard = guard;
                    pending::<()>().await
                }));
            }
        }
    }));
    tasks.ready_tasks(PATIENCE).unwrap().for_each(|runnable| runnable.run());
    let mut ready = tasks.ready_tasks(PATIENCE).unwrap();
    let held = ready.next().unwrap();
    drop(ready);
    drop(tasks);
    assert_eq!(Arc::strong_count(&alive), 2, "one was put back, one is held");
    drop(held);
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// What an iterator has not returned is held by the program, as much as what it has.
#[test]
fn ready_tasks_that_outlive_their_loop_are_cancelled_with_the_iterator() {
    let mut tasks = manual();
    let dropped = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let guard = CountDrop(dropped.clone());
        drop(tasks.spawn_local(async move {
            let _guard = guard;
            pending::<()>().await;
        }));
    }
    let mut ready = tasks.ready_tasks(PATIENCE).unwrap();
    drop(ready.next());
    drop(tasks);
    assert_eq!(dropped.get(), 1, "one was put back, two are held");
    drop(ready);
    assert_eq!(dropped.get(), 3);
}

#[test]
fn a_runnable_knows_the_name_and_the_place_of_its_task() {
    let mut tasks = manual();
    let (line, builder) = (line!() + 1, windlass::task::Builder::new().name("named"));
    drop(builder.spawn_on(async {}, tasks.handle()));
    drop(tasks.spawn_local(async {}));
    let ready: Vec<_> = tasks.ready_tasks(PATIENCE).unwrap().collect();
    let place = |name| ready.iter().find(|it| it.name() == name).unwrap().location().line();
    assert_eq!((place(Some("named")), place(None)), (line, line + 1));
    assert!(ready.iter().all(|it| it.location().file() == file!()));
}

/// Counts on one thread: the futures that hold it are not `Send`.
struct CountDrop(Rc<Cell<usize>>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// The length of the current thread's turns on its CPU, where the OS tells.
#[cfg(target_os = "linux")]
fn turn() -> Option<String> {
    let state = std::fs::read_to_string("/proc/thread-self/sched").ok()?;
    state.lines().find(|line| line.starts_with("se.slice")).map(str::to_string)
}

#[cfg(target_os = "linux")]
#[test]
fn a_computation_leaves_the_turns_of_the_program_s_own_thread_alone() {
    let before = turn();
    let mut tasks = manual();
    let computed = {
        let _entered = tasks.handle().enter();
        windlass::compute(|| windlass::join(|| 1, || 2))
    };
    while !computed.is_finished() {
        tasks.ready_tasks(PATIENCE).unwrap().for_each(windlass::manual::Runnable::run);
    }
    assert_eq!(windlass::block_on(computed).unwrap(), (1, 2));
    assert_eq!(turn(), before);
}
