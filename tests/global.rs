//! The global runtime: started by the first free function that finds no other, for good.

mod util;

use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;

use util::{Count, Gate, PATIENCE, is_child, passes_in_child, runtime, text_of, wait_for};
use windlass::Handle;
use windlass::task::{self, JoinSet};
use windlass::timer::sleep;

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

#[test]
fn free_functions_outside_of_any_runtime_share_one() {
    const NAME: &str = "free_functions_outside_of_any_runtime_share_one";
    if !is_child() {
        return passes_in_child(NAME, &[("WINDLASS_WORKERS", "2")]);
    }
    assert!(Handle::try_current().is_none());
    assert!(wait_for(windlass::spawn(async { thread_name() })).unwrap().starts_with("windlass-"));
    assert!(Handle::try_current().is_none(), "used, but not entered");
    windlass::block_on(async { windlass::spawn(async {}).await.unwrap() });
    wait_for(windlass::spawn_blocking(|| ())).unwrap();
    wait_for(task::Builder::new().name("named").spawn(async {})).unwrap();
    wait_for(task::Builder::new().spawn_blocking(|| ())).unwrap();
    let mut set = JoinSet::new();
    set.spawn(async {});
    set.spawn_blocking(|| ());
    assert_eq!(wait_for(set.join_all()).len(), 2);
    let metrics = Handle::current().metrics();
    assert_eq!(metrics.workers.len(), 2);
    assert_eq!(metrics.tasks_spawned, 4);
}

#[test]
fn many_threads_start_it_once() {
    const NAME: &str = "many_threads_start_it_once";
    if !is_child() {
        return passes_in_child(NAME, &[]);
    }
    let ran = Count::new();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let ran = ran.clone();
                    wait_for(windlass::spawn(async move { ran.add() })).unwrap();
                }
            });
        }
    });
    assert_eq!(ran.get(), 800);
    assert_eq!(Handle::current().metrics().tasks_spawned, 800);
}

#[test]
fn a_program_may_build_it_once_and_first() {
    const NAME: &str = "a_program_may_build_it_once_and_first";
    if !is_child() {
        return passes_in_child(NAME, &[("WINDLASS_WORKERS", "2")]);
    }
    let error = windlass::Builder::new().workers(0).build_global().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "and there is still none");
    windlass::Builder::new().workers(1).thread_name("chosen").build_global().unwrap();
    assert!(wait_for(windlass::spawn(async { thread_name() })).unwrap().starts_with("chosen-"));
    let error = windlass::Builder::new().workers(2).build_global().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("before"), "{error}");
    assert_eq!(Handle::current().metrics().workers.len(), 1);
}

#[test]
fn threads_that_build_it_at_once_agree_on_one() {
    const NAME: &str = "threads_that_build_it_at_once_agree_on_one";
    if !is_child() {
        return passes_in_child(NAME, &[]);
    }
    let build = |workers| windlass::Builder::new().workers(workers).build_global().is_ok();
    let built: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (1..=4).map(|n| (n, scope.spawn(move || build(n)))).collect();
        threads.into_iter().filter_map(|(n, thread)| thread.join().unwrap().then_some(n)).collect()
    });
    assert_eq!(built, [Handle::current().metrics().workers.len()]);
}

#[test]
fn an_entered_runtime_goes_before_it() {
    let own = runtime(1);
    let _entered = own.enter();
    wait_for(windlass::spawn(async {})).unwrap();
    windlass::block_on(async { windlass::spawn(async {}).await.unwrap() });
    assert_eq!(own.metrics().tasks_spawned, 2);
}

#[test]
fn it_serves_after_other_runtimes_have_ended() {
    let own = runtime(1);
    let task = own.spawn(async { Handle::current() });
    let handle = wait_for(task).unwrap();
    assert!(own.shutdown(PATIENCE).is_clean());
    assert!(wait_for(handle.spawn(async {})).is_err());
    assert_eq!(wait_for(windlass::spawn(async { 1 })).unwrap(), 1);
}

#[test]
fn a_task_that_is_being_cancelled_does_not_start_it_for_its_timers() {
    const NAME: &str = "a_task_that_is_being_cancelled_does_not_start_it_for_its_timers";
    if !is_child() {
        // It can't be started.
        return passes_in_child(NAME, &[("WINDLASS_WORKERS", "none")]);
    }
    struct Counts(Count);
    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            self.0.add();
        }
    }
    let own = runtime(1);
    let armed = Gate::new();
    let task = {
        let armed = armed.clone();
        own.spawn(async move {
            let closed = Count::new();
            let waker = Waker::from(Arc::new(Counts(closed.clone())));
            let mut nap = sleep(PATIENCE);
            assert!(Pin::new(&mut nap).poll(&mut Context::from_waker(&waker)).is_pending());
            armed.open();
            // In the same poll, so that it is this task that finds its runtime closed.
            closed.wait_for(1);
            nap.await;
        })
    };
    armed.wait();
    assert!(own.shutdown(PATIENCE).is_clean());
    assert!(wait_for(task).unwrap_err().is_cancelled());
}

#[test]
fn a_bad_setting_for_it_is_a_panic_that_says_so() {
    const NAME: &str = "a_bad_setting_for_it_is_a_panic_that_says_so";
    if !is_child() {
        return passes_in_child(NAME, &[("WINDLASS_WORKERS", "none")]);
    }
    let failed = std::panic::catch_unwind(|| drop(windlass::spawn(async {}))).unwrap_err();
    let message = text_of(&*failed);
    assert!(message.contains("WINDLASS_WORKERS"), "{message}");
}

#[test]
fn a_process_ends_while_the_global_runtime_is_busy() {
    const NAME: &str = "a_process_ends_while_the_global_runtime_is_busy";
    if !is_child() {
        return passes_in_child(NAME, &[]);
    }
    for _ in 0..10 {
        drop(windlass::spawn(async {
            loop {
                windlass::yield_now().await;
            }
        }));
        drop(windlass::spawn_blocking(|| thread::sleep(PATIENCE)));
    }
}
