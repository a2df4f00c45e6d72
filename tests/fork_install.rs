//! Fork-join on a runtime that is named: `install`, `broadcast`, and scopes that other threads spawn onto.

mod util;

use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use util::{Gate, runtime, text_of, throw, wait_for, wait_until, within_patience};
use windlass::{Builder, Handle, join, scope, scope_in_place};

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn a_closure_is_installed_from_outside_and_called_inside() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    assert!(!handle.is_current());
    assert_eq!(handle.workers(), 2);
    let (index, inner, sum) = handle.install(|| {
        assert!(handle.is_current());
        (windlass::worker_index(), handle.install(thread::current), fib(12))
    });
    assert!(index.is_some(), "on a worker, or on the spare of one that gets no CPU");
    assert_ne!(inner.id(), thread::current().id());
    assert_eq!(sum, 144);
    assert_eq!(handle.join(|| 1, || 2), (1, 2));
    let mut three = 0;
    handle.scope(|s| s.spawn(|_| three = 3));
    assert_eq!(three, 3);
}

#[test]
fn a_panic_of_what_is_installed_reaches_the_caller() {
    let runtime = runtime(1);
    let caught = panic::catch_unwind(AssertUnwindSafe(|| {
        runtime.handle().install(|| throw("installed"));
    }));
    assert_eq!(text_of(&*caught.unwrap_err()), "installed");
    assert_eq!(runtime.handle().install(|| 1), 1);
}

/// With one worker each, who waits for the other runtime has to serve its own.
#[test]
fn runtimes_that_install_on_each_other_do_not_dead_lock() {
    fn down(here: &Handle, there: &Handle, depth: u32) -> u32 {
        if depth == 0 { 0 } else { here.install(|| 1 + down(there, here, depth - 1)) }
    }
    for workers in [1, 2] {
        let (a, b) = (runtime(workers), runtime(workers));
        let (in_a, in_b) = (a.handle().clone(), b.handle().clone());
        let depths = within_patience("nested installs", move || {
            thread::scope(|threads| {
                let one = threads.spawn(|| down(&in_a, &in_b, 16));
                (down(&in_b, &in_a, 16), one.join().unwrap())
            })
        });
        assert_eq!(depths, (16, 16));
    }
}

#[test]
fn what_is_installed_on_a_runtime_that_ends_or_has_ended_is_run() {
    for _ in 0..20 {
        let runtime = runtime(1);
        let handle = runtime.handle().clone();
        let counted = AtomicUsize::new(0);
        thread::scope(|threads| {
            let installing = threads.spawn(|| {
                for _ in 0..100 {
                    handle.install(|| counted.fetch_add(1, Ordering::Relaxed));
                }
                assert_eq!(handle.broadcast(|index| index), [0]);
            });
            drop(runtime);
            installing.join().unwrap();
        });
        assert_eq!(counted.into_inner(), 100);
    }
}

/// What the closure forked went to the global runtime, which was started for it.
#[test]
fn what_is_installed_on_a_runtime_that_has_ended_stays_on_its_thread() {
    let runtime = Builder::new().workers(1).thread_name("ended").build().unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    assert!(Handle::try_current().is_none(), "nothing is entered");
    handle.install(|| {
        let current = Handle::try_current().expect("the runtime is entered");
        assert_eq!(current.thread_name(), "ended");
        let (a, b) = join(|| thread::current().id(), || thread::current().id());
        assert_eq!((a, b), (thread::current().id(), thread::current().id()));
    });
    assert!(Handle::try_current().is_none(), "and left again");
}

