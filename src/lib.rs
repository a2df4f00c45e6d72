//! A runtime for multicore servers: async tasks, I/O, timers and fork-join on one pool of work-stealing workers.
//!
//! # An echo server
//!
//! ```no_run
//! use windlass::{io, net::TcpListener};
//!
//! #[windlass::main]
//! async fn main() -> std::io::Result<()> {
//!     let listener = TcpListener::bind("127.0.0.1:7000").await?;
//!     loop {
//!         let (stream, _peer) = listener.accept().await?;
//!         windlass::spawn(async move { io::copy(&mut &stream, &mut &stream).await });
//!     }
//! }
//! ```
//!
//! `io::copy` wants a reader and a writer. `&stream` is both, because reads and writes take `&self`.
//!
//! # Coming from tokio
//!
//! | tokio | windlass |
//! |---|---|
//! | `#[tokio::main]`, `#[tokio::test]` | [`#[windlass::main]`](macro@main), [`#[windlass::test]`](macro@test) |
//! | `runtime::Builder`, `Runtime`, `Handle` | [`Builder`], [`Runtime`], [`Handle`] |
//! | `Handle::current().block_on` | [`block_on`], [`Handle::block_on`]; outside of any runtime they use a global one |
//! | `new_current_thread` | [`Builder::workers`] with 1, or the [`manual`] loop |
//! | `Runtime::shutdown_timeout` | [`Runtime::shutdown`], which reports what did not end in time |
//! | `RuntimeMetrics` | [`Handle::metrics`] |
//! | `tokio::spawn`, `spawn_blocking`, `JoinHandle`, `JoinSet` | [`spawn`], [`spawn_blocking`], [`task::JoinHandle`], [`task::JoinSet`] |
//! | `task::yield_now`, `block_in_place`, `task_local!` | [`yield_now`], [`task::block_in_place`], [`task_local!`] |
//! | `LocalSet`, `spawn_local` | [`task::spawn_local`] in a `block_on`, [`task::spawn_pinned`] anywhere |
//! | `tokio::time` | [`timer`](mod@timer): [`sleep`](timer::sleep), [`timeout`](timer::timeout), [`interval`](timer::interval); instants are `std`'s |
//! | `time::pause` and `advance` in tests | [`Builder::virtual_time`], [`timer::test`] |
//! | `sync::mpsc` | [`channel`] |
//! | `sync::oneshot`, `broadcast`, `watch` | tokio's, unchanged. Alternatives: [`channel::bounded(1)`](channel::bounded) or the crate `oneshot`; async-broadcast; none for `watch` |
//! | `sync::Notify` | [`sync::AutoResetEvent`]; to wake all waiters, [`sync::ManualResetEvent`], which stays set until it is reset |
//! | `sync::Mutex`, `RwLock`, `Semaphore`, `Barrier`, `OnceCell` | [`lock`] |
//! | tokio-util's `CancellationToken`, `TaskTracker`, `AbortOnDropHandle` | [`sync::CancellationToken`], [`task::TaskTracker`], [`task::AbortOnDropHandle`] |
//! | `select!`, `join!`, `try_join!` | futures-lite's `future::{or, zip, try_zip}`, or tokio's macros, unchanged |
//! | `net::TcpStream`, `UdpSocket`, `UnixStream`, `lookup_host` | the same names in [`net`]; [`net::resolve`] |
//! | `AsyncFd` | [`net::Async`] |
//! | `AsyncReadExt`, `AsyncWriteExt` | methods of the streams; futures-lite's `io` for other types, `BufReader` and `lines` |
//! | tokio-util's codecs, `Framed` | unchanged, around `windlass::tokio::Io` (feature `tokio-io`) |
//! | `signal`, `process`, `fs`, `io::{copy, copy_bidirectional}` | [`signal`], [`process`], [`fs`], [`io`] |
//! | rayon's `join`, `scope` | [`join`], [`scope`], [`par`], on the same workers; [`compute`] from async code |
//!
//! What differs:
//!
//! - **Reads and writes take `&self`.** Two tasks can share a stream by reference or in an `Arc`, one reading and one
//!   writing, without splitting it.
//! - **Streams implement the traits of [futures-io](https://docs.rs/futures-io)**, so the extension traits of
//!   futures-lite and futures work with them. The feature `tokio-io` adds adapters for crates that expect tokio's
//!   traits.
//! - **Dropping a [`Runtime`] ends its tasks**, and waits at most 5 seconds for code that blocks. This is what happens
//!   when the body of [`#[windlass::main]`](macro@main) returns. The body runs on the calling thread, as in tokio.
//! - **A worker that blocks freezes nothing**: the others run its tasks. If all are stuck while tasks wait, a spare
//!   takes over after 10 ms ([`Builder::stuck_after`]), or after 300 µs beside a computation without split points.
//! - **`recv` of a [`channel`] returns a `Result`**, which is an error when all senders are gone.
//!
//! windlass does not use io_uring. It has no `select!`, `join!`, `oneshot`, `broadcast` or `watch` of its own.
//!
//! `docs/tokio.md` in the repository moves an axum server from tokio to windlass step by step, and answers questions.
//!
//! Examples for some of the rows:
//!
//! ```
//! use std::rc::Rc;
//! use std::time::Duration;
//!
//! use futures_lite::{AsyncBufReadExt, future, io::BufReader};
//! use windlass::net::{TcpListener, TcpStream};
//! use windlass::sync::AutoResetEvent;
//! use windlass::{channel, fs, lock, signal, task, timer};
//!
//! # #[windlass::main]
//! # async fn main() -> std::io::Result<()> {
//! // `time::timeout` and `mpsc`
//! let (sender, receiver) = channel::bounded(8);
//! windlass::spawn(async move { sender.send("hello").await });
//! let first = timer::timeout(Duration::from_secs(30), receiver.recv()).await?;
//! assert_eq!(first, Ok("hello"));
//!
//! // `time::interval`
//! let mut ticks = timer::interval(Duration::from_millis(1));
//! ticks.tick().await;
//!
//! // `oneshot`
//! let (answer, asked) = channel::bounded(1);
//! windlass::spawn(async move { answer.send(42).await });
//! assert_eq!(asked.recv().await, Ok(42));
//!
//! // `JoinSet` and `spawn_blocking`
//! let mut set = task::JoinSet::new();
//! set.spawn(async { 1 });
//! set.spawn_blocking(|| 2);
//! assert_eq!(set.join_all().await.iter().sum::<i32>(), 3);
//!
//! // `LocalSet`: tasks that are not `Send`
//! let shared = Rc::new(7);
//! assert_eq!(task::spawn_local(async move { *shared }).await.unwrap(), 7);
//!
//! // `block_in_place`, in a task of the pool
//! let read = windlass::spawn(async { task::block_in_place(|| std::fs::read("Cargo.toml")) });
//! read.await.unwrap()?;
//!
//! // `Notify`
//! let event = AutoResetEvent::new(false);
//! event.set();
//! event.wait().await;
//!
//! // `select!` and `join!`
//! let late = async { timer::sleep(Duration::from_secs(60)).await };
//! future::or(late, async {}).await;
//! assert_eq!(future::zip(async { 1 }, async { 2 }).await, (1, 2));
//!
//! // `Mutex` and `Semaphore`
//! let total = lock::Mutex::new(1);
//! *total.lock().await += 1;
//! let permits = lock::Semaphore::new(2);
//! let _permit = permits.acquire().await;
//!
//! // `fs` and `signal`
//! let manifest = fs::read_to_string("Cargo.toml").await?;
//! assert!(!manifest.is_empty());
//! let _ctrl_c = signal::ctrl_c();
//!
//! // A stream, read and written through `&self`, and through the traits of futures-io.
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let client = TcpStream::connect(listener.local_addr()?).await?;
//! let (server, _peer) = listener.accept().await?;
//! future::try_zip(client.write_all(b"ping\n"), async {
//!     let mut line = String::new();
//!     BufReader::new(&server).read_line(&mut line).await?;
//!     assert_eq!(line, "ping\n");
//!     Ok(())
//! })
//! .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Crates that are written for tokio
//!
//! | | what | how |
//! |---|---|---|
//! | **unchanged** | `tokio::sync`, `select!`, `join!`, `task_local!`, `tokio::io`; tokio-stream; tokio-util's codecs; futures, futures-lite, async-broadcast, oneshot | just use them: they start no thread and need no runtime |
//! | **through traits** | tokio-tungstenite, tokio-rustls, `Framed`, tokio-postgres's `connect_raw`, redis's `MultiplexedConnection::new` | feature `tokio-io` (or `tokio`): `windlass::tokio::Io` around windlass's streams, `Compat` around others |
//! | | hyper's servers and clients | feature `hyper`: `windlass::hyper::{Io, Executor, Timer, Connector}`, `server::Http` |
//! | **through the bridge** | reqwest, tonic, sqlx, redis, tower's and tower-http's time-outs, axum's WebSockets and `Sse::keep_alive`, `tokio::{spawn, time, net, fs, process, signal}` | feature `tokio`: `#[windlass::main(tokio = true)]`, or `Builder::with_tokio` |
//! | **replaced** | `axum::serve` | feature `axum`: `windlass::axum::serve` |
//! | | `#[tokio::main]`, `tokio::{spawn, time, net, fs, process, signal}` in your own code | the table above |
//!
//! The bridge is a tokio runtime on a thread of its own. Your tasks, and the tokio futures in them, still run on
//! windlass's workers. `windlass::tokio` has a tested example for each row, and figures on the cost of the bridge.
//!
//! # What there is
//!
//! | for | use |
//! |---|---|
//! | a runtime of your own | [`Runtime`], [`Builder`], or the attributes [`main`](macro@main) and [`test`](macro@test) |
//! | running things concurrently | [`spawn`], [`task::JoinSet`], [`task::Builder`] for names |
//! | computing, on all cores | [`join`], [`scope`], [`par`]; [`compute`] from async code |
//! | calls that block | [`spawn_blocking`], or in the middle of a task [`task::block_in_place`] |
//! | futures that are not `Send` | [`task::spawn_local`], [`task::spawn_pinned`] |
//! | values that belong to a task | [`task_local!`], [`task::id`] |
//! | running async code on a plain thread | [`block_on`], [`Handle`] |
//! | letting other tasks run | [`yield_now`], [`resume_on_pool`], [`task::consume_budget`], [`task::cooperative`] |
//! | waiting for each other | [`sync`]: latch, events, cancellation; [`channel`] and [`lock`], re-exported |
//! | sockets, pipes, any descriptor | [`net`] |
//! | signals, processes, files | [`signal`], [`process`], [`fs`] |
//! | copying, proxies, the standard streams | [`io`] |
//! | timers and time-outs | [`timer`](mod@timer) |
//! | serving connections and draining them | [`serve`] |
//! | a main loop of your own | [`manual`] |
//! | observing a runtime | [`Handle::metrics`], hooks: [`Builder::on_thread_start`], [`Builder::on_task_spawn`] and others; the feature `inspector` for a page in the browser |
//! | shutting down | [`Runtime::shutdown`], [`is_shutdown_error`] |
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | for |
//! |---|---|
//! | `hyper`, `axum` | modules of the same names: what hyper's servers and clients need, and a server for axum's routers. Neither starts another runtime |
//! | `tokio-io` | tokio's I/O traits on streams, in the module `tokio` |
//! | `tokio` | the same, and a tokio runtime beside this one, for crates that call tokio at run time |
//! | `inspector` | a live view into the runtime, in the browser or the terminal |
//! | `stack-traces` | stack traces in the reports on stuck code, on Linux on x86-64 and arm64; see `docs/stuck.md` in the repository |
//! | `tracing`, `log` | `tracing`: a span for each task, and events for panics, stuck polls and what a shutdown leaves behind. `log`: the events as log records |
//!
//! # The current runtime
//!
//! [`spawn`], [`spawn_blocking`] and [`block_on`] work on the current runtime: the one whose task is running, or the
//! one that the thread has entered. Outside of any runtime they start a global one, which lives as long as the process.
//!
//! # Which thread does what
//!
//! - **Workers** run tasks and computations. Each has a queue of its own, and steals from the others when its queue is
//!   empty. A worker that computes polls waiting tasks at its split points: at a `join`, at the `spawn` of a scope, and
//!   between pieces of a `par` loop. Workers also wait for the OS: one that has nothing to do blocks there, and then
//!   runs the tasks that the events wake.
//! - **The poller's thread** watches over the workers. If one is stuck while tasks wait, it wakes another. If all are
//!   stuck, it waits for the OS and fires the timers itself, and starts a **spare** if that lasts.
//! - **The blocking pool** has threads for calls that are known to block.
//! - **Any other thread** may spawn tasks, wake them, and block on them.
//!
//! # A runtime by hand
//!
//! ```
//! use std::time::Duration;
//! use windlass::Runtime;
//!
//! fn main() -> std::io::Result<()> {
//!     let runtime = Runtime::new()?; // a worker for each CPU
//!
//!     let answer = runtime.block_on(async {
//!         let task = windlass::spawn(async { 6 * 7 }); // runs on the pool
//!         let file = windlass::spawn_blocking(|| std::fs::read("Cargo.toml")); // may block
//!         file.await.unwrap()?;
//!         Ok::<_, std::io::Error>(task.await.unwrap())
//!     })?;
//!     assert_eq!(answer, 42);
//!
//!     let report = runtime.shutdown(Duration::from_secs(1));
//!     println!("{report}"); // names what did not end in time, if anything
//!     Ok(())
//! }
//! ```
//!
//! # Platforms
//!
//! Linux, Windows, macOS, FreeBSD, NetBSD and OpenBSD. `docs/platforms.md` in the repository says what was run on
//! which, and what differs.

