//! The cooperative budget: a task that never has to wait lets others run all the same, and can be ended.

mod util;

use std::future::Future;
use std::sync::Arc;

use futures_lite::future::or;
use util::{PATIENCE, runtime, wait_for};
use windlass::sync::{AutoResetEvent, CancellationToken, Latch, ManualResetEvent};
use windlass::task::{consume_budget, cooperative};

/// Runs a task that never has to wait beside others on one worker; aborts one, and shuts down with another.
fn check<F>(make: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    // Nobody else could come to the rescue.
    let runtime = windlass::Builder::new().workers(1).max_spares(0).build().unwrap();
    let busy = runtime.spawn(make());
    wait_for(runtime.spawn(async {})).unwrap();
    busy.abort();
    assert!(wait_for(busy).unwrap_err().is_cancelled());
    let busy = runtime.spawn(make());
    wait_for(runtime.spawn(async {})).unwrap();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert!(wait_for(busy).unwrap_err().is_cancelled());
}

#[test]
fn a_loop_over_an_auto_reset_event_gives_way() {
    check(|| async {
        let event = AutoResetEvent::new(false);
        loop {
            event.set();
            event.wait().await;
        }
    });
}

#[test]
fn a_loop_over_a_manual_reset_event_that_is_set_gives_way() {
    check(|| async {
        let event = ManualResetEvent::new(true);
        loop {
            event.wait().await;
        }
    });
}

#[test]
fn a_loop_over_an_open_latch_gives_way() {
    check(|| async {
        let latch = Latch::new(0);
        loop {
            latch.wait().await;
        }
    });
}

#[test]
fn a_loop_over_a_cancelled_token_gives_way() {
    check(|| async {
        let token = CancellationToken::new();
        token.cancel();
        loop {
            token.cancelled().await;
        }
    });
    check(|| async {
        let token = CancellationToken::new();
        token.cancel();
        loop {
            token.clone().cancelled_owned().await;
        }
    });
    check(|| async {
        let token = CancellationToken::new();
        token.cancel();
        loop {
            assert_eq!(token.run_until_cancelled(async {}).await, None);
        }
    });
}

#[test]
fn a_loop_over_the_futures_of_others_gives_way() {
    check(|| async {
        let lock = windlass::lock::Mutex::new(());
        loop {
            drop(cooperative(lock.lock()).await);
        }
    });
    check(|| async {
        let (sender, receiver) = windlass::channel::bounded(1);
        loop {
            cooperative(sender.send(1)).await.unwrap();
            receiver.recv().await.unwrap();
        }
    });
}

/// What is polled before the wait uses the budget up in each poll of the task.
#[test]
fn a_wait_ends_what_never_has_to_wait() {
    async fn busy() {
        loop {
            consume_budget().await;
        }
    }
    let runtime = runtime(1);
    wait_for(runtime.spawn(async {
        let set = ManualResetEvent::new(true);
        or(busy(), set.wait()).await;
        or(busy(), cooperative(set.wait())).await;

        // In the queue when it is released, and on its way there.
        let event = Arc::new(AutoResetEvent::new(false));
        let setter = event.clone();
        let setting = windlass::spawn(async move { setter.set() });
        or(busy(), event.wait()).await;
        setting.await.unwrap();

        let token = CancellationToken::new();
        let canceller = token.clone();
        let cancelling = windlass::spawn(async move { canceller.cancel() });
        or(busy(), token.cancelled()).await;
        cancelling.await.unwrap();
        assert_eq!(token.run_until_cancelled(busy()).await, None);
    }))
    .unwrap();
}

/// A wait that is put off takes nothing from those before it.
#[test]
fn a_wait_without_budget_loses_no_signal() {
    let runtime = runtime(2);
    let (event, done) = (Arc::new(AutoResetEvent::new(false)), Arc::new(Latch::new(2)));
    for _ in 0..2 {
        let (event, done) = (event.clone(), done.clone());
        drop(runtime.spawn(async move {
            for _ in 0..10_000 {
                event.wait().await;
                event.set();
            }
            done.count_down();
        }));
    }
    event.set();
    wait_for(done.wait());
    assert!(event.is_set());
}

#[test]
fn a_thread_that_blocks_spends_no_budget() {
    let runtime = runtime(1);
    wait_for(runtime.spawn(async {
        let event = AutoResetEvent::new(false);
        for _ in 0..1_000 {
            event.set();
            event.wait_blocking();
            event.set();
            assert!(event.wait_timeout(PATIENCE));
        }
    }))
    .unwrap();
}