#[test]
fn a_broadcast_reaches_each_worker_once_also_in_joins_and_between_tasks() {
    let runtime = runtime(3);
    let handle = runtime.handle().clone();
    let ids = handle.broadcast(|index| {
        assert_eq!(windlass::worker_index(), Some(index));
        thread::current().id()
    });
    assert_eq!(ids.len(), 3);
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);

    // One waits in a join for what another is in, and the last has tasks without end.
    let (gate, stop) = (Gate::new(), Gate::new());
    let (open, stopped) = (gate.clone(), stop.clone());
    let waiting = runtime.spawn(async move { join(|| (), || open.wait()) });
    let busy = runtime.spawn(async move {
        while !stopped.is_open() {
            windlass::yield_now().await;
        }
    });
    let inner = handle.clone();
    let broadcasting = thread::spawn(move || inner.broadcast(|index| index));
    gate.open();
    assert_eq!(broadcasting.join().unwrap(), [0, 1, 2]);
    stop.open();
    wait_for(busy).unwrap();
    wait_for(waiting).unwrap();
    // From inside too, where the caller serves its own part.
    let again = handle.clone();
    assert_eq!(handle.install(move || again.broadcast(|index| index * 2)), [0, 2, 4]);
}

#[test]
fn the_first_panic_of_a_broadcast_is_passed_on_when_all_are_done() {
    let runtime = runtime(2);
    let called = AtomicUsize::new(0);
    let caught = panic::catch_unwind(AssertUnwindSafe(|| {
        runtime.handle().broadcast(|index| {
            called.fetch_add(1, Ordering::Relaxed);
            if index == 1 {
                throw("broadcast");
            }
        });
    }));
    assert_eq!(text_of(&*caught.unwrap_err()), "broadcast");
    assert_eq!(called.into_inner(), 2);
}

#[test]
fn a_thread_outside_spawns_onto_a_scope_of_workers() {
    let runtime = runtime(1);
    let ids = runtime.handle().install(|| {
        let (mut job, mut spawner) = (None, None);
        scope(|s| {
            thread::scope(|threads| {
                threads.spawn(|| {
                    spawner = Some(thread::current().id());
                    s.spawn(|_| job = Some(thread::current().id()));
                });
            });
        });
        (job.unwrap(), spawner.unwrap())
    });
    assert_ne!(ids.0, ids.1, "it was queued, and not run by the spawner");
}

#[test]
fn a_scope_in_place_keeps_to_its_thread() {
    let runtime = runtime(2);
    let _entered = runtime.enter();
    let here = thread::current().id();
    let not_send = Rc::new(1);
    let gate = Gate::new();
    let mut on = None;
    scope_in_place(|s| {
        s.spawn(|_| {
            gate.open();
            on = Some(thread::current().id());
        });
        assert_eq!(thread::current().id(), here);
        assert_eq!(*not_send, 1);
        gate.wait();
    });
    assert_ne!(on.unwrap(), here);
}

/// The jobs ran on the calling thread, one after the other, if the runtime had no place left for it.
#[test]
fn the_jobs_of_a_scope_in_place_are_queued_if_there_is_no_place_for_its_thread() {
    let runtime = runtime(1);
    // More than there are places for.
    let (inside, others) = (Gate::new(), 8);
    let (held, began) = (Gate::new(), AtomicUsize::new(0));
    thread::scope(|threads| {
        for _ in 0..others {
            threads.spawn(|| {
                let _entered = runtime.enter();
                // Each keeps a place, if it gets one, without having anything to share.
                scope_in_place(|_| {
                    began.fetch_add(1, Ordering::Relaxed);
                    held.wait();
                });
            });
        }
        wait_until("the others to take the places", || began.load(Ordering::Relaxed) == others);
        let _entered = runtime.enter();
        let (here, ended) = (thread::current().id(), AtomicUsize::new(0));
        let (inside, ended) = (&inside, &ended);
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            scope_in_place(|s| {
                s.spawn(move |s| {
                    assert_ne!(thread::current().id(), here, "a worker runs it");
                    inside.open();
                    s.spawn(move |_| _ = ended.fetch_add(1, Ordering::Relaxed));
                    s.spawn(|_| throw("in a job"));
                });
                // Not when it is spawned, but at the same time.
                inside.wait();
            });
        }));
        held.open();
        assert_eq!(text_of(&*caught.unwrap_err()), "in a job");
        assert_eq!(ended.load(Ordering::Relaxed), 1, "the scope waits for all");
    });
}