pub use windlass_macros::{main, test};
pub use windlass_os::{fs, io, process, signal};
pub use windlass_runtime::{
    Builder, Companion, EnterGuard, Handle, Metrics, Runtime, Scope, ShutdownReport, Straggler,
    TaskMeta, ThreadKind, WorkerMetrics, block_on, compute, is_shutdown_error, join, manual,
    observe, par, resume_on_pool, scope, scope_in_place, spawn, spawn_blocking, task, task_local,
    worker_index, yield_now,
};
pub use windlass_runtime::{LongPoll, LongPollKind, StackFrame, StackTrace};

/// Channels with many senders and many receivers: the crate `async-channel`, re-exported.
///
/// It is independent of any runtime, so its futures do not count against the budget after which a task lets others run.
/// A task that sends or receives in a loop and never has to wait keeps its worker, and can be neither aborted nor shut
/// down. If the other side may be that fast, await the futures through [`task::cooperative`], or call
/// [`task::consume_budget`] or [`yield_now`] in the loop.
///
/// ```
/// # windlass::block_on(async {
/// let (sender, receiver) = windlass::channel::bounded(4);
/// let consumer = windlass::spawn(async move {
///     let mut sum = 0;
///     while let Ok(number) = windlass::task::cooperative(receiver.recv()).await {
///         sum += number;
///     }
///     sum
/// });
/// for number in 1..=4 {
///     sender.send(number).await.unwrap();
/// }
/// drop(sender);
/// assert_eq!(consumer.await.unwrap(), 10);
/// # });
/// ```
pub mod channel {
    pub use async_channel::*;
}

