//! The tasks of one thread: no wake-up is lost when that thread goes to wait, and none comes too late for its end.
#![cfg(loom)]

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use windlass_loom_tests::{Drops, Poison, Stash, check};
use windlass_runtime::model::{Local, Pool};

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a task that another thread wakes while its own goes to wait is run.
///
/// Seen to fail with: `run_ready` that looks at the queue before it takes the lock in which it leaves its waker.
#[test]
fn a_wake_up_comes_while_the_thread_goes_to_wait() {
    check(3, || {
        loom::stop_exploring();
        let pool = Pool::new(1, 0);
        let (stash, written) = (Stash::default(), Arc::new(AtomicBool::new(false)));
        let local = Local::new(&pool);
        let handle = local.spawn({
            let (stash, written) = (stash.clone(), written.clone());
            poll_fn(move |cx| {
                stash.keep(cx);
                if written.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
            })
        });
        local.run_until(|| true);
        loom::explore();
        let waker = stash.take();
        let other = thread::spawn(move || {
            written.store(true, Ordering::Relaxed);
            waker.wake();
        });
        local.run_until(|| handle.is_finished());
        other.join().unwrap();
        local.close();
    });
}

/// Property: the end waits for a task that another thread has made ready and has yet to queue; that thread touches
/// nothing that is gone.
///
/// Seen to fail with: `close` that does not wait for what is unfinished.
#[test]
fn a_wake_up_comes_while_the_tasks_are_cancelled() {
    check(3, || {
        loom::stop_exploring();
        let pool = Pool::new(1, 0);
        let (stash, drops) = (Stash::default(), Drops::default());
        let local = Local::new(&pool);
        let handle = local.spawn({
            let (stash, guard) = (stash.clone(), drops.guard());
            poll_fn(move |cx| {
                let _guard = &guard;
                stash.keep(cx);
                Poll::<()>::Pending
            })
        });
        drop(handle);
        local.run_until(|| true);
        loom::explore();
        let waker = stash.take();
        let other = thread::spawn(move || waker.wake());
        local.close();
        assert_eq!(drops.count(), 1);
        other.join().unwrap();
    });
}
