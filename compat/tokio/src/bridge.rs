//! The bridge: a tokio runtime beside ours, for crates that call tokio at run time.
//!
//! # Who runs what
//!
//! The *side runtime* is tokio's own current-thread runtime, on one thread. It has tokio's drivers for time, sockets,
//! signals and processes, and runs the tasks of `tokio::spawn`. All other futures stay on our workers; the drivers call
//! our wakers.
//!
//! Each of our threads enters the side runtime for its whole life, and each `block_on` for its duration, so that a poll
//! costs nothing extra. A worker does so by living *inside* a `block_on` of the side runtime, a single poll without
//! end. So tokio knows that the thread must not be blocked, and refuses a nested `block_on` with a panic instead of
//! holding up our tasks. That poll is unconstrained, because tokio's budget would never be renewed. In the other
//! direction, the threads of the side runtime, including those of its blocking pool, have entered ours.
//!
//! # The end
//!
//! Our runtime ends first, so that the values it drops, and blocking closures that still run, find tokio alive. Then
//! `stop` ends the side thread's `block_on`. The thread drops tokio's tasks, waits for its blocking pool for as long as
//! there is time, and signals `ended`.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder as SideBuilder, Handle as SideHandle, Runtime as SideRuntime};
use tokio::task::unconstrained;
use windlass_runtime::{Builder, Companion, Handle, ThreadKind};
use windlass_sync::{Latch, ManualResetEvent};

/// tokio adds the time to wait to the clock, and the sum must not overflow.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// Added to the messages with which tokio refuses to block a worker.
const WHAT_TO_DO: &str = "This thread is a worker of windlass: await the future instead, or do what blocks \
                          inside of `windlass::task::block_in_place` or `windlass::spawn_blocking`.";

/// Adds a tokio runtime beside the one that is built.
pub trait BuilderExt {
    /// Lets crates that call tokio at run time work in this runtime's tasks:
    /// `tokio::{spawn, time, net, fs, process, signal}` and crates built on them, such as reqwest, sqlx and tonic.
    ///
    /// This starts one more thread, with tokio's drivers. The tasks of this runtime, and the tokio futures in them, run
    /// on its workers; only the tasks of `tokio::spawn` run on that thread. Code there can use this runtime: a
    /// `windlass::spawn` in it leads to its workers. [`shutdown`](windlass_runtime::Runtime::shutdown) ends this
    /// runtime first and then tokio's, within the same deadline. If one of tokio's tasks does not end, the report is
    /// not clean.
    ///
    /// Programs without a builder also switch it on in one line:
    ///
    /// ```
    /// #[windlass::main(tokio = true)] // and `#[windlass::test(tokio = true)]`
    /// async fn main() {
    ///     tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    /// }
    /// ```
    ///
    /// Before anything uses the global runtime, `Builder::new().with_tokio().build_global()` starts it with tokio
    /// beside it.
    ///
    /// # Errors
    ///
    /// [`build`](Builder::build) fails if tokio's thread or its descriptors can't be created.
    /// [`build_manual`](Builder::build_manual) always fails.
    ///
    /// # Panics
    ///
    /// `tokio::runtime::Handle::block_on` panics on a worker, as it does on one of tokio's, and so do `blocking_recv`,
    /// `blocking_lock` and reqwest's `blocking` module. Await the future, or make the call in
    /// [`block_in_place`](windlass_runtime::task::block_in_place) or
    /// [`spawn_blocking`](windlass_runtime::spawn_blocking), where it is allowed. The task's
    /// [`JoinError`](windlass_runtime::task::JoinError) and a line on standard error say so too.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass_tokio::BuilderExt;
    ///
    /// let runtime = windlass::Builder::new().with_tokio().build()?;
    /// let answer = runtime.spawn(async {
    ///     tokio::time::sleep(Duration::from_millis(1)).await;
    ///     tokio::spawn(async { windlass::spawn(async { 42 }).await.unwrap() }).await.unwrap()
    /// });
    /// assert_eq!(runtime.block_on(answer).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn with_tokio(self) -> Self;
}