/// Locks, a barrier, a semaphore and a cell to await: the crate `async-lock`, re-exported.
///
/// It is independent of any runtime, so its futures do not count against the budget after which a task lets others run.
/// A task that takes a lock in a loop and never has to wait keeps its worker, and can be neither aborted nor shut down.
/// In such a loop, await the futures through [`task::cooperative`], or call [`task::consume_budget`] or [`yield_now`].
///
/// ```
/// # windlass::block_on(async {
/// let count = windlass::lock::Mutex::new(0);
/// for _ in 0..1000 {
///     *windlass::task::cooperative(count.lock()).await += 1;
/// }
/// assert_eq!(count.into_inner(), 1000);
/// # });
/// ```
pub mod lock {
    pub use async_lock::*;
}

/// Sockets, pipes, names, and any descriptor that can be polled.
pub mod net {
    pub use windlass_net::{
        Addresses, Async, Duplex, Incoming, Interest, Keepalive, Lookup, OwnedReadHalf,
        OwnedWriteHalf, ReadHalf, ReadyGuard, ReuniteError, TcpListener, TcpSocket, TcpStream,
        ToSocketAddrs, UdpSocket, WriteHalf, resolve, tcp,
    };
    // Local sockets and pipes as Unix has them.
    #[cfg(unix)]
    pub use windlass_net::unix;
}

