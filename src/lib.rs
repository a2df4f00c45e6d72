//! A runtime for multicore servers: async tasks, I/O, timers and fork-join on one pool of work-stealing workers.
//!
//! # Who does what
//!
//! - **Workers** run tasks and computations. Each has a queue of its own and takes from the others when that
//!   is empty. One that computes looks after waiting tasks meanwhile.
//! - **The poller's thread** waits for the OS while all workers sleep, and looks after them while they
//!   don't: if one is stuck in a call that blocks and others' work waits, a **spare** worker takes over.
//! - **The blocking pool** has threads for calls that are known to block.
//! - **Any other thread** may spawn, wake and block on what tasks do.
//!
//! # What there is
//!
//! | for | use |
//! |---|---|
//! | a runtime of your own | [`Runtime`], [`Builder`], or the attributes [`main`](macro@main) and [`test`](macro@test) |
//! | running things concurrently | [`spawn`], [`task::JoinSet`], [`task::Builder`] for names |
//! | computing, on all cores | [`join`], [`scope`], [`par`]; [`compute`] from async code |
//! | calls that block | [`spawn_blocking`] |
//! | entering async code from a plain thread | [`block_on`], [`Handle`] |
//! | giving way | [`yield_now`], [`resume_on_pool`], [`task::consume_budget`], [`task::cooperative`] |
//! | waiting for each other | [`sync`]: latch, events, cancellation; [`channel`] and [`lock`], re-exported |
//! | sockets, pipes, any descriptor | [`net`] |
//! | signals, processes, files | [`signal`], [`process`], [`fs`] |
//! | copying, proxies, the standard streams | [`io`] |
//! | timers and time-outs | [`timer`](mod@timer) |
//! | serving connections to the last | [`serve`] |
//! | a main loop of your own | [`manual`] |
//! | seeing what goes on | [`Handle::metrics`] |
//! | coming to an end | [`Runtime::shutdown`], [`is_shutdown_error`] |
//!
//! With the feature `hyper` there is a module `hyper` with what hyper needs, servers and clients; with `axum` one that serves axum's
//! routers. Neither starts another runtime.
//!
//! [`spawn`], [`spawn_blocking`] and [`block_on`] work on the current runtime: the one whose task is
//! running, or that was entered. Outside of any they start a global one, which lives as long as the
//! process.
//!
//! # Example
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
//! Linux, Windows, macOS, FreeBSD, NetBSD and OpenBSD. `docs/platforms.md` in the repository says what was run where, and what
//! differs.

pub use windlass_macros::{main, test};
pub use windlass_os::{fs, io, process, signal};
pub use windlass_runtime::{
    Builder, Companion, EnterGuard, Handle, Metrics, Runtime, Scope, ShutdownReport, Straggler,
    TaskMeta, ThreadKind, WorkerMetrics, block_on, compute, is_shutdown_error, join, manual, par,
    resume_on_pool, scope, scope_in_place, spawn, spawn_blocking, task, task_local, worker_index,
    yield_now,
};

/// Channels with many senders and many receivers: the crate `async-channel`, re-exported.
///
/// It knows no runtime, so its futures do not ask the budget by which a task lets others run. A task that sends or
/// receives in a loop, and never has to wait, keeps its worker and can be neither aborted nor shut down. Where the other
/// side may be that fast, await the futures through [`task::cooperative`], or call [`task::consume_budget`] or [`yield_now`]
/// in the loop.
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
/// It knows no runtime, so its futures do not ask the budget by which a task lets others run. A task that takes a lock in
/// a loop, and never has to wait, keeps its worker and can be neither aborted nor shut down. In such a loop, await the
/// futures through [`task::cooperative`], or call [`task::consume_budget`] or [`yield_now`].
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
        OwnedWriteHalf, ReadHalf, ReuniteError, TcpListener, TcpSocket, TcpStream, ToSocketAddrs,
        UdpSocket, WriteHalf, resolve,
    };
    // Local sockets and pipes as Unix has them.
    #[cfg(unix)]
    pub use windlass_net::unix;
}

#[cfg(feature = "tokio")]
pub use windlass_tokio as tokio;
/// Serving connections, and coming to an end without losing one.
///
/// [`Drain`](serve::Drain) accepts connections and runs a task for each. Told to end, it empties the listener's queue, tells
/// the connections, waits for them until a deadline, and names those that it had to abort.
pub mod serve {
    pub use windlass_serve::{Drain, DrainReport, Hold, Listener, Switch};
}

#[cfg(feature = "axum")]
pub use windlass_axum as axum;
#[cfg(feature = "hyper")]
pub use windlass_hyper as hyper;

/// Waiting for points in time.
///
/// | to | use |
/// |---|---|
/// | wait once | [`sleep`](timer::sleep), [`sleep_until`](timer::sleep_until) |
/// | wait again and again | [`Timer`](timer::Timer), or at a steady pace [`interval`](timer::interval) |
/// | limit how long something may take | [`timeout`](timer::timeout), [`FutureExt`](timer::FutureExt) |
/// | wait for a time of day | [`WallTimer`](timer::WallTimer) |
/// | test code that waits | [`Builder::virtual_time`], [`test`](timer::test) |
///
/// Timers are armed by the first poll that has to wait, on the worker's own wheel, and cost nothing before.
/// They are never early, late by some 50 µs when idle, and by some 100 µs when many are due. They work in tasks, in
/// [`block_on`], in the [`manual`] loop, on the executors of other libraries (where they belong to the global
/// runtime, which the first of them starts), and while all workers are stuck in code that blocks.
///
/// # Order
///
/// Timers that were armed by the same worker, or by the same thread that is none, wake in the order of their
/// deadlines, and those with equal deadlines in the order in which they were armed. Moving one with
/// [`Sleep::reset`](windlass_timer::Sleep::reset) arms it anew. However many are due at once, and whichever threads see to them, they are
/// woken one after the other. A hand-made waker must not block; if one does, or the OS does not let the waking
/// thread run, for a tenth of a second, the others are woken without it. Between workers there is no order beyond the deadlines: of two
/// timers that are due when somebody looks, either may come first, and the tasks they wake run side by
/// side anyway. In virtual time, all that is due at one moment runs before the time moves on.
pub mod timer {
    pub use windlass_net::{WallTimer, sleep_until_wall};
    pub use windlass_runtime::timer::{
        Elapsed, FutureExt, Interval, MissedTick, Sleep, Timeout, Timer, TimerWait, interval,
        interval_at, now, sleep, sleep_until, test, timeout, timeout_at,
    };
}

/// Latch, events and cancellation, for async and blocking code alike.
pub mod sync {
    pub use windlass_sync::{
        AutoResetEvent, AutoResetWait, CancellationToken, Cancelled, CancelledOwned, DropGuard,
        Latch, LatchWait, ManualResetEvent, ManualResetWait,
    };

    /// Primitives that are objects of the OS, which foreign code can signal and wait for.
    pub mod os {
        pub use windlass_net::OsEvent as Event;
        // Any handle that can be waited for.
        #[cfg(windows)]
        pub use windlass_net::WaitHandle;
    }
}
