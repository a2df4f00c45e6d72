//! The bridge: a tokio runtime beside ours, for crates that call tokio at run time.
//!
//! # Who runs what
//!
//! The *side runtime* is tokio's own current-thread runtime, on one thread. It has tokio's drivers for time, sockets,
//! signals and processes, and runs what is given to `tokio::spawn`. All other futures run where they are: on our
//! workers, whose wakers the drivers call. If more threads are asked for, it is tokio's multi-threaded runtime, and the one
//! thread only holds it.
//!
//! Each thread of ours has the side runtime entered for as long as it lives, and each `block_on` as long as that lasts,
//! so that a poll costs nothing more. A worker does so by living *inside* of a `block_on` of the side runtime, a single
//! poll without end: tokio then knows that the thread must not be blocked, and refuses a nested `block_on` with a panic
//! instead of holding up our tasks. That poll is unconstrained, because tokio's budget would never be renewed. In the other
//! direction the threads of the side runtime, those of its blocking pool included, have entered ours. They are none of our
//! workers, so our `block_on` would block them, and with them what it waits for. So there it asks tokio first whether the
//! thread may be blocked, by a `block_on` of nothing: tokio refuses in its tasks, and agrees in its blocking pool and in
//! its `block_in_place`.
//!
//! # The end
//!
//! Our runtime ends first, so that the values it drops, and blocking closures that still run, find tokio alive. Then
//! `stop` ends the side thread's `block_on`. The thread drops tokio's tasks, waits for its blocking pool for as long as
//! there is time, and signals `ended`.

use std::any::Any;
use std::cell::OnceCell;
use std::io::{self, Write};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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

/// Added to the message with which tokio refuses to block one of its own threads.
const WHAT_TO_DO_ASIDE: &str = "This thread runs tasks of tokio's: await the future instead, give it to \
                                `windlass::spawn`, or block inside of `tokio::task::spawn_blocking`.";

thread_local! {
    /// The end of the side runtime that this thread is one of.
    static ASIDE: OnceCell<Arc<End>> = const { OnceCell::new() };
}

/// Sets a tokio runtime beside the one that is built.
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
    /// In turn, a [`block_on`](windlass_runtime::block_on) of ours panics in a task of tokio's. It would block the thread
    /// that tokio's drivers run on, and wait for them.
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

    /// Does what [`with_tokio`](Self::with_tokio) does, and has what is given to `tokio::spawn` run on as many threads.
    ///
    /// This is for programs that spend much of their time in tasks that libraries give to `tokio::spawn`, such as
    /// tonic's server or the connections of a database driver: with `with_tokio`, all of these share one thread. The
    /// threads compete for the CPUs with this runtime's workers, so ask for few. There is one thread more, which holds
    /// tokio's runtime and sleeps.
    ///
    /// # Panics
    ///
    /// Panics if `threads` is zero. [`build`](Builder::build) panics if the OS refuses one of the threads. The rest is as
    /// with [`with_tokio`](Self::with_tokio); in addition, `tokio::task::block_in_place` works in what was given to
    /// `tokio::spawn`, and in it our `block_on`.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass_tokio::BuilderExt;
    ///
    /// let runtime = windlass::Builder::new().with_tokio_threads(2).build()?;
    /// let answer = runtime.spawn(async {
    ///     tokio::spawn(async { tokio::task::block_in_place(|| 42) }).await.unwrap()
    /// });
    /// assert_eq!(runtime.block_on(answer).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn with_tokio_threads(self, threads: usize) -> Self;
}

impl BuilderExt for Builder {
    fn with_tokio(self) -> Self {
        self.companion(|ours| Ok(Box::new(Bridge::start(ours, None)?)))
    }

    fn with_tokio_threads(self, threads: usize) -> Self {
        assert!(threads > 0, "tasks without a thread never run");
        self.companion(move |ours| Ok(Box::new(Bridge::start(ours, Some(threads))?)))
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

impl End {
    /// Notes that this thread is one of the side runtime.
    fn note_thread(self: &Arc<Self>) {
        ASIDE.with(|aside| drop(aside.set(self.clone())));
    }

    /// Returns true if this thread is one of the side runtime.
    fn is_here(self: &Arc<Self>) -> bool {
        let is_this = |end: &Arc<Self>| Arc::ptr_eq(end, self);
        // A thread that ends may have dropped its note. Nothing is done there that could wait for the thread.
        ASIDE.try_with(|aside| aside.get().is_some_and(is_this)).unwrap_or(false)
    }
}

impl Bridge {
    fn start(ours: &Handle, threads: Option<usize>) -> io::Result<Self> {
        let name = format!("{}-tokio", ours.thread_name());
        let end = Arc::new(End {
            stop: ManualResetEvent::new(false),
            timeout: Mutex::default(),
            ended: Latch::new(1),
        });
        let side = build(ours.clone(), &end, &name, threads).map_err(|error| explain(&error))?;
        let handle = side.handle().clone();
        let life = {
            let (ours, end) = (ours.clone(), end.clone());
            move || run(side, ours, &end)
        };
        let thread = thread::Builder::new().name(name).spawn(life);
        let thread = Mutex::new(Some(thread.map_err(|error| explain(&error))?));
        Ok(Self { handle, end, thread })
    }

    /// Panics if this thread runs tasks of the side runtime, as tokio does at a `block_on` in them.
    fn refuse_in_tasks(&self) {
        if ASIDE.with(|aside| aside.get().is_none()) {
            return;
        }
        let asking = AssertUnwindSafe(|| self.handle.block_on(async {}));
        if let Err(refusal) = catch_unwind(asking) {
            // What tokio says was printed where it panicked.
            let _ = writeln!(io::stderr(), "{WHAT_TO_DO_ASIDE}");
            resume_unwind(Box::new(format!("{} {WHAT_TO_DO_ASIDE}", text_of(&*refusal))));
        }
    }
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or_default()
}

/// Builds a runtime that is driven by one thread, or by as many as were asked for.
fn build(
    ours: Handle,
    end: &Arc<End>,
    name: &str,
    threads: Option<usize>,
) -> io::Result<SideRuntime> {
    let end = end.clone();
    let (mut builder, thread_name) = match threads {
        None => (SideBuilder::new_current_thread(), format!("{name}-blocking")),
        Some(_) => (SideBuilder::new_multi_thread(), format!("{name}-worker")),
    };
    if let Some(threads) = threads {
        builder.worker_threads(threads);
    }
    builder
        .enable_all()
        .thread_name(thread_name)
        .on_thread_start(move || {
            end.note_thread();
            // For good: the thread's end leaves it.
            mem::forget(ours.enter());
        })
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
fn run(side: SideRuntime, ours: Handle, end: &Arc<End>) {
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
    end.note_thread();
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
                if thread == ThreadKind::BlockOn {
                    self.refuse_in_tasks();
                }
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
        // A task of tokio's that ends the runtime can't wait for itself, and neither can a closure of its blocking pool.
        if self.end.is_here() || !self.end.ended.wait_timeout(timeout) {
            return false;
        }
        thread.join().is_ok()
    }
}