impl BuilderExt for Builder {
    fn with_tokio(self) -> Self {
        self.companion(|ours| Ok(Box::new(Bridge::start(ours)?)))
    }
}

/// The side runtime as ours sees it.
struct Bridge {
    handle: SideHandle,
    end: Arc<End>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

/// The signals that tell the side thread to end, and that report that it has ended.
struct End {
    stop: ManualResetEvent,
    /// Set before `stop` is set.
    timeout: Mutex<Duration>,
    ended: Latch,
}

impl Bridge {
    fn start(ours: &Handle) -> io::Result<Self> {
        let name = format!("{}-tokio", ours.thread_name());
        let side = build(ours.clone(), &name).map_err(|error| explain(&error))?;
        let handle = side.handle().clone();
        let end = Arc::new(End {
            stop: ManualResetEvent::new(false),
            timeout: Mutex::default(),
            ended: Latch::new(1),
        });
        let life = {
            let (ours, end) = (ours.clone(), end.clone());
            move || run(side, ours, &end)
        };
        let thread = thread::Builder::new().name(name).spawn(life);
        let thread = Mutex::new(Some(thread.map_err(|error| explain(&error))?));
        Ok(Self { handle, end, thread })
    }
}

fn build(ours: Handle, name: &str) -> io::Result<SideRuntime> {
    SideBuilder::new_current_thread()
        .enable_all()
        .thread_name(format!("{name}-blocking"))
        // Entered for good: the runtime is left when the thread ends.
        .on_thread_start(move || mem::forget(ours.enter()))
        .build()
}

fn explain(error: &io::Error) -> io::Error {
    let message = format!(
        "the tokio runtime beside this one could not be started: {error}. It needs a thread and \
         a few descriptors; leave `with_tokio` out if no crate calls tokio"
    );
    io::Error::new(error.kind(), message)
}

/// The life of the side thread.
fn run(side: SideRuntime, ours: Handle, end: &End) {
    struct SayEnded<'a>(&'a Latch);
    impl Drop for SayEnded<'_> {
        fn drop(&mut self) {
            self.0.count_down();
        }
    }
    // Declared first, so that it is the last to be dropped.
    let _ended = SayEnded(&end.ended);
    let ours = ours;
    let _entered = ours.enter();
    side.block_on(end.stop.wait());
    let timeout = *end.timeout.lock().unwrap_or_else(PoisonError::into_inner);
    side.shutdown_timeout(timeout);
}

impl Companion for Bridge {
    fn surround(&self, thread: ThreadKind, body: &mut dyn FnMut()) {
        match thread {
            ThreadKind::Worker => self.handle.block_on(unconstrained(async { body() })),
            // These threads may be blocked, by tokio as well.
            _ => {
                let _entered = self.handle.enter();
                body();
            }
        }
    }

    fn block_in_place(&self, body: &mut dyn FnMut()) {
        tokio::task::block_in_place(body);
    }

    fn explain(&self, message: &str) -> Option<String> {
        const CAUSES: [&str; 3] = [
            "Cannot start a runtime from within a runtime",
            "Cannot block the current thread from within a runtime",
            "Cannot drop a runtime in a context where blocking is not allowed",
        ];
        if !CAUSES.iter().any(|cause| message.starts_with(cause)) {
            return None;
        }
        // The message itself was printed where it panicked. If nobody awaits the task, nothing else would be seen.
        let _ = writeln!(io::stderr(), "{WHAT_TO_DO}");
        Some(WHAT_TO_DO.to_owned())
    }

    fn shut_down(&self, timeout: Duration) -> bool {
        let timeout = timeout.min(LONGEST_WAIT);
        *self.end.timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
        self.end.stop.set();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return true };
        // One of tokio's tasks that ends the runtime can't wait for itself.
        if thread.thread().id() == thread::current().id() || !self.end.ended.wait_timeout(timeout) {
            return false;
        }
        thread.join().is_ok()
    }
}
