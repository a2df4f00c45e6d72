//! The hooks of `Builder`: threads that start, sleep and stop, tasks that are spawned and end.

mod util;

use std::collections::HashSet;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use util::{Count, Gate, OpenOnDrop, PATIENCE, throw, wait_for, wait_until};
use windlass::{Builder, Handle, worker_index};

#[test]
fn each_thread_starts_and_stops_once_spares_and_blocking_threads_included() {
    let (started, stopped) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let note = |list: &Arc<Mutex<Vec<_>>>| {
        let list = list.clone();
        move || list.lock().unwrap().push((thread::current().id(), worker_index()))
    };
    let runtime = Builder::new()
        .workers(1)
        .stuck_after(Duration::from_millis(1))
        .on_thread_start(note(&started))
        .on_thread_stop(note(&stopped))
        .build()
        .unwrap();
    // A task that blocks the worker until another has run, on a spare.
    let gate = Gate::new();
    let _release = OpenOnDrop(gate.clone());
    let stuck = runtime.spawn({
        let gate = gate.clone();
        async move {
            gate.wait();
            (thread::current().id(), worker_index())
        }
    });
    let here = || (thread::current().id(), worker_index());
    let other = wait_for(runtime.spawn(async move { here() })).unwrap();
    gate.open();
    let stuck = wait_for(stuck).unwrap();
    // If the OS keeps the worker from running, the spare takes the first.
    let spare = if other.1.is_none() { other } else { stuck };
    assert_eq!(spare.1, None, "a spare shows no index");
    let blocking = wait_for(runtime.spawn_blocking(here)).unwrap();
    assert_eq!(blocking.1, None);
    assert!(runtime.shutdown(PATIENCE).is_clean());

    let (started, mut stopped) = (started.lock().unwrap().clone(), stopped.lock().unwrap().clone());
    let threads: HashSet<_> = started.iter().map(|(thread, _)| *thread).collect();
    assert_eq!(threads.len(), started.len(), "once for each thread");
    for wanted in [spare, blocking] {
        assert!(started.contains(&wanted), "{wanted:?} is not among {started:?}");
    }
    let indices: Vec<_> = started.iter().filter_map(|(_, index)| *index).collect();
    assert_eq!(indices, [0], "of the only worker");
    let mut started = started;
    let by_text = |entry: &(thread::ThreadId, Option<usize>)| format!("{entry:?}");
    started.sort_by_key(by_text);
    stopped.sort_by_key(by_text);
    assert_eq!(started, stopped);
}

#[test]
fn a_hook_runs_inside_of_its_runtime() {
    let spawned = Count::new();
    let hook = {
        let spawned = spawned.clone();
        move || {
            let spawned = spawned.clone();
            assert!(Handle::try_current().is_some());
            drop(windlass::spawn(async move { _ = spawned.add() }));
        }
    };
    // A spare would run it too.
    let builder = Builder::new().workers(2).max_spares(0);
    let runtime = builder.on_thread_start(hook).build().unwrap();
    spawned.wait_for(2);
    assert_eq!(runtime.metrics().tasks_spawned, 2);
}

