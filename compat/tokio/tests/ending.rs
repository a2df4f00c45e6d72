//! How a bridged runtime ends: ours first, then tokio's, in the time there is, and nothing is left behind.

#[path = "../../../tests/util/mod.rs"]
mod util;

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle as SideHandle;
use util::{Count, Gate, OnDrop, OpenOnDrop, PATIENCE, wait_for, wait_until, within_patience};
use windlass::{Builder, Runtime};
use windlass_tokio::BuilderExt;

fn bridged(workers: usize) -> Runtime {
    Builder::new().workers(workers).with_tokio().build().unwrap()
}

#[test]
fn ours_ends_first_and_finds_tokio_alive() {
    let runtime = bridged(2);
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let order = order.clone();
        OnDrop(move || {
            let alive = SideHandle::try_current().is_ok();
            order.lock().unwrap().push((what, alive));
        })
    };
    let waiting = Count::new();
    let hold = |note: OnDrop<_>| {
        let waiting = waiting.clone();
        async move {
            let _note = note;
            waiting.add();
            pending::<()>().await;
        }
    };
    let (ours, theirs) = (hold(note("ours")), hold(note("theirs")));
    drop(runtime.spawn(async move {
        drop(tokio::spawn(theirs));
        ours.await;
    }));
    waiting.wait_for(2);
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert_eq!(*order.lock().unwrap(), [("ours", true), ("theirs", true)]);
}

#[test]
fn a_runtime_with_bridged_tasks_alive_can_be_dropped() {
    for _ in 0..20 {
        let (runtime, dropped) = (bridged(2), Count::new());
        let held = Count::new();
        for _ in 0..10 {
            let (mark, held) = (dropped.on_drop(), held.clone());
            drop(runtime.spawn(async move {
                let _mark = mark;
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let aside = tokio::spawn(async move { listener.accept().await.unwrap() });
                let stream = TcpStream::connect(address).await.unwrap();
                let _accepted = aside.await.unwrap();
                held.add();
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(3600)) => {}
                    readable = stream.readable() => readable.unwrap(),
                }
            }));
        }
        held.wait_for(10);
        drop(runtime);
        assert_eq!(dropped.get(), 10);
    }
}

#[test]
fn a_task_of_tokio_that_blocks_is_waited_for_until_the_deadline() {
    let runtime = bridged(1);
    let (began, gate) = (Count::new(), Gate::new());
    let _release = OpenOnDrop(gate.clone());
    drop(runtime.spawn({
        let (began, gate) = (began.clone(), gate.clone());
        async move {
            drop(tokio::spawn(async move {
                began.add();
                gate.wait();
            }));
        }
    }));
    began.wait_for(1);
    let report = runtime.shutdown(Duration::from_millis(20));
    assert!(!report.is_clean());
    gate.open();
}

#[test]
fn a_task_of_tokio_may_end_our_runtime() {
    // With threads of tokio's own, too: it waited for itself.
    let builders = [Builder::with_tokio, |builder| Builder::with_tokio_threads(builder, 2)];
    for set in builders {
        let runtime = set(Builder::new().workers(1)).build().unwrap();
        let handle = runtime.handle().clone();
        let ended = Gate::new();
        let opener = ended.clone();
        handle.block_on(async move {
            drop(tokio::spawn(async move {
                assert!(!runtime.shutdown(Duration::MAX).is_clean());
                opener.open();
            }));
        });
        ended.wait();
        assert!(wait_for(handle.spawn(async {})).is_err());
    }
}

#[test]
fn a_task_of_ours_may_end_our_runtime() {
    let runtime = bridged(1);
    let handle = runtime.handle().clone();
    let ended = within_patience("a runtime that a worker drops", move || {
        wait_for(handle.spawn(async move { drop(runtime) }))
    });
    ended.unwrap();
}

/// The pool has the bridge, and the bridge has a handle to the pool.
#[test]
fn nothing_is_left_of_a_runtime_that_has_ended() {
    let kept = Arc::new(());
    let runtime = {
        let kept = kept.clone();
        let hook = move || assert!(Arc::strong_count(&kept) > 0);
        Builder::new().workers(1).on_thread_start(hook).with_tokio().build().unwrap()
    };
    wait_for(runtime.spawn(async {
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        windlass::spawn_blocking(|| ()).await.unwrap();
    }))
    .unwrap();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    wait_until("the last thread has let go", || Arc::strong_count(&kept) == 1);
}

/// A closure that waits for tokio while our runtime ends.
#[test]
fn a_blocking_closure_finds_tokio_to_the_end() {
    let runtime = bridged(1);
    let (began, go) = (Gate::new(), Gate::new());
    let _release = OpenOnDrop(go.clone());
    let closure = runtime.spawn_blocking({
        let (began, go) = (began.clone(), go.clone());
        move || {
            began.open();
            go.wait();
            let slept = SideHandle::current().block_on(async {
                tokio::spawn(async { tokio::time::sleep(Duration::from_millis(1)).await }).await
            });
            slept.is_ok()
        }
    });
    began.wait();
    let ending = std::thread::spawn(move || runtime.shutdown(PATIENCE));
    go.open();
    assert!(wait_for(closure).unwrap());
    assert!(ending.join().unwrap().is_clean());
}
