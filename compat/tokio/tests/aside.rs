//! The threads of the tokio runtime beside ours: when they may be blocked, and how many there are.

#[path = "../../../tests/util/mod.rs"]
mod util;

use std::sync::Arc;
use std::time::Duration;

use util::{PATIENCE, text_of, wait_for, within_patience};
use windlass::sync::Latch;
use windlass::{Builder, Runtime};
use windlass_tokio::BuilderExt;

/// Runtimes whose tokio has one thread, and two.
fn bridged() -> [Runtime; 2] {
    let builder = || Builder::new().workers(1);
    [builder().with_tokio().build().unwrap(), builder().with_tokio_threads(2).build().unwrap()]
}

fn wait_on_tokio() {
    windlass::block_on(tokio::time::sleep(Duration::from_millis(1)));
}

/// The thread waited for a timer that it drives itself, and nothing of tokio's went on.
#[test]
fn our_block_on_is_refused_in_a_task_of_tokios() {
    for runtime in bridged() {
        let refused = runtime.spawn(async { tokio::spawn(async { wait_on_tokio() }).await });
        let refused = within_patience("a nested block_on", move || wait_for(refused)).unwrap();
        let payload = refused.unwrap_err().into_panic();
        let message = text_of(&*payload);
        assert!(message.contains("tokio::task::spawn_blocking"), "says what to do: {message}");
        // And the thread goes on.
        let next = runtime.spawn(async { tokio::spawn(async { 42 }).await.unwrap() });
        assert_eq!(within_patience("the next task", move || wait_for(next)).unwrap(), 42);
        assert!(runtime.shutdown(PATIENCE).is_clean());
    }
}

#[test]
fn our_block_on_is_allowed_where_tokio_allows_its_own() {
    let [one, two] = bridged();
    for runtime in [&one, &two] {
        let blocking = runtime.spawn(async {
            tokio::task::spawn_blocking(wait_on_tokio).await.unwrap();
        });
        within_patience("a blocking closure", move || wait_for(blocking)).unwrap();
    }
    let in_place = two.spawn(async {
        tokio::spawn(async { tokio::task::block_in_place(wait_on_tokio) }).await.unwrap();
    });
    within_patience("in place", move || wait_for(in_place)).unwrap();
    for runtime in [one, two] {
        assert!(runtime.shutdown(PATIENCE).is_clean());
    }
}

#[test]
fn tasks_of_tokios_run_on_as_many_threads_as_were_asked_for() {
    let [_, two] = bridged();
    let met = Arc::new(Latch::new(2));
    let meeting = two.spawn(async move {
        // Each blocks its thread until the other has come.
        let meet = || {
            let met = met.clone();
            tokio::spawn(async move {
                met.count_down();
                assert!(met.wait_timeout(PATIENCE), "the other has a thread of its own");
                windlass::spawn(async {}).await.unwrap();
            })
        };
        let (first, second) = (meet(), meet());
        first.await.unwrap();
        second.await.unwrap();
        // On our worker, as ever.
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(windlass::worker_index().is_some());
    });
    within_patience("the meeting", move || wait_for(meeting)).unwrap();
    assert!(two.shutdown(PATIENCE).is_clean());
}

#[test]
#[should_panic(expected = "without a thread")]
fn tokio_without_a_thread_is_refused() {
    let _ = Builder::new().with_tokio_threads(0);
}