#[test]
fn the_panic_of_a_hook_changes_nothing() {
    let runtime = Builder::new()
        .workers(1)
        .on_thread_start(|| throw("start"))
        .on_thread_stop(|| throw("stop"))
        .on_park(|| throw("park"))
        .on_unpark(|| throw("unpark"))
        .on_task_spawn(|_| throw("spawn"))
        .on_task_end(|_| throw("end"))
        .build()
        .unwrap();
    assert_eq!(wait_for(runtime.spawn(async { 1 })).unwrap(), 1);
    assert_eq!(wait_for(runtime.spawn_blocking(|| 2)).unwrap(), 2);
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn a_worker_and_a_blocking_thread_tell_when_they_sleep() {
    let (parks, unparks) = (Count::new(), Count::new());
    let blocking = Count::new();
    let runtime = Builder::new()
        .workers(1)
        .on_park({
            let (parks, blocking) = (parks.clone(), blocking.clone());
            move || {
                parks.add();
                if worker_index().is_none() {
                    blocking.add();
                }
            }
        })
        .on_unpark({
            let unparks = unparks.clone();
            move || _ = unparks.add()
        })
        .build()
        .unwrap();
    parks.wait_for(1);
    for _ in 0..10 {
        let before = unparks.get();
        wait_for(runtime.spawn(async {})).unwrap();
        wait_until("the worker is woken and sleeps again", || {
            unparks.get() > before && parks.get() > unparks.get()
        });
    }
    wait_for(runtime.spawn_blocking(|| ())).unwrap();
    blocking.wait_for(1);
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert_eq!(parks.get(), unparks.get());
}

/// What a hook spawned before the sleep lay in the queue of a worker that slept.
#[test]
fn what_is_spawned_before_a_sleep_is_run_before_it() {
    let (ran, once) = (Count::new(), Count::new());
    let runtime = Builder::new()
        .workers(1)
        .max_spares(0)
        .on_park({
            let (ran, once) = (ran.clone(), once.clone());
            move || {
                if once.add() == 0 {
                    let ran = ran.clone();
                    drop(windlass::spawn(async move { _ = ran.add() }));
                }
            }
        })
        .build()
        .unwrap();
    ran.wait_for(1);
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn a_joiner_that_sleeps_tells_so() {
    let unequal = Count::new();
    let depth = Arc::new(Mutex::new(std::collections::HashMap::new()));
    let step = |by: i32| {
        let (unequal, depth) = (unequal.clone(), depth.clone());
        move || {
            let mut depth = depth.lock().unwrap();
            let asleep = depth.entry(thread::current().id()).or_insert(0);
            *asleep += by;
            if !(0..=1).contains(asleep) {
                unequal.add();
            }
        }
    };
    let runtime = Builder::new().workers(3).on_park(step(1)).on_unpark(step(-1)).build().unwrap();
    let task = runtime.spawn(async {
        for _ in 0..20 {
            let pause = || thread::sleep(Duration::from_micros(300));
            windlass::compute(move || windlass::join(pause, pause)).await.unwrap();
        }
    });
    wait_for(task).unwrap();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert_eq!(unequal.get(), 0, "a thread tells of its sleep and its end in turn");
}

#[test]
fn each_task_is_spawned_and_ends_once_however_it_ends() {
    let (spawned, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let note = |list: &Arc<Mutex<Vec<_>>>| {
        let list = list.clone();
        move |task: &windlass::TaskMeta<'_>| {
            let entry = (task.id(), task.name().map(str::to_owned), task.location().line());
            list.lock().unwrap().push(entry);
        }
    };
    let runtime = Builder::new()
        .workers(2)
        .on_task_spawn(note(&spawned))
        .on_task_end(note(&ended))
        .build()
        .unwrap();
    let named = windlass::task::Builder::new().name("named").spawn_on(async {}, runtime.handle());
    let (line, id) = (line!() - 1, named.id());
    wait_for(named).unwrap();
    assert!(spawned.lock().unwrap().contains(&(id, Some("named".to_owned()), line)));
    assert!(wait_for(runtime.spawn(async { throw("a task") })).is_err());
    let nested = async { windlass::spawn(async {}).await.unwrap() };
    wait_for(runtime.spawn(nested)).unwrap();
    wait_for(runtime.spawn_blocking(|| ())).unwrap();
    wait_for(runtime.spawn(async { windlass::compute(|| 1).await.unwrap() })).unwrap();
    let aborted = runtime.spawn(std::future::pending::<()>());
    aborted.abort();
    assert!(wait_for(aborted).is_err());
    drop(runtime.spawn(std::future::pending::<()>()));
    let handle = runtime.handle().clone();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    drop((handle.spawn(async {}), handle.spawn_blocking(|| ())));

    let (mut spawned, mut ended) = (spawned.lock().unwrap().clone(), ended.lock().unwrap().clone());
    spawned.sort();
    ended.sort();
    assert_eq!(spawned.len(), 11);
    assert_eq!(spawned, ended);
}

#[test]
fn workers_are_named_by_their_index_and_a_bad_name_is_refused() {
    let runtime =
        Builder::new().workers(2).thread_names(|index| format!("w{index}")).build().unwrap();
    let names = runtime.handle().broadcast(|_| thread::current().name().map(str::to_owned));
    assert_eq!(names, [Some("w0".to_owned()), Some("w1".to_owned())]);

    let error = Builder::new().workers(2).thread_names(|_| "a\0b".to_owned()).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("NUL"), "{error}");
}