// Crates that are written for tokio.
#[cfg(feature = "tokio-io")]
pub use windlass_tokio as tokio;
/// Serving connections, and shutting down without losing one.
///
/// [`Drain`](serve::Drain) accepts connections and runs a task for each. When it shuts down, it accepts the connections
/// that are still queued, asks all connections to end, waits for them until a deadline, and reports those that it had
/// to abort.
pub mod serve {
    pub use windlass_serve::{Drain, DrainReport, Hold, Listener, ListenerExt, Switch, TapIo};
}

#[cfg(feature = "axum")]
pub use windlass_axum as axum;
#[cfg(feature = "hyper")]
pub use windlass_hyper as hyper;
#[cfg(feature = "inspector")]
pub use windlass_inspector as inspector;

/// Waiting for points in time.
///
/// | to | use |
/// |---|---|
/// | wait once | [`sleep`](timer::sleep), [`sleep_until`](timer::sleep_until) |
/// | wait repeatedly | [`Timer`](timer::Timer), or at a steady pace [`interval`](timer::interval) |
/// | limit how long something may take | [`timeout`](timer::timeout), [`FutureExt`](timer::FutureExt) |
/// | wait for a time of day | [`WallTimer`](timer::WallTimer) |
/// | test code that waits | [`Builder::virtual_time`], [`test`](timer::test) |
/// | know the time, virtual or not | [`now`](timer::now) in place of `Instant::now` |
///
/// A timer is armed by the first poll that has to wait, on the worker's own wheel, and costs nothing before that.
/// Timers are never early. They are about 50 µs late when the runtime is idle, and about 100 µs late when many are due.
/// They work in tasks, in [`block_on`], in the [`manual`] loop, and while all workers are stuck in code that blocks. On
/// the executors of other libraries they belong to the global runtime, which the first such timer starts.
///
/// # Order
///
/// Timers that were armed by the same worker, or by the same thread outside the pool, wake in the order of their
/// deadlines; those with equal deadlines wake in the order in which they were armed. Moving a timer with
/// [`Sleep::reset`](windlass_timer::Sleep::reset) arms it anew. This holds however many are due at once, and whichever
/// threads fire them. A hand-written waker must not block. If one does, or if the OS does not let the waking thread run
/// for a tenth of a second, the other timers wake without waiting for it, and tasks and sockets continue. The blocked
/// waker occupies a worker, or a thread of the blocking pool, for as long as it blocks.
///
/// Timers of different workers have no order beyond their deadlines. If two of them are due at the same look, either
/// may fire first, and the tasks that they wake run in parallel anyway. In virtual time, all tasks that are due at the
/// same moment run before the time advances.
pub mod timer {
    pub use windlass_net::{WallTimer, sleep_until_wall};
    pub use windlass_runtime::timer::{
        Elapsed, FutureExt, Interval, MissedTick, Sleep, Timeout, Timer, TimerWait, interval,
        interval_at, now, sleep, sleep_until, test, timeout, timeout_at,
    };

    // Re-exported for use with timers.
    #[doc(no_inline)]
    pub use std::time::{Duration, Instant};

    /// Tokio's name for [`MissedTick`].
    pub type MissedTickBehavior = MissedTick;
}

/// A latch, events and cancellation, for async and blocking code alike.
pub mod sync {
    pub use windlass_sync::{
        AutoResetEvent, AutoResetWait, CancellationToken, Cancelled, CancelledOwned, DropGuard,
        DropGuardRef, Latch, LatchWait, ManualResetEvent, ManualResetWait,
    };

    /// Primitives that are OS objects, which foreign code can signal and wait for.
    pub mod os {
        pub use windlass_net::OsEvent as Event;
        // Any handle that can be waited for.
        #[cfg(windows)]
        pub use windlass_net::WaitHandle;
    }
}
