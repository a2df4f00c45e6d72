//! Helpers of the integration tests: waiting with a deadline, gates, and values that watch
//! themselves being dropped.
//!
//! Nothing here sleeps and hopes: a test waits for what it needs, and fails with its name if that
//! does not come within [`PATIENCE`].

// Every test binary takes what it needs.
#![allow(dead_code)]

use std::any::Any;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use windlass::timer::{Sleep, sleep};
use windlass::{Builder, Runtime};

/// How long anything may take before its test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Returns a runtime with this many workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).build().unwrap()
}

/// Waits until `done` says so.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_micros(200));
    }
}

/// Calls `f` with longer and longer times until it returns something: for what has to be done before a timer is due,
/// also on a machine that stands still now and then.
#[track_caller]
pub(crate) fn in_time<T>(mut f: impl FnMut(Duration) -> Option<T>) -> T {
    let mut time = Duration::from_millis(50);
    while time < PATIENCE {
        if let Some(done) = f(time) {
            return done;
        }
        time *= 3;
    }
    panic!("never in time");
}

/// Returns a timer that this waker waits for. It is due after a time that anybody can watch it for.
#[track_caller]
pub(crate) fn armed_sleep(waker: &Waker) -> Sleep {
    in_time(|time| {
        let mut nap = sleep(5 * time);
        Pin::new(&mut nap).poll(&mut Context::from_waker(waker)).is_pending().then_some(nap)
    })
}

/// Runs `f` on a thread of its own and fails if it does not come back: for what could dead-lock.
#[track_caller]
pub(crate) fn within_patience<T: Send + 'static>(
    what: &str,
    f: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(catch_unwind(AssertUnwindSafe(f))));
    match result.recv_timeout(PATIENCE) {
        Ok(Ok(value)) => value,
        Ok(Err(payload)) => resume_unwind(payload),
        Err(RecvTimeoutError::Timeout) => panic!("does not come back: {what}"),
        Err(RecvTimeoutError::Disconnected) => panic!("died: {what}"),
    }
}

/// Awaits a future on the calling thread, without any runtime, and fails if it takes for ever.
#[track_caller]
pub(crate) fn wait_for<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    let start = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        let left = PATIENCE.saturating_sub(start.elapsed());
        assert!(!left.is_zero(), "awaited in vain");
        thread::park_timeout(left);
    }
}

/// Polls once, with a waker that does nothing.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A door that threads block at until it is opened.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn open(&self) {
        *self.lock() = true;
        self.0.1.notify_all();
    }

    pub(crate) fn is_open(&self) -> bool {
        *self.lock()
    }

    // Somebody who waited in vain leaves the lock poisoned; the others still want to be let go.
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks the thread until the gate is open.
    #[track_caller]
    pub(crate) fn wait(&self) {
        let (open, result) = self
            .0
            .1
            .wait_timeout_while(self.lock(), PATIENCE, |open| !*open)
            .unwrap_or_else(PoisonError::into_inner);
        drop(open);
        assert!(!result.timed_out(), "a gate was never opened");
    }
}

/// Opens its gate when dropped, so that a failing test leaves no thread stuck.
pub(crate) struct OpenOnDrop(pub(crate) Gate);

impl Drop for OpenOnDrop {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// A door that tasks wait at until it is opened.
#[derive(Clone, Default)]
pub(crate) struct AsyncGate(Arc<Mutex<(bool, VecDeque<Waker>)>>);

impl AsyncGate {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn open(&self) {
        let wakers = {
            let mut inner = self.0.lock().unwrap();
            inner.0 = true;
            std::mem::take(&mut inner.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// How many wakers wait at the gate.
    pub(crate) fn waiting(&self) -> usize {
        self.0.lock().unwrap().1.len()
    }

    pub(crate) async fn wait(&self) {
        std::future::poll_fn(|cx| {
            let mut inner = self.0.lock().unwrap();
            if inner.0 {
                return Poll::Ready(());
            }
            inner.1.push_back(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Counts events from anywhere.
#[derive(Clone, Default, Debug)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Counts one, and gives the number before.
    pub(crate) fn add(&self) -> usize {
        self.0.fetch_add(1, SeqCst)
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(SeqCst)
    }

    /// A value whose drop is counted here.
    pub(crate) fn on_drop(&self) -> CountDrop {
        CountDrop(self.clone())
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, number: usize) {
        wait_until("a count", || self.get() >= number);
    }
}

/// Counts its drop.
#[derive(Debug)]
pub(crate) struct CountDrop(Count);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// Calls a closure when dropped.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Panics without the noise of the panic hook.
pub(crate) fn throw(message: &'static str) -> ! {
    resume_unwind(Box::new(message))
}

/// Panics when dropped.
#[derive(Debug)]
pub(crate) struct ThrowOnDrop(pub(crate) &'static str);

impl Drop for ThrowOnDrop {
    fn drop(&mut self) {
        throw(self.0);
    }
}

/// The text that a panic threw.
pub(crate) fn text_of(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text")
}

const CHILD: &str = "WINDLASS_TEST_CHILD";

/// True in a process started by [`run_in_child`].
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs one test of this binary again in a process of its own, where [`is_child`] is true.
pub(crate) fn run_in_child(test: &str, environment: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

/// As [`run_in_child`], and fails if the child does.
#[track_caller]
pub(crate) fn passes_in_child(test: &str, environment: &[(&str, &str)]) {
    let output = run_in_child(test, environment);
    assert!(
        output.status.success(),
        "{test} failed in a process of its own ({}):\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}
